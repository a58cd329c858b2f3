//! The errors of the background process and of connections to it.

/// The reason why the background process cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folders, the socket or the program cannot be used.
    #[error(transparent)]
    Host(#[from] host::Error),
    /// Another background process of this user is running.
    #[error("the background process is running already")]
    RunsAlready,
    /// No background process is running.
    #[error("no background process is running")]
    NotRunning,
    /// The process at the other end belongs to another user.
    #[error("the other end of the socket belongs to another user")]
    OtherUser,
    /// The background process is of an older version.
    #[error(
        "the background process is of an older version of Burin: update Burin where it runs, and end it there with `burin-agent serve --stop`"
    )]
    OlderProcess,
    /// The background process is of a newer version.
    #[error(
        "the background process is of a newer version of Burin than this program: update Burin on this computer"
    )]
    NewerProcess,
    /// The command that leads to another machine does not reach the background process there. The reason,
    /// as a sentence.
    #[error("{0}")]
    Unreachable(String),
    /// The other side sent a message that cannot be read.
    #[error("the other side sent a message that cannot be read: {0}")]
    Unreadable(String),
    /// The connection broke.
    #[error("the connection to the background process broke: {0}")]
    Io(#[from] std::io::Error),
}

impl Error {
    /// Whether the programs of both sides are of different versions, so that a further try is useless.
    pub(crate) fn is_other_version(&self) -> bool {
        matches!(self, Self::OlderProcess | Self::NewerProcess)
    }
}
