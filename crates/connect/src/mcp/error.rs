//! Errors of MCP servers, classified by the appropriate reaction.

use std::fmt;

use rmcp::model::{ErrorCode, ErrorData};

/// The error of a failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpError {
    /// The class of the error.
    pub class: McpErrorKind,
    /// A description, as a sentence for users and models.
    pub message: String,
}

/// The class of an error, which determines the reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum McpErrorKind {
    /// The server or tool does not exist or is disabled: call something else.
    NotThere,
    /// The user has to approve the server, or to sign in.
    NeedsPerson,
    /// The server rejected the arguments.
    InvalidArguments,
    /// The server could not be reached, or ended during the call.
    Gone,
    /// The server responded with an error.
    Failed,
    /// The server's response violates the protocol.
    Nonsense,
    /// The call exceeded its timeout.
    Timeout,
    /// We stopped the call.
    Stopped,
}

impl McpError {
    pub(crate) fn new(class: McpErrorKind, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
        }
    }

    /// Converts a server's error response to a request for `what`.
    pub(crate) fn answered(server: &str, what: &str, error: &ErrorData) -> Self {
        let class = match error.code {
            ErrorCode::INVALID_PARAMS => McpErrorKind::InvalidArguments,
            ErrorCode::METHOD_NOT_FOUND | ErrorCode::RESOURCE_NOT_FOUND => McpErrorKind::NotThere,
            _ => McpErrorKind::Failed,
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

    /// Returns whether the same call may succeed later without user action.
    pub fn is_retryable(&self) -> bool {
        match self.class {
            McpErrorKind::Gone | McpErrorKind::Timeout => true,
            McpErrorKind::NotThere
            | McpErrorKind::NeedsPerson
            | McpErrorKind::InvalidArguments
            | McpErrorKind::Failed
            | McpErrorKind::Nonsense
            | McpErrorKind::Stopped => false,
        }
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for McpError {}
