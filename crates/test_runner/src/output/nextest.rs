//! Output of `cargo nextest run`, of versions with output blocks between rules and of those with indented blocks.

use std::time::Duration;

use super::panic_message::read_panic;
use crate::outcome::{ReportedTest, TestOutcome, TestReport, TestStatus, push_line};

/// Reads the output line by line.
#[derive(Default)]
pub(super) struct NextestParser {
    /// The failed test whose output may follow.
    details: Option<FailedTest>,
    /// Whether the summary is printed, which repeats the failed tests.
    is_summary: bool,
}

struct FailedTest {
    test: ReportedTest,
    outcome: TestOutcome,
    /// Whether lines belong to its output.
    is_in_block: bool,
}

impl NextestParser {
    /// Takes a line; returns it if it is no report.
    pub(super) fn take_line<'a>(
        &mut self,
        line: &'a str,
        reports: &mut Vec<TestReport>,
    ) -> Option<&'a str> {
        if line.trim_start().starts_with("Summary [") {
            self.finish(reports);
            self.is_summary = true;
            return None;
        }
        if self.is_summary {
            return None;
        }
        if let Some(test) = old_heading(line) {
            self.begin_block(test, reports);
            return None;
        }
        if let Some((test, outcome)) = result_of(line) {
            self.finish(reports);
            if outcome.status == TestStatus::Failed {
                self.details = Some(FailedTest {
                    test: test.clone(),
                    outcome: outcome.clone(),
                    is_in_block: false,
                });
            }
            reports.push(TestReport { test, outcome });
            return None;
        }
        let Some(details) = &mut self.details else {
            return Some(line);
        };
        if matches!(line.trim_end(), "  stdout ───" | "  stderr ───") {
            details.is_in_block = true;
        } else if details.is_in_block {
            let line = line.strip_prefix("    ").unwrap_or(line);
            push_line(&mut details.outcome.output, line);
        }
        None
    }

    /// Reports the failed test whose output was read.
    pub(super) fn finish(&mut self, reports: &mut Vec<TestReport>) {
        let Some(mut details) = self.details.take() else {
            return;
        };
        if details.is_in_block {
            let output = &mut details.outcome.output;
            output.truncate(output.trim_end().len());
            read_panic(&mut details.outcome);
            reports.push(TestReport {
                test: details.test,
                outcome: details.outcome,
            });
        }
    }

    /// Begins the output of a test, or goes on with another stream of it.
    fn begin_block(&mut self, test: ReportedTest, reports: &mut Vec<TestReport>) {
        if let Some(details) = &mut self.details
            && details.test == test
        {
            details.is_in_block = true;
            return;
        }
        self.finish(reports);
        self.details = Some(FailedTest {
            test,
            outcome: TestOutcome::new(TestStatus::Failed),
            is_in_block: true,
        });
    }
}

/// Returns the test in `--- STDOUT:              package tests::name ---`.
fn old_heading(line: &str) -> Option<ReportedTest> {
    let text = line.strip_prefix("--- ")?.trim_end().strip_suffix("---")?;
    let text = text
        .strip_prefix("STDOUT:")
        .or_else(|| text.strip_prefix("STDERR:"))?;
    test_of(text)
}

/// Returns the test in `package tests::name` or `package::target tests::name`.
fn test_of(text: &str) -> Option<ReportedTest> {
    let mut words = text.split_whitespace();
    let (binary, name) = (words.next()?, words.next()?);
    if words.next().is_some() {
        return None;
    }
    let program = binary.rsplit(['/', ':']).next().unwrap_or(binary);
    Some(ReportedTest {
        suite: program.replace('-', "_"),
        name: name.to_owned(),
    })
}

/// Returns the test and its result in `        PASS [   0.004s] (1/3) package tests::name`.
fn result_of(line: &str) -> Option<(ReportedTest, TestOutcome)> {
    let (result, rest) = line.trim_start().split_once(" [")?;
    let (time, rest) = rest.split_once(']')?;
    let mut outcome = TestOutcome::new(status_of(result)?);
    if outcome.status == TestStatus::Failed && result != "FAIL" && !result.starts_with("TRY ") {
        outcome.set_message(&format!("the test ended with {result}"));
    }
    let time = time.trim().trim_start_matches('>').trim();
    let seconds = time
        .strip_suffix('s')
        .and_then(|time| time.parse::<f64>().ok());
    outcome.duration = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    let rest = rest.trim_start();
    // Newer versions count: `( 1/10)`.
    let rest = match rest.strip_prefix('(') {
        Some(counted) => counted.split_once(')')?.1,
        None => rest,
    };
    Some((test_of(rest)?, outcome))
}

fn status_of(result: &str) -> Option<TestStatus> {
    let first = result.split(' ').next()?;
    match first {
        "PASS" | "LEAK" | "FLAKY" => Some(TestStatus::Passed),
        "FAIL" | "ABORT" | "TIMEOUT" | "XFAIL" | "LEAK-FAIL" => Some(TestStatus::Failed),
        "TRY" if result.ends_with("PASS") => Some(TestStatus::Passed),
        "TRY" => Some(TestStatus::Failed),
        "SKIP" => Some(TestStatus::Skipped),
        "SLOW" | "START" => Some(TestStatus::Running),
        // The signals: `SIGABRT`, `SIGSEGV`.
        first if first.starts_with("SIG") => Some(TestStatus::Failed),
        _ => None,
    }
}
