//! Events and states of servers, as the clients report them.

use std::time::Duration;

use super::error::{McpError, McpErrorKind};

/// The status of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStatus {
    /// The user disabled it.
    Disabled,
    /// The project configures it, and it awaits approval.
    Unapproved,
    /// The user refused it.
    Refused,
    /// The connection is being opened.
    Starting,
    /// The connection is open and accepts calls.
    Ready {
        /// The version of the protocol in use.
        protocol: String,
        /// The server's own name.
        program: Option<String>,
    },
    /// It requires the user to sign in.
    NeedsSignIn {
        /// The reason the last sign-in failed or does not count any more, as a sentence.
        why: Option<String>,
    },
    /// The connection failed or broke.
    Broken {
        /// The reason, as a sentence.
        why: String,
        /// The time until the next automatic reconnection.
        again: Option<Duration>,
    },
    /// It was closed and stays closed.
    Closed,
}

/// A notification about a server. The current state can be queried from `McpClients` at any
/// time; a slow receiver misses the oldest events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpEvent {
    /// A server's status changed.
    Status {
        /// The name of the server.
        server: String,
        /// The new status of the server.
        status: ServerStatus,
    },
    /// A server's tools changed.
    Tools {
        /// The name of the server.
        server: String,
    },
    /// A server's resources changed.
    Resources {
        /// The name of the server.
        server: String,
    },
    /// A server's prompts changed.
    Prompts {
        /// The name of the server.
        server: String,
    },
    /// It sent a log message, or printed a line that is not a message of the protocol.
    Message {
        /// The name of the server.
        server: String,
        /// Whether it is an error message.
        is_error_message: bool,
        /// The text of the message.
        text: String,
    },
}

/// The progress of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProgress {
    /// The amount of completed work.
    pub done: f64,
    /// The total amount of work, if known.
    pub total: Option<f64>,
    /// A description of the current step.
    pub message: Option<String>,
}

impl ServerStatus {
    /// Returns the error for a call that the status does not permit.
    pub(super) fn refusal(&self, server: &str) -> McpError {
        use McpErrorKind::{Disconnected, NeedsUser, NotFound, Timeout};
        let (class, why) = match self {
            ServerStatus::Disabled => (NotFound, "is switched off".to_owned()),
            ServerStatus::Unapproved => (NeedsUser, "waits for approval".to_owned()),
            ServerStatus::Refused => (NotFound, "was refused by the user".to_owned()),
            ServerStatus::Starting | ServerStatus::Ready { .. } => {
                (Timeout, "is not ready yet".to_owned())
            }
            ServerStatus::NeedsSignIn { .. } => {
                (NeedsUser, "requires the user to sign in".to_owned())
            }
            ServerStatus::Broken { why, .. } => (Disconnected, format!("does not work: {why}")),
            ServerStatus::Closed => (Disconnected, "was closed".to_owned()),
        };
        McpError::new(class, format!("The server \"{server}\" {why}"))
    }
}
