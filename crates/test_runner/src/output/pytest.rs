//! Output of `pytest -v --tb=short`.

use std::collections::VecDeque;

use crate::outcome::{
    FailureLocation, ReportedTest, TestOutcome, TestReport, TestStatus, push_line,
};

/// The words after a node id, with the results that they mean.
const RESULTS: [(&str, TestStatus); 6] = [
    ("PASSED", TestStatus::Passed),
    ("FAILED", TestStatus::Failed),
    ("ERROR", TestStatus::Failed),
    ("SKIPPED", TestStatus::Skipped),
    ("XFAIL", TestStatus::Skipped),
    ("XPASS", TestStatus::Passed),
];

/// Reads the output line by line.
#[derive(Default)]
pub(super) struct PytestParser {
    /// The node ids of failed tests whose details were not printed yet.
    failed: VecDeque<String>,
    section: PytestSection,
    /// The failed test whose details are read.
    details: Option<FailureDetails>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PytestSection {
    /// The list of tests with their results.
    #[default]
    Results,
    /// Details of failures and of errors before and after tests.
    Failures,
    /// Warnings and the summary.
    Summary,
}

struct FailureDetails {
    node: String,
    outcome: TestOutcome,
    /// The lines of the message, which begin with `E`.
    message: String,
    /// The innermost place that was printed.
    location: Option<FailureLocation>,
}

impl PytestParser {
    /// Takes a line; returns it if it is no report.
    pub(super) fn take_line<'a>(
        &mut self,
        line: &'a str,
        reports: &mut Vec<TestReport>,
    ) -> Option<&'a str> {
        if let Some(title) = between(line, '=') {
            self.finish(reports);
            self.section = match title {
                "FAILURES" | "ERRORS" => PytestSection::Failures,
                "warnings summary" | "short test summary info" => PytestSection::Summary,
                _ => self.section,
            };
            return None;
        }
        match self.section {
            PytestSection::Results => match result_of(line) {
                Some((node, outcome)) => {
                    if outcome.status == TestStatus::Failed {
                        self.failed.push_back(node.clone());
                    }
                    reports.push(report(node, outcome));
                    None
                }
                None => Some(line),
            },
            PytestSection::Failures => {
                if let Some(title) = between(line, '_') {
                    if let Some(node) = self.take_failed(title) {
                        self.finish(reports);
                        self.details = Some(FailureDetails::new(node));
                        return None;
                    }
                    if title.starts_with("ERROR collecting ") {
                        self.finish(reports);
                        return Some(title);
                    }
                }
                let Some(details) = &mut self.details else {
                    return Some(line);
                };
                details.take_line(line);
                None
            }
            PytestSection::Summary => None,
        }
    }

    /// Reports the failed test whose details were read.
    pub(super) fn finish(&mut self, reports: &mut Vec<TestReport>) {
        if let Some(details) = self.details.take() {
            let mut outcome = details.outcome;
            outcome.set_message(&details.message);
            outcome.location = details.location;
            outcome.output.truncate(outcome.output.trim_end().len());
            reports.push(report(details.node, outcome));
        }
    }

    /// Returns the node id of the failed test with a title such as `TestSum.test_add[1]` or `ERROR at setup of test_add`.
    fn take_failed(&mut self, title: &str) -> Option<String> {
        let name = ["ERROR at setup of ", "ERROR at teardown of "]
            .iter()
            .find_map(|start| title.strip_prefix(start))
            .unwrap_or(title);
        // Titles leave out the file, but follow in the order of the results.
        let is_titled = |node: &String| {
            let names = node.split_once("::").map(|(_, names)| names);
            names.is_some_and(|names| names.replace("::", ".") == name)
        };
        let at = self.failed.iter().position(is_titled)?;
        self.failed.remove(at)
    }
}

impl FailureDetails {
    fn new(node: String) -> Self {
        Self {
            node,
            outcome: TestOutcome::new(TestStatus::Failed),
            message: String::new(),
            location: None,
        }
    }

    fn take_line(&mut self, line: &str) {
        push_line(&mut self.outcome.output, line);
        if let Some(message) = line.strip_prefix("E  ") {
            push_line(
                &mut self.message,
                message.strip_prefix(' ').unwrap_or(message),
            );
            return;
        }
        let place = line
            .split_once(": in ")
            .or_else(|| line.rsplit_once(": "))
            .and_then(|(place, _)| FailureLocation::parse(place));
        if let Some(place) = place.filter(|it| it.path.ends_with(".py")) {
            self.note_place(place);
        }
    }

    /// Prefers the innermost place in the file of the test to places in the code that it calls.
    fn note_place(&mut self, place: FailureLocation) {
        let file = self.node.split("::").next().unwrap_or_default();
        let is_known = self
            .location
            .as_ref()
            .is_some_and(|known| known.path == file);
        if !is_known || place.path == file {
            self.location = Some(place);
        }
    }
}

/// Returns the title of a line such as `===== FAILURES =====`.
fn between(line: &str, rule: char) -> Option<&str> {
    let is_rule = |text: &str| text.len() >= 2 && text.chars().all(|char| char == rule);
    let (first, rest) = line.trim_end().split_once(' ')?;
    let (title, last) = rest.rsplit_once(' ')?;
    (is_rule(first) && is_rule(last)).then(|| title.trim())
}

/// Returns the node id and the result in `tests/test_a.py::test_x PASSED   [ 25%]`.
fn result_of(line: &str) -> Option<(String, TestOutcome)> {
    let line = line.trim_end();
    // The progress at the end: `[ 25%]`.
    let line = match line.rsplit_once('[') {
        Some((rest, progress)) if progress.ends_with("%]") => rest.trim_end(),
        _ => line,
    };
    let found = RESULTS.iter().filter_map(|(word, status)| {
        let at = line.rfind(&format!(" {word}"))?;
        let rest = &line[at + 1 + word.len()..];
        // A reason may follow in parentheses.
        let is_end = rest.is_empty() || rest.starts_with(" (");
        is_end.then_some((at, *status, rest))
    });
    let (at, status, rest) = found.max_by_key(|(at, ..)| *at)?;
    let node = line[..at].trim_end();
    let (path, _) = node.split_once("::")?;
    if path.is_empty() || path.starts_with(' ') {
        return None;
    }
    let mut outcome = TestOutcome::new(status);
    let reason = rest.strip_prefix(" (").unwrap_or_default();
    outcome.set_message(reason.strip_suffix(')').unwrap_or(reason));
    Some((node.to_owned(), outcome))
}

fn report(node: String, outcome: TestOutcome) -> TestReport {
    TestReport {
        test: ReportedTest {
            suite: String::new(),
            name: node,
        },
        outcome,
    }
}
