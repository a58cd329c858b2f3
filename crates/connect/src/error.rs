//! Errors of this crate, classified by the reaction they call for.

/// A failed operation. Its text is a sentence without the server or agent, which the caller names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A variable that the configuration refers to has no value.
    #[error("the variable {0} is not set; set it, or name another")]
    UnsetVariable(String),
    /// The user has to correct the configuration.
    #[error("{0}")]
    Configuration(String),
    /// The other side sent something that violates the protocol.
    #[error("{0}")]
    Invalid(String),
    /// The process cannot be started.
    #[error("{0}")]
    Start(String),
    /// The request is not permitted, or names something that does not exist.
    #[error("{0}")]
    Refused(String),
    /// The connection broke, or the other side answered with an error.
    #[error("{0}")]
    Disconnected(String),
    /// The user did not sign in, or the server rejected the sign-in.
    #[error("{0}")]
    SignIn(String),
    /// The turn of an agent failed.
    #[error("{0}")]
    TurnFailed(String),
    /// The tokens cannot be stored.
    #[error("{0}")]
    Storage(String),
}
