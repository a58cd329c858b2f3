//! Tests of a project: finds them in texts, builds the commands that run them, and reads what runners print.
//!
//! Knows: `base`, `text`, `syntax`, and from `project` package managers and Python environments. Must not know: files,
//! processes, time, how tests are shown. It runs nothing itself.
//! Invariant: a command is a program and its arguments, never a line for a shell.
//! Invariant: the reports of a run do not depend on the sizes of the chunks in which its output arrives.
//! Invariant: whatever a text or a runner contains, the number and the size of items and reports are bounded.
//! Start at `TestState`; `discover` finds tests, `TestProject` builds commands, `OutputParser` reads output.

mod command;
mod discovery;
mod framework;
mod item;
mod outcome;
mod output;
mod project;
mod state;

pub use self::project::TestProject;
pub use command::{TestCommand, TestTarget};
pub use discovery::{discover, discover_in_text, may_have_tests};
pub use framework::TestFramework;
pub use item::{TestId, TestItem, TestKind};
pub use outcome::{FailureLocation, ReportedTest, TestOutcome, TestReport, TestStatus};
pub use output::OutputParser;
pub use state::{FileTests, TestCounts, TestFailure, TestFilter, TestRow, TestRunEnd, TestState};
