//! Failures of commands. A failure ends the macro or mapping that runs.
//!
//! Start at `Error`.

use thiserror::Error as ThisError;

/// A failed command. The messages of Vim keep their numbers, by which users search for them.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub(crate) enum Error {
    /// The command cannot be carried out here; Vim only beeps.
    #[error("")]
    Beep,
    #[error("E486: pattern not found: {0}")]
    PatternNotFound(String),
    #[error("E384: search hit the top without a match for {0}")]
    HitTop(String),
    #[error("E385: search hit the bottom without a match for {0}")]
    HitBottom(String),
    #[error("E35: there is no previous regular expression")]
    NoPreviousPattern,
    #[error("E33: there is no previous substitute pattern")]
    NoPreviousSubstitute,
    #[error("{0}")]
    Pattern(String),
    #[error("E20: mark {0:?} is not set")]
    MarkNotSet(char),
    #[error("E16: the range is invalid")]
    InvalidRange,
    #[error("E492: not an editor command: {0}")]
    UnknownCommand(String),
    #[error("E488: trailing characters: {0}")]
    Trailing(String),
    #[error("E471: argument required")]
    ArgumentRequired,
    #[error("E474: invalid argument: {0}")]
    InvalidArgument(String),
    #[error("E518: unknown option: {0}")]
    UnknownOption(String),
    #[error("E134: cannot move a range of lines into itself")]
    MoveIntoItself,
    #[error("E353: register {0:?} is empty")]
    EmptyRegister(char),
    #[error("E354: invalid register name: {0:?}")]
    InvalidRegister(char),
    #[error("E348: no text under the caret")]
    NoWord,
    #[error("E662: at the start of the change list")]
    StartOfChanges,
    #[error("E663: at the end of the change list")]
    EndOfChanges,
    #[error("E664: the change list is empty")]
    NoChanges,
    #[error("E21: the text cannot be changed")]
    ReadOnly,
    #[error("E223: the command calls itself too often")]
    TooDeep,
    #[error("stopped after {0} keys; the macro may not end by itself")]
    TooManyKeys(usize),
    #[error("{0}")]
    Unsupported(String),
}

/// The result of a command.
pub(crate) type Done<T = ()> = Result<T, Error>;
