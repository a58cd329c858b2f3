//! Errors beside those of requests: key sources, usage stores, options and recordings.

/// A failed operation other than a request to a model, for which see `model::Failure`. No error
/// contains a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The settings name a key command without a program.
    #[error("the key command is empty; set its name and its arguments")]
    EmptyKeyCommand,
    /// The key command of the settings did not print a key.
    #[error("the key command {program} failed: {cause}")]
    KeyCommand {
        /// The program of the command. Its arguments may contain a secret.
        program: String,
        /// The cause, without any output of the program.
        cause: String,
    },
    /// A program cannot be run, or did not succeed; a phrase without any of its output.
    #[error("{0}")]
    Program(String),
    /// The system keychain refused a key, or holds something else; a phrase without the value.
    #[error("{0}")]
    Keychain(String),
    /// Past spending cannot be read.
    #[error("{0}")]
    UsageStore(String),
    /// The options of a model are invalid.
    #[error("{0}")]
    Options(String),
    /// A provider's response violates its protocol; the end of a sentence.
    #[error("{0}")]
    Malformed(String),
    /// A text is not a recording.
    #[error("{0}")]
    Recording(String),
}
