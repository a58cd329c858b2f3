//! Output of `go test -json`: an object per line.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::outcome::{
    FailureLocation, ReportedTest, TestOutcome, TestReport, TestStatus, push_line,
};

/// Maximum number of tests whose output is read at once.
const MAX_OPEN: usize = 10_000;

/// Reads the output line by line.
#[derive(Default)]
pub(super) struct GoTestParser {
    /// Outputs of the tests that run.
    outputs: BTreeMap<ReportedTest, String>,
}

impl GoTestParser {
    /// Takes a line; returns it, or the output in it, if it is no report.
    pub(super) fn take_line<'a>(
        &mut self,
        line: &'a str,
        reports: &mut Vec<TestReport>,
    ) -> Option<&'a str> {
        let is_object = line.starts_with('{');
        let Some(event) = is_object
            .then(|| serde_json::from_str::<Value>(line).ok())
            .flatten()
        else {
            return Some(line);
        };
        let text = |key: &str| event[key].as_str().unwrap_or_default();
        if text("Test").is_empty() {
            // Of a package: errors of the compiler, and the summary. The text within is the part that counts.
            let is_output = matches!(text("Action"), "output" | "build-output");
            let said = is_output.then(|| output_within(line)).flatten();
            return said.filter(|it| !it.starts_with("ok ") && *it != "PASS");
        }
        let test = ReportedTest {
            suite: text("Package").to_owned(),
            name: text("Test").to_owned(),
        };
        let status = match text("Action") {
            "run" => TestStatus::Running,
            "pass" => TestStatus::Passed,
            "fail" => TestStatus::Failed,
            "skip" => TestStatus::Skipped,
            "output" => {
                self.add_output(test, text("Output"));
                return None;
            }
            _ => return None,
        };
        let mut outcome = TestOutcome::new(status);
        if status != TestStatus::Running {
            let seconds = event["Elapsed"].as_f64();
            outcome.duration = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
            let output = self.outputs.remove(&test).unwrap_or_default();
            if status != TestStatus::Passed {
                read_output(&mut outcome, output);
            }
        }
        reports.push(TestReport { test, outcome });
        None
    }

    /// Reports the output of tests without an end, such as after a panic that ended the program.
    pub(super) fn finish(&mut self, reports: &mut Vec<TestReport>) {
        for (test, output) in std::mem::take(&mut self.outputs) {
            if output.contains("panic: ") {
                let mut outcome = TestOutcome::new(TestStatus::Failed);
                read_output(&mut outcome, output);
                reports.push(TestReport { test, outcome });
            }
        }
    }

    fn add_output(&mut self, test: ReportedTest, text: &str) {
        if self.outputs.len() >= MAX_OPEN && !self.outputs.contains_key(&test) {
            return;
        }
        let output = self.outputs.entry(test).or_default();
        push_line(output, text.strip_suffix('\n').unwrap_or(text));
    }
}

/// Returns the text of the field `Output` as it is written in a line, without its escaped line feed; the escapes within are
/// kept.
fn output_within(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("\"Output\":\"")?;
    let text = rest.strip_suffix("\"}").unwrap_or(rest);
    Some(text.strip_suffix("\\n").unwrap_or(text))
}

/// Sets output, message and place of a test that failed or was skipped.
fn read_output(outcome: &mut TestOutcome, output: String) {
    let is_marker = |line: &&str| {
        let line = line.trim_start();
        ["=== ", "--- ", "FAIL"]
            .iter()
            .any(|it| line.starts_with(it))
    };
    let mut lines = output.lines().filter(|line| !is_marker(line));
    let first = lines.find_map(|line| {
        let (place, message) = line.trim_start().split_once(": ")?;
        let place = FailureLocation::parse(place).filter(|it| it.path.ends_with(".go"))?;
        Some((place, message))
    });
    match first {
        Some((place, message)) => {
            // The other lines of a message are indented deeper.
            let more = lines.take_while(|line| line.starts_with("        "));
            let message = std::iter::once(message).chain(more.map(str::trim));
            let message = message.collect::<Vec<_>>().join("\n");
            outcome.set_message(&message);
            outcome.location = Some(place);
        }
        None => {
            let mut lines = output.lines().filter(|line| !is_marker(line));
            let panic = lines.find_map(|line| line.strip_prefix("panic: "));
            outcome.set_message(panic.unwrap_or_default());
            outcome.location = output.lines().find_map(stack_frame);
        }
    }
    outcome.output = output;
    outcome.output.truncate(outcome.output.trim_end().len());
}

/// Returns the place in a frame of the stack in a test: a path, a line and an offset, such as `/p/sum_test.go:12 +0x1d`.
fn stack_frame(line: &str) -> Option<FailureLocation> {
    let (place, _) = line.trim().split_once(" +0x")?;
    FailureLocation::parse(place).filter(|it| it.path.ends_with("_test.go"))
}
