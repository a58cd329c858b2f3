//! The values of the variables of tasks, taken from the window at one moment.

use base::AbsPath;

/// The state of the window when a task starts.
#[derive(Clone, Debug)]
pub struct TaskContext {
    /// The folder of the project.
    pub root: AbsPath,
    /// The file of the active text.
    pub file: Option<AbsPath>,
    /// The caret of the active text.
    pub caret: Option<TaskCaret>,
    /// The home folder of the user.
    pub home: Option<AbsPath>,
    /// The environment of the user's programs.
    pub environment: Vec<(String, String)>,
    /// Answers to the questions of `TaskInput`s, by their ids.
    pub answers: Vec<(String, String)>,
    /// The shell for tasks that name none.
    pub shell: String,
}

/// The caret of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskCaret {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// The selected text.
    pub selection: String,
    /// The function or type around the caret.
    pub symbol: Option<String>,
}
