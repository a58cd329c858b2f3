//! Request failures, classified by how the caller handles them.

use std::sync::Arc;
use std::time::Duration;

use crate::TokenCount;

/// A failed request. `message` is a sentence for the user; it never contains a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Class that determines how to handle the failure.
    pub class: FailureClass,
    /// Cause, place and remedy, for the user.
    pub message: String,
    /// HTTP status code, if any.
    pub status: Option<u16>,
    /// Wait that the provider requests.
    pub retry_after: Option<Duration>,
    /// The model's context window in tokens, if an overflow refusal states it.
    pub window: Option<TokenCount>,
    /// The part of the request that the provider rejects, if it says so. The class is then
    /// `InvalidRequest`, and the same request without that part may succeed.
    pub part: Option<RefusedPart>,
}

/// A rejected part of a request, as far as the provider identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedPart {
    /// One or more images.
    Image {
        /// Bytes of the rejected images; empty if unknown.
        named: Vec<Arc<[u8]>>,
        /// Whether the model rejects images in general.
        is_any: bool,
    },
    /// The name, description or schema of a tool.
    Tool {
        /// Name of the tool, if known.
        name: Option<String>,
    },
    /// The number of tools.
    ToolCount {
        /// Maximum number of tools, if known; 0 for a model without tool calls.
        most: Option<usize>,
    },
    /// Reasoning of earlier answers that is sent back.
    Reasoning,
    /// An optional member of the request body, such as `temperature`.
    Member {
        /// Name of the member, without its parent objects.
        name: String,
    },
}

/// Class of a failure, which determines how to handle it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// Too many requests or tokens for now: wait as requested.
    RateLimited,
    /// The provider is overloaded: wait.
    Overloaded,
    /// Credit or a plan's quota is exhausted: waiting does not help.
    Quota,
    /// The key is missing, invalid, or lacks permission.
    Authentication,
    /// The request is invalid; sending it again fails again.
    InvalidRequest,
    /// The conversation exceeds the context window: compact it.
    ContextOverflow,
    /// The provider does not know the model.
    NoSuchModel,
    /// A budget of the user's forbids the call; nothing was sent.
    Budget,
    /// No connection: no network, wrong address, refused connection, TLS error.
    Offline,
    /// The provider answered with status 5xx.
    ServerError,
    /// No data for too long, before the first byte or within the answer.
    Stalled,
    /// The stream ended before the answer was complete.
    Torn,
    /// The provider's data violate its protocol.
    Malformed,
    /// The caller cancelled the request.
    Cancelled,
}

impl FailureClass {
    /// All classes, in declaration order.
    pub const ALL: [Self; 14] = [
        Self::RateLimited,
        Self::Overloaded,
        Self::Quota,
        Self::Authentication,
        Self::InvalidRequest,
        Self::ContextOverflow,
        Self::NoSuchModel,
        Self::Budget,
        Self::Offline,
        Self::ServerError,
        Self::Stalled,
        Self::Torn,
        Self::Malformed,
        Self::Cancelled,
    ];

    /// Returns the name of the class in stored records, such as `rate_limited`. It must not change.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Quota => "quota",
            Self::Authentication => "authentication",
            Self::InvalidRequest => "invalid_request",
            Self::ContextOverflow => "context_overflow",
            Self::NoSuchModel => "no_such_model",
            Self::Budget => "budget",
            Self::Offline => "offline",
            Self::ServerError => "server_error",
            Self::Stalled => "stalled",
            Self::Torn => "torn",
            Self::Malformed => "malformed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the class with this name in stored records, or `None` for an unknown name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl Failure {
    /// Creates a failure without status, wait, window and rejected part.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            status: None,
            retry_after: None,
            window: None,
            part: None,
        }
    }
}
