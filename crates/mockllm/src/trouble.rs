//! Errors as all wires know them; each wire has its own words for them.

use std::{collections::BTreeMap, time::Duration};

use crate::script::{Fault, StatusFault};

/// An error instead of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trouble {
    pub(crate) kind: Kind,
    /// The status, where it is not the wire's usual one for the kind.
    pub(crate) status: Option<u16>,
    /// The words, where they are not the wire's usual ones.
    pub(crate) message: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) headers: BTreeMap<String, String>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
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
    /// A page of something that stands before the provider.
    Html,
}

impl Trouble {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            status: None,
            message: None,
            retry_after: None,
            headers: BTreeMap::new(),
        }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            message: Some(message.into()),
            ..Self::new(Kind::Invalid)
        }
    }

    /// The error that a fault stands for, if it is one that comes instead of an answer. `prompt` is the
    /// prompt's length in tokens.
    pub(crate) fn of(fault: &Fault, prompt: u64) -> Option<Self> {
        match fault {
            Fault::Status(status) => Some(Self::of_status(status, kind_of(status.code))),
            Fault::Html(status) => Some(Self::of_status(status, Kind::Html)),
            Fault::Overloaded {} => Some(Self::new(Kind::Overloaded)),
            Fault::Quota {} => Some(Self::new(Kind::Quota)),
            Fault::Authentication {} => Some(Self::new(Kind::Authentication)),
            Fault::ContextOverflow {} => Some(Self::new(Kind::ContextOverflow {
                prompt,
                limit: prompt.saturating_sub(1),
            })),
            Fault::NoSuchModel {} => Some(Self::new(Kind::NoSuchModel)),
            Fault::Cut(_)
            | Fault::EndEarly(_)
            | Fault::Reset(_)
            | Fault::Stall(_)
            | Fault::ErrorEvent(_)
            | Fault::BadJson(_)
            | Fault::TornUtf8(_)
            | Fault::Shredded {}
            | Fault::BadArguments {}
            | Fault::DuplicateIds {}
            | Fault::SlowFirstByte { .. } => None,
        }
    }

    fn of_status(fault: &StatusFault, kind: Kind) -> Self {
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

fn kind_of(status: u16) -> Kind {
    match status {
        401 => Kind::Authentication,
        402 => Kind::Quota,
        403 => Kind::Permission,
        404 => Kind::NotFound,
        413 => Kind::TooLarge,
        429 => Kind::RateLimited { what: "requests" },
        503 | 529 => Kind::Overloaded,
        500.. => Kind::Server,
        _ => Kind::Invalid,
    }
}
