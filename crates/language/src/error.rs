//! The errors of this crate.

use base::AbsPath;

/// The reason why a file cannot be checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UncheckableFile {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] host::Error),
    /// The file is binary.
    #[error("{0} is not text")]
    Binary(AbsPath),
}

/// The reason why an entry of the table is left out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidEntry {
    /// The entry does not have the expected JSON form.
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
    /// The entry names a language that is not in the table.
    #[error("there is no language \"{0}\"")]
    UnknownLanguage(String),
    /// The program is a path instead of a name.
    #[error("a program is a name without slashes")]
    ProgramPath,
    /// The install recipe is invalid, for this reason.
    #[error("{0}")]
    Recipe(String),
}

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
    /// The user does not trust the folder, so no formatter runs in it.
    #[error("{0} is not trusted, so no formatter runs in it; trust it in the agent panel")]
    FormatterUntrusted(AbsPath),
    /// A formatter failed; the text stays as it is.
    #[error("the formatter {program} failed: {reason}")]
    FormatterFailed {
        /// The program, as the settings name it.
        program: String,
        /// A clause.
        reason: String,
    },
    /// There is no sandbox in which servers must run, for this reason.
    #[error("language servers cannot run inside a sandbox: {0}")]
    SandboxUnavailable(String),
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
        /// A sentence on its installation.
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
        /// The end of the command, such as "exited with code 1".
        end: String,
        /// Its last lines, each after a line feed.
        output: String,
    },
}
