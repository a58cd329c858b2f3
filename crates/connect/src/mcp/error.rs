//! What goes wrong with a server, in classes that say what to do.

use std::fmt;

use rmcp::model::{ErrorCode, ErrorData};

/// A call that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignError {
    /// What to do about it.
    pub class: ForeignClass,
    /// What happened, as a sentence for people and models.
    pub message: String,
}

/// What to do about a call that came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForeignClass {
    /// There is no such server or tool, or it is switched off: call something else.
    NotThere,
    /// The person has to approve the server, or to sign in.
    NeedsPerson,
    /// The server says that the arguments make no sense.
    InvalidArguments,
    /// The server could not be reached, or ended while it answered.
    Gone,
    /// The server answered with an error of its own.
    Failed,
    /// The server answered something that the protocol does not know.
    Nonsense,
    /// It took longer than it may.
    Timeout,
    /// It was stopped by us.
    Stopped,
}

impl ForeignError {
    pub(crate) fn new(class: ForeignClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
        }
    }

    /// What a server's error says of a request that was for `what`.
    pub(crate) fn answered(server: &str, what: &str, error: &ErrorData) -> Self {
        let class = match error.code {
            ErrorCode::INVALID_PARAMS => ForeignClass::InvalidArguments,
            ErrorCode::METHOD_NOT_FOUND | ErrorCode::RESOURCE_NOT_FOUND => ForeignClass::NotThere,
            _ => ForeignClass::Failed,
        };
        let message = match error.message.trim() {
            "" => format!("no reason (code {})", error.code.0),
            text => text.to_owned(),
        };
        Self::new(
            class,
            format!("The server \"{server}\" answered {what} with an error: {message}"),
        )
    }

    /// Whether the same call may go well later without anybody's doing.
    pub fn is_retryable(&self) -> bool {
        match self.class {
            ForeignClass::Gone | ForeignClass::Timeout => true,
            ForeignClass::NotThere
            | ForeignClass::NeedsPerson
            | ForeignClass::InvalidArguments
            | ForeignClass::Failed
            | ForeignClass::Nonsense
            | ForeignClass::Stopped => false,
        }
    }
}

impl fmt::Display for ForeignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ForeignError {}
