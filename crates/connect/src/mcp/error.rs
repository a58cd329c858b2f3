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
    NotFound,
    /// The user has to approve the server, or to sign in.
    NeedsUser,
    /// The server rejected the arguments.
    InvalidArguments,
    /// The server could not be reached, or ended during the call.
    Disconnected,
    /// The server responded with an error.
    Failed,
    /// The server's response violates the protocol.
    InvalidResponse,
    /// The call exceeded its timeout.
    Timeout,
    /// We stopped the call.
    Stopped,
}

impl McpError {
    /// Creates an error of this class.
    pub(crate) fn new(class: McpErrorKind, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
        }
    }

    /// Converts a server's error response to a request for `purpose`.
    pub(crate) fn answered(server: &str, purpose: &str, error: &ErrorData) -> Self {
        let class = match error.code {
            ErrorCode::INVALID_PARAMS => McpErrorKind::InvalidArguments,
            ErrorCode::METHOD_NOT_FOUND | ErrorCode::RESOURCE_NOT_FOUND => McpErrorKind::NotFound,
            _ => McpErrorKind::Failed,
        };
        let message = match error.message.trim() {
            "" => format!("no reason (code {})", error.code.0),
            text => text.to_owned(),
        };
        Self::new(
            class,
            format!("The server \"{server}\" answered {purpose} with an error: {message}"),
        )
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for McpError {}

/// Formats an error with its causes, joined by colons. Leaves out a cause whose text already
/// occurs.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let message = cause.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        next = cause.source();
    }
    text
}
