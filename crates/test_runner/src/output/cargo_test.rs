//! Output of `cargo test`: that of Cargo, and the plain text of the test harness of Rust.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::panic_message::read_panic;
use crate::outcome::{ReportedTest, TestOutcome, TestReport, TestStatus, push_line};

/// Reads the output line by line.
#[derive(Default)]
pub(super) struct CargoTestParser {
    /// Name of the program whose tests run.
    program: String,
    /// The failed tests of this program, whose output may follow.
    failed: BTreeSet<String>,
    /// Whether the outputs of failed tests follow.
    is_in_failures: bool,
    /// The failed test whose output is read.
    details: Option<(String, TestOutcome)>,
}

impl CargoTestParser {
    /// Takes a line; returns it if it is no report.
    pub(super) fn take_line<'a>(
        &mut self,
        line: &'a str,
        reports: &mut Vec<TestReport>,
    ) -> Option<&'a str> {
        if let Some(program) = started_program(line) {
            self.finish(reports);
            self.program = program;
            self.failed.clear();
            self.is_in_failures = false;
            return None;
        }
        if let Some(name) = self.heading(line) {
            self.finish(reports);
            self.details = Some((name, TestOutcome::new(TestStatus::Failed)));
            return None;
        }
        if line == "failures:" {
            self.finish(reports);
            self.is_in_failures = true;
            return None;
        }
        if line.starts_with("test result: ") {
            self.finish(reports);
            self.is_in_failures = false;
            return None;
        }
        if let Some((_, outcome)) = &mut self.details {
            push_line(&mut outcome.output, line);
            return None;
        }
        let Some((name, outcome)) = result_of(line) else {
            let is_count = line.starts_with("running ") && line.contains(" test");
            return (!is_count && !self.is_in_failures).then_some(line);
        };
        if outcome.status == TestStatus::Failed {
            self.failed.insert(name.clone());
        }
        reports.push(self.report(name, outcome));
        None
    }

    /// Reports the failed test whose output was read.
    pub(super) fn finish(&mut self, reports: &mut Vec<TestReport>) {
        if let Some((name, mut outcome)) = self.details.take() {
            outcome.output.truncate(outcome.output.trim_end().len());
            read_panic(&mut outcome);
            reports.push(self.report(name, outcome));
        }
    }

    /// Returns the name in a heading `---- name stdout ----` of a failed test.
    fn heading(&self, line: &str) -> Option<String> {
        let name = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
        let name = name
            .strip_suffix(" stdout")
            .or_else(|| name.strip_suffix(" stderr"))?;
        let name = without_note(name);
        (self.is_in_failures && self.failed.contains(name)).then(|| name.to_owned())
    }

    fn report(&self, name: String, outcome: TestOutcome) -> TestReport {
        TestReport {
            test: ReportedTest {
                suite: self.program.clone(),
                name,
            },
            outcome,
        }
    }
}

/// Returns the program of a line such as `     Running unittests src/lib.rs (target/debug/deps/name-0123456789abcdef)`.
fn started_program(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("doc-tests {name}"));
    }
    let rest = line.strip_prefix("Running ")?;
    let path = match rest.rsplit_once('(') {
        Some((_, path)) => path.trim_end_matches(')'),
        None => rest,
    };
    let name = Path::new(path).file_stem()?.to_str()?;
    let (name, hash) = name.rsplit_once('-')?;
    let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| name.to_owned())
}

/// Removes the note about a test that must panic.
fn without_note(name: &str) -> &str {
    name.strip_suffix(" - should panic").unwrap_or(name)
}

/// Returns the test and its result in a line `test name ... ok`; the result is missing if the test is still running.
fn result_of(line: &str) -> Option<(String, TestOutcome)> {
    let rest = line.strip_prefix("test ")?;
    let (name, result) = match rest.rsplit_once(" ... ") {
        Some(parts) => parts,
        None => (rest.strip_suffix(" ...")?, ""),
    };
    let (result, time) = match result.split_once(" <") {
        Some((result, time)) => (result, time.strip_suffix("s>")),
        None => (result, None),
    };
    let (status, reason) = match result {
        "ok" => (TestStatus::Passed, ""),
        "FAILED" => (TestStatus::Failed, ""),
        "" => (TestStatus::Running, ""),
        "ignored" => (TestStatus::Skipped, ""),
        _ => (TestStatus::Skipped, result.strip_prefix("ignored, ")?),
    };
    let mut outcome = TestOutcome::new(status);
    outcome.set_message(reason);
    let seconds = time.and_then(|time| time.parse::<f64>().ok());
    outcome.duration = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    Some((without_note(name).to_owned(), outcome))
}
