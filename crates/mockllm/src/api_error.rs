//! API errors, independent of the wire format; each wire encodes them in its own way.

use std::{collections::BTreeMap, time::Duration};

use crate::script::{ScriptedFault, StatusFault};

/// An API error that the server sends instead of an answer, before a wire format encodes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError {
    pub(crate) kind: ApiErrorKind,
    /// The status; `None` for the wire's default for the kind.
    pub(crate) status: Option<u16>,
    /// The message; `None` for the wire's default.
    pub(crate) message: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) headers: BTreeMap<String, String>,
}

/// The kind of an API error.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ApiErrorKind {
    RateLimited {
        what: &'static str,
    },
    Overloaded,
    Server,
    Quota,
    Authentication,
    Permission,
    Invalid,
    ContextOverflow {
        prompt: u64,
        limit: u64,
    },
    NoSuchModel,
    NotFound,
    TooLarge,
    /// An error page of a proxy in front of the provider.
    Html,
}

impl ApiError {
    /// Creates an error with the status and message that the wire format has for this kind.
    pub(crate) fn new(kind: ApiErrorKind) -> Self {
        Self {
            kind,
            status: None,
            message: None,
            retry_after: None,
            headers: BTreeMap::new(),
        }
    }

    /// Creates an error for an invalid request, with this message.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            message: Some(message.into()),
            ..Self::new(ApiErrorKind::Invalid)
        }
    }

    /// Returns the error that a fault sends in place of the answer. Returns `None` for faults
    /// within an answer or a connection. `prompt` is the prompt's length in tokens.
    pub(crate) fn of(fault: &ScriptedFault, prompt: u64) -> Option<Self> {
        match fault {
            ScriptedFault::Status(status) => Some(Self::of_status(status, kind_of(status.code))),
            ScriptedFault::Html(status) => Some(Self::of_status(status, ApiErrorKind::Html)),
            ScriptedFault::Overloaded {} => Some(Self::new(ApiErrorKind::Overloaded)),
            ScriptedFault::Quota {} => Some(Self::new(ApiErrorKind::Quota)),
            ScriptedFault::Authentication {} => Some(Self::new(ApiErrorKind::Authentication)),
            ScriptedFault::ContextOverflow {} => Some(Self::new(ApiErrorKind::ContextOverflow {
                prompt,
                limit: prompt.saturating_sub(1),
            })),
            ScriptedFault::NoSuchModel {} => Some(Self::new(ApiErrorKind::NoSuchModel)),
            ScriptedFault::Cut(_)
            | ScriptedFault::EndEarly(_)
            | ScriptedFault::Reset(_)
            | ScriptedFault::Stall(_)
            | ScriptedFault::ErrorEvent(_)
            | ScriptedFault::BadJson(_)
            | ScriptedFault::TornUtf8(_)
            | ScriptedFault::Shredded {}
            | ScriptedFault::BadArguments {}
            | ScriptedFault::DuplicateIds {}
            | ScriptedFault::SlowFirstByte { .. } => None,
        }
    }

    fn of_status(fault: &StatusFault, kind: ApiErrorKind) -> Self {
        Self {
            kind,
            status: Some(fault.code),
            message: fault.message.clone(),
            retry_after: fault
                .retry_after
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            headers: fault.headers.clone(),
        }
    }
}

fn kind_of(status: u16) -> ApiErrorKind {
    match status {
        401 => ApiErrorKind::Authentication,
        402 => ApiErrorKind::Quota,
        403 => ApiErrorKind::Permission,
        404 => ApiErrorKind::NotFound,
        413 => ApiErrorKind::TooLarge,
        429 => ApiErrorKind::RateLimited { what: "requests" },
        503 | 529 => ApiErrorKind::Overloaded,
        500.. => ApiErrorKind::Server,
        _ => ApiErrorKind::Invalid,
    }
}
