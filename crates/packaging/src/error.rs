//! The one error of the crate.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why packages cannot be made. Its message is printed as it is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line is wrong.
    #[error("{problem}\n{usage}")]
    Usage {
        problem: String,
        usage: &'static str,
    },
    /// A file operation failed.
    #[error("cannot {verb} {}: {error}", path.display())]
    Io {
        /// The failed operation as an infinitive: read, write, make, list.
        verb: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    /// An archive in memory could not be written.
    #[error("cannot pack {what}: {error}")]
    Pack {
        what: &'static str,
        error: io::Error,
    },
    /// A program of the system could not be started.
    #[error("cannot start {program}: {error}. {advice}")]
    ToolMissing {
        program: String,
        error: io::Error,
        /// A sentence that says how to get the program.
        advice: &'static str,
    },
    /// A program of the system failed.
    #[error("{program} failed: {output}")]
    ToolFailed {
        program: String,
        /// The output of the program, or its exit status.
        output: String,
    },
    /// The manifest of the workspace lacks a value.
    #[error("Cargo.toml has no workspace.metadata.{key}")]
    MetadataMissing { key: &'static str },
    /// The changelog does not have the expected form.
    #[error("CHANGELOG.md: {problem}")]
    Changelog { problem: String },
    /// A text of the manual or of the dependencies does not have the expected form.
    #[error("the output of {program} cannot be read: {problem}")]
    Output {
        program: &'static str,
        problem: String,
    },
    /// A program would not start on the oldest supported systems.
    #[error(
        "{program} needs glibc {found}, but packages are made for glibc {bound}: {}",
        symbols.join(", ")
    )]
    NewerGlibc {
        program: String,
        found: String,
        bound: String,
        /// The symbols that need it.
        symbols: Vec<String>,
    },
    /// A program loads a library whose Debian package is not known.
    #[error("{program} loads {library}, which no package of the list in linkage.rs contains")]
    UnknownLibrary { program: String, library: String },
    /// Licences that packages may not contain.
    #[error("these licences are not allowed: {}", crates.join(", "))]
    LicencesRefused { crates: Vec<String> },
    /// The icon cannot be drawn.
    #[error("cannot draw the icon: {problem}")]
    Icon { problem: String },
    /// There is no AppImage runtime for this kind of processor.
    #[error("there is no AppImage runtime for {architecture}")]
    NoRuntime { architecture: &'static str },
    #[error("cannot read the manifests: {0}")]
    Manifests(#[from] cargo_metadata::Error),
}

impl Error {
    /// Returns a function that adds the operation and the path to an error of the system.
    pub(crate) fn io(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Io { verb, path, error }
    }

    /// Returns a function that adds the archive to an error of its writer.
    pub(crate) fn pack(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Pack { what, error }
    }
}
