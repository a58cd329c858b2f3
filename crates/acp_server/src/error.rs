//! The errors of this crate.

use std::fmt::Display;

use connect::acp::agent::RequestRefusal;

/// The reason a server ended with a failure. Its text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The services of sessions cannot be opened, or their last records cannot be stored.
    #[error(transparent)]
    Services(#[from] runtime::Error),
    /// The connection to the editor broke.
    #[error("{0}")]
    Connection(String),
}

/// Returns the refusal of a request that failed for this reason.
pub(crate) fn failed(cause: impl Display) -> RequestRefusal {
    RequestRefusal::Failed(cause.to_string())
}
