//! Errors of requests, and the reasons for which a connection ends.

use std::io;

use crate::framing::FramingError;

/// The reason for which no message of a server arrives any more. Its text follows the name of the
/// server: "rust-analyzer closed its output".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndReason {
    /// The server closed its output, usually because it exited.
    #[error("closed its output")]
    OutputClosed,
    /// The server violated the framing of messages.
    #[error("ended: {0}")]
    Framing(#[from] FramingError),
    /// The input of the server cannot be written.
    #[error("no longer reads its input ({0:?})")]
    InputFailed(io::ErrorKind),
    /// The server does not read its input, and the queue before it is full.
    #[error("does not read its input; {messages} messages of {bytes} bytes wait for it")]
    QueueFull {
        /// Number of messages in the queue.
        messages: usize,
        /// Length of the messages in the queue, in bytes.
        bytes: usize,
    },
    /// The connection was closed by `LanguageServer::shutdown`, or every handle was dropped.
    #[error("was shut down")]
    ShutDown,
}

/// The failure of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The connection ended before the answer.
    #[error("the server {0}")]
    Ended(EndReason),
    /// The server answered with an error.
    #[error("the server refused {method}: {message} ({code})")]
    Refused {
        /// Name of the request.
        method: &'static str,
        /// Code of the error.
        code: i64,
        /// Message of the error, as the server wrote it.
        message: String,
    },
    /// The answer does not have the form that the protocol demands.
    #[error("the server answered {method} in a wrong form: {detail}")]
    Malformed {
        /// Name of the request.
        method: &'static str,
        /// The first difference, in the words of the parser.
        detail: String,
    },
    /// The server did not answer in time; the request was cancelled.
    #[error("the server did not answer {method} in time")]
    TimedOut {
        /// Name of the request.
        method: &'static str,
    },
    /// The request may not be sent in this phase of the connection, such as a second `initialize`.
    #[error("{method} may not be sent now")]
    OutOfOrder {
        /// Name of the request.
        method: &'static str,
    },
}

/// The server was not ready, or dropped the request because of later ones.
pub(crate) const SERVER_CANCELLED: i64 = -32802;
/// The text changed while the server computed the answer.
pub(crate) const CONTENT_MODIFIED: i64 = -32801;

impl RequestError {
    /// Returns whether the same request may succeed later, such as after the server has loaded a
    /// project.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Refused { code, .. } => matches!(*code, SERVER_CANCELLED | CONTENT_MODIFIED),
            Self::Ended(_)
            | Self::Malformed { .. }
            | Self::TimedOut { .. }
            | Self::OutOfOrder { .. } => false,
        }
    }
}
