//! The reasons why a task cannot run.

use base::AbsPath;

/// A reason why a task cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// No task has this label.
    #[error("there is no task \"{0}\"")]
    Unknown(String),
    /// A task depends on one that does not exist.
    #[error("\"{task}\" depends on \"{dependency}\", which does not exist")]
    UnknownDependency {
        /// The task.
        task: String,
        /// The label of the missing task.
        dependency: String,
    },
    /// Tasks depend on each other.
    #[error("tasks depend on each other: {}", .0.join(" \u{2192} "))]
    Cycle(Vec<String>),
    /// The task depends on more tasks than are run.
    #[error("\"{task}\" depends on more than {limit} tasks")]
    TooManySteps {
        /// The task.
        task: String,
        /// The largest number of tasks.
        limit: usize,
    },
    /// A value cannot be inserted.
    #[error("{name}:{line}: \"{task}\": {reason}")]
    Variable {
        /// The file of tasks, relative to the project.
        name: &'static str,
        /// The file of tasks.
        path: AbsPath,
        /// The line of the task, counted from 1.
        line: u32,
        /// The label of the task.
        task: String,
        /// The reason.
        reason: VariableError,
    },
}

/// A reason why a variable cannot be replaced by its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// No variable has this name.
    #[error("unknown variable {written}; {hint}")]
    Unknown {
        /// The variable as it is written.
        written: String,
        /// A way to write something else.
        hint: &'static str,
    },
    /// The variable is about the open file, and there is none.
    #[error("{0} needs an open file")]
    NoFile(String),
    /// The variable is about a text with a caret, and there is none.
    #[error("{0} needs a text with a caret")]
    NoCaret(String),
    /// There is no symbol at the caret.
    #[error("{0} needs a symbol at the caret")]
    NoSymbol(String),
    /// The home folder is unknown.
    #[error("{0} is unknown")]
    NoHome(String),
    /// The question about the value was not answered.
    #[error("{0} has no value")]
    NoAnswer(String),
    /// The value has characters that cannot be quoted where the variable is.
    #[error(
        "the value of {0} cannot be quoted safely in this part of the command; move it to \"args\""
    )]
    Unquotable(String),
    /// The name of a file is not valid text.
    #[error("{0} is a path that is not valid UTF-8")]
    NotText(String),
}
