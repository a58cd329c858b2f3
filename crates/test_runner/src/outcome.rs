//! Results of tests, as runners report them.

use std::time::Duration;

/// Maximum length of a message, in bytes.
const MAX_MESSAGE: usize = 4 << 10;
/// Maximum length of the output of a test, in bytes.
const MAX_OUTPUT: usize = 64 << 10;
/// Last line of an output that was cut.
const CUT: &str = "[the rest of the output is omitted]";

/// State of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TestStatus {
    /// A run that includes the test has not reported its result yet.
    Running,
    /// The test succeeded.
    Passed,
    /// The test failed.
    Failed,
    /// The runner skipped the test.
    Skipped,
    /// A run that includes the test ended without its result.
    NotRun,
}

/// Result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestOutcome {
    /// The state.
    pub status: TestStatus,
    /// Duration, if the runner reports it.
    pub duration: Option<Duration>,
    /// Message of a failure, or the reason why a test did not run; may be empty. Has a maximum length.
    pub message: String,
    /// Place of the failure, if it is known.
    pub location: Option<FailureLocation>,
    /// Output of a test that failed; may be empty. Has a maximum length.
    pub output: String,
}

/// Place of a failure as a runner prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureLocation {
    /// The path, absolute or relative to a folder that depends on the runner.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1, if the runner prints it.
    pub column: Option<u32>,
}

/// A test as a runner names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReportedTest {
    /// The program, package or file to which the test belongs; empty if the name identifies the test.
    pub suite: String,
    /// The name.
    pub name: String,
}

/// A report of a runner. A later report about the same test replaces or completes an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestReport {
    /// The test.
    pub test: ReportedTest,
    /// Its result.
    pub outcome: TestOutcome,
}

impl TestOutcome {
    /// Creates a result without details.
    pub(crate) fn new(status: TestStatus) -> Self {
        Self {
            status,
            duration: None,
            message: String::new(),
            location: None,
            output: String::new(),
        }
    }

    /// Sets the message without blank lines around it, cut to its maximum length.
    pub(crate) fn set_message(&mut self, message: &str) {
        let message = message.trim_matches(['\n', '\r']).trim_end();
        self.message = message[..message.floor_char_boundary(MAX_MESSAGE)].to_owned();
    }
}

impl FailureLocation {
    /// Parses `src/lib.rs:12:5`; the column may be missing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (rest, last) = text.rsplit_once(':')?;
        let last: u32 = last.parse().ok()?;
        let (path, line, column) = match rest.rsplit_once(':') {
            Some((path, line)) if line.parse::<u32>().is_ok() => {
                (path, line.parse().ok()?, Some(last))
            }
            _ => (rest, last, None),
        };
        (!path.is_empty() && line > 0).then(|| Self {
            path: path.to_owned(),
            line,
            column,
        })
    }
}

/// Appends a line to the output of a test, up to its maximum length.
pub(crate) fn push_line(output: &mut String, line: &str) {
    if output.len() >= MAX_OUTPUT {
        return;
    }
    let room = MAX_OUTPUT - output.len();
    output.push_str(&line[..line.floor_char_boundary(room)]);
    output.push('\n');
    if output.len() >= MAX_OUTPUT {
        output.push_str(CUT);
    }
}
