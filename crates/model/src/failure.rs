//! What can go wrong with a request, named for what the caller does about it.

use std::time::Duration;

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
    /// A failure without a status and without a wait.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            status: None,
            retry_after: None,
        }
    }
}
