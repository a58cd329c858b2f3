//! The errors of this crate.

use base::AbsPath;

/// An error of a language server or its installation. Its text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file, folder or process cannot be used.
    #[error(transparent)]
    File(#[from] host::Error),
    /// The user does not trust the folder, so nothing starts in it.
    #[error(
        "{0} is not trusted, so no language server starts in it; trust it in the agent panel, or with --trust"
    )]
    Untrusted(AbsPath),
    /// The settings turn language servers off.
    #[error("language servers are off: the setting \"lsp.enabled\" is false")]
    Disabled,
    /// There is no server with this id.
    #[error("there is no language server \"{id}\"{hint}; `burin-agent lsp list --all` lists them")]
    UnknownServer {
        /// The id that was asked for.
        id: String,
        /// A hint at the id that was probably meant; empty without one.
        hint: String,
    },
    /// Burin has no recipe for the server.
    #[error("Burin cannot install {id}: {advice}")]
    NoRecipe {
        /// The server.
        id: String,
        /// How the user installs it.
        advice: String,
    },
    /// A program that the installation needs is missing.
    #[error("installing {id} needs {tool}, which is not in PATH")]
    ToolMissing {
        /// The server.
        id: String,
        /// The programs, any of which suffices.
        tool: &'static str,
    },
    /// Another process installs the same server.
    #[error("{0} is being installed by another process; try again when that is done")]
    InstallRunning(String),
    /// A step of the installation failed; nothing of it is used.
    #[error("cannot install {id}: {step} {end}{output}")]
    InstallFailed {
        /// The server.
        id: String,
        /// The command that failed.
        step: String,
        /// How it ended.
        end: String,
        /// Its last lines, each after a line feed.
        output: String,
    },
}
