//! Files of tasks, their problems, and the questions that they define.

use base::AbsPath;
use settings::ConfigProblem;

/// A file of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFile {
    /// The path.
    pub path: AbsPath,
    /// The name relative to the project.
    pub name: &'static str,
    /// The text: what the user allows to run.
    pub text: String,
}

/// An invalid part of a file of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFileProblem {
    /// The path of the file.
    pub path: AbsPath,
    /// The problem with its line.
    pub problem: ConfigProblem,
}

/// A question that is asked before a task runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskInput {
    /// The id: `${input:id}` is the answer.
    pub id: String,
    /// The question.
    pub description: String,
    /// The answer that is suggested.
    pub default: String,
    /// The form of the answer.
    pub kind: InputKind,
}

/// The form of the answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Any text.
    Text,
    /// One of these choices: its label and its value.
    Choice(Vec<(String, String)>),
}
