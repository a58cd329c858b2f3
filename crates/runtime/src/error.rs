//! The errors of this crate.

use std::fmt::Display;

use base::AbsPath;
use tokio::task::JoinError;

/// An error of the composition root. Its text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be read or written.
    #[error(transparent)]
    File(#[from] host::Error),
    /// The ledger cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// The system starts no thread.
    #[error("cannot start a thread: {0}")]
    ThreadNotStarted(#[source] std::io::Error),
    /// The usage of models cannot be stored, so budgets and statistics miss it.
    #[error("{0}; the cost of this run is not recorded")]
    UsageNotStored(#[source] ledger::Error),
    /// A repository cannot be read or created.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// A file of the user is invalid. It stays unchanged until the user corrects it.
    #[error("{0}")]
    InvalidFile(String),
    /// No model, session or provider has the given name; the user names another one.
    #[error("{0}")]
    Unknown(String),
    /// The file changed since the user reviewed it, so it has to be shown again.
    #[error("{0} changed meanwhile: review it again")]
    Changed(AbsPath),
    /// The server is the user's own, so that there is nothing to approve.
    #[error("the server \"{0}\" is your own and needs no approval; it is written in your mcp.json")]
    OwnServer(String),
    /// An external agent is not installed; the advice says how to install it.
    #[error("{agent} is not installed. {advice}")]
    NotInstalled {
        /// The name of the agent.
        agent: String,
        /// Sentences for the user.
        advice: String,
    },
    /// The user's decision about a server cannot be read, so that the server does not run.
    #[error(
        "the approval of the MCP server \"{server}\" cannot be read ({source}), so the server does \
         not run: make the file readable, or decide again"
    )]
    UnreadableApproval {
        /// The name of the server, made printable.
        server: String,
        /// The failed access.
        source: Box<host::Error>,
    },
    /// An automation does not run or cannot be changed.
    #[error("{0}")]
    Automation(String),
    /// An MCP server does not do as the user asked.
    #[error("{0}")]
    McpServer(String),
    /// A command cannot run within the bounds of its sandbox, so it does not run.
    #[error("{0}")]
    Sandbox(String),
    /// A model cannot be used.
    #[error("{0}")]
    Model(String),
    /// A session cannot be started or read.
    #[error("{0}")]
    Session(String),
    /// A background task ended early; the request can be repeated.
    #[error("{0}")]
    Interrupted(String),
}

impl Error {
    /// Returns the error of a sandbox with this cause.
    pub(crate) fn sandbox(cause: impl Display) -> Self {
        Self::Sandbox(cause.to_string())
    }

    /// Returns the error of a model with this cause.
    pub(crate) fn model(cause: impl Display) -> Self {
        Self::Model(cause.to_string())
    }

    /// Returns the error of an automation with this cause.
    pub(crate) fn automation(cause: impl Display) -> Self {
        Self::Automation(cause.to_string())
    }

    /// Returns the error of a session with this cause.
    pub(crate) fn session(cause: impl Display) -> Self {
        Self::Session(cause.to_string())
    }

    /// Returns a function for the error of a task that `what` names, such as "the search broke off".
    pub(crate) fn interrupted(what: &str) -> impl FnOnce(JoinError) -> Self {
        move |error| Self::Interrupted(format!("{what}: {error}"))
    }
}
