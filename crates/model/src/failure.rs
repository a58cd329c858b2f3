//! What can go wrong with a request, named for what the caller does about it.

use std::sync::Arc;
use std::time::Duration;

use crate::TokenCount;

/// Why a request failed. `message` is a sentence for the person; it never holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What to do about it.
    pub class: FailureClass,
    /// What happened, where, and what to do.
    pub message: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The model's window in tokens, where a refusal for length says it.
    pub window: Option<TokenCount>,
    /// The part of the request that the provider does not take, where it says so. The class is then
    /// `InvalidRequest`, and the same request without that part may succeed.
    pub part: Option<RefusedPart>,
}

/// A part of a request that a provider refuses, as far as its words tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedPart {
    /// One or several pictures.
    Image {
        /// Their bytes, where the provider says which; else empty.
        named: Vec<Arc<[u8]>>,
        /// Whether the model takes no pictures at all.
        is_any: bool,
    },
    /// A tool's name, description or schema.
    Tool {
        /// The name under which it was offered, where the provider says which.
        name: Option<String>,
    },
    /// The number of tools.
    ToolCount {
        /// The most that it takes, where it says so; 0 for a model that calls no tools.
        most: Option<usize>,
    },
    /// Thoughts of earlier answers that go back to the model.
    Reasoning,
    /// An optional member of the request's body, such as `temperature`.
    Member {
        /// Its name, without those of the objects around it.
        name: String,
    },
}

/// What to do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// Too many requests or tokens for now: wait as told.
    RateLimited,
    /// The provider is overloaded: wait.
    Overloaded,
    /// Credit or a plan's quota is used up: waiting does not help.
    Quota,
    /// The key is missing, wrong, or not allowed to do this.
    Authentication,
    /// The request itself is wrong; sending it again fails again.
    InvalidRequest,
    /// The conversation is longer than the model takes: compact it.
    ContextOverflow,
    /// The provider has no such model.
    NoSuchModel,
    /// A budget of the person's own forbids the call; nothing was sent.
    Budget,
    /// No connection: no network, a wrong address, a refused connection, TLS.
    Offline,
    /// The provider answered 5xx.
    ServerError,
    /// Nothing came for too long, before the first byte or between two.
    Stalled,
    /// The stream ended before the answer did.
    Torn,
    /// The provider's bytes are not what its protocol says.
    Malformed,
    /// The caller gave up.
    Cancelled,
}

impl FailureClass {
    /// Every class.
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

    /// What it is called in records.
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

    /// The class that is called so in records.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl FailureClass {
    /// Whether the same request may be sent again, after a wait.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited
            | Self::Overloaded
            | Self::Offline
            | Self::ServerError
            | Self::Stalled
            | Self::Torn
            | Self::Malformed => true,
            Self::Quota
            | Self::Authentication
            | Self::InvalidRequest
            | Self::ContextOverflow
            | Self::NoSuchModel
            | Self::Budget
            | Self::Cancelled => false,
        }
    }
}

impl Failure {
    /// A failure without a status, a wait, a window and a refused part.
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
