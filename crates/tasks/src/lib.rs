//! Tasks of a project: their files, detected tasks, variables, dependencies, and the problems in their output.
//!
//! Knows: files through `host::Files`, JSON with comments through `settings`, package managers and Python environments
//! through `project`. Must not know: processes, terminals, windows,
//! the folders that the user trusts.
//! Invariant: nothing here runs a program; a `TaskLaunch` is data.
//! Invariant: a name of a file, a selected text or another value from the project is one word for the shell, or the task
//! is refused.
//! Invariant: reading a project, and the time and the memory for a line of output, are bounded.
//! Start at `TaskSet::read`; `TaskRun` orders the steps, and `TaskOutput` finds problems.

#![warn(missing_docs)]

mod builtin;
mod context;
mod definition;
mod detect;
mod error;
mod launch;
mod matcher;
mod output;
mod plan;
mod problem;
mod python;
mod quoting;
mod read;
mod run;
mod set;
mod task_file;
mod template;

pub use context::{TaskCaret, TaskContext};
pub use definition::{
    DependencyOrder, TaskCommand, TaskDefinition, TaskDialect, TaskGroup, TaskOrigin, TaskReveal,
};
pub use error::TaskError;
pub use launch::{TaskLaunch, resolve};
pub use matcher::ProblemMatcher;
pub use output::{OutputReport, TaskOutput};
pub use plan::{StepId, TaskPlan};
pub use problem::{ColumnUnit, ProblemPosition, ProblemRange, ProblemSeverity, TaskProblem};
pub use run::{RunEffect, RunEvent, RunOutcome, StepOutcome, TaskRun};
pub use set::TaskSet;
pub use task_file::{InputKind, TaskFile, TaskFileProblem, TaskInput};
