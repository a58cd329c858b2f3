//! The errors of the program's start.

/// The reason why the program does not start. Its text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line has an unknown option. Holds the option as written.
    #[error("burin has no option \"{0}\"; \"burin --help\" lists the options")]
    UnknownOption(String),
    /// The folders for settings, state or caches cannot be found or created.
    #[error(transparent)]
    Folders(#[from] host::Error),
}
