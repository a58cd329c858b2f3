//! The report of Jest (`--json`) and Vitest (`--reporter=json`): one line of JSON at the end.

use std::time::Duration;

use serde_json::Value;

use super::line_reader::without_escapes;
use crate::outcome::{
    FailureLocation, ReportedTest, TestOutcome, TestReport, TestStatus, push_line,
};

/// Takes a line; returns the text in it that is no report.
pub(super) fn take_line(line: &str, reports: &mut Vec<TestReport>) -> Option<String> {
    if !line.starts_with('{') || !line.contains("\"testResults\"") {
        return Some(line.to_owned());
    }
    let Ok(report) = serde_json::from_str::<Value>(line) else {
        return Some("the runner printed a report that cannot be read".to_owned());
    };
    let mut messages = Vec::new();
    for file in array(&report, "testResults") {
        let suite = text(file, "name");
        let tests = array(file, "assertionResults");
        reports.extend(tests.iter().map(|test| report_of(suite, test)));
        // A file that cannot be loaded has a message, and no tests.
        if tests.is_empty() {
            messages.push(without_escapes(text(file, "message")));
        }
    }
    (!messages.is_empty()).then(|| messages.join("\n"))
}

fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn report_of(suite: &str, test: &Value) -> TestReport {
    let status = match text(test, "status") {
        "passed" => TestStatus::Passed,
        "failed" => TestStatus::Failed,
        _ => TestStatus::Skipped,
    };
    let mut outcome = TestOutcome::new(status);
    let milliseconds = test["duration"].as_f64();
    outcome.duration = milliseconds.and_then(|it| Duration::try_from_secs_f64(it / 1000.0).ok());
    for message in array(test, "failureMessages") {
        let message = without_escapes(message.as_str().unwrap_or_default());
        for line in message.lines() {
            push_line(&mut outcome.output, line);
        }
    }
    let lines: Vec<&str> = outcome.output.lines().collect();
    let message = lines.iter().take_while(|line| !is_frame(line)).copied();
    let message = message.collect::<Vec<_>>().join("\n");
    let mut frames = lines.iter().filter(|line| is_frame(line));
    let location = frames.find_map(|line| frame_in(line, suite));
    outcome.set_message(message.strip_prefix("Error: ").unwrap_or(&message));
    outcome.location = location;
    TestReport {
        test: ReportedTest {
            suite: suite.to_owned(),
            name: full_name(test),
        },
        outcome,
    }
}

fn is_frame(line: &str) -> bool {
    line.trim_start().starts_with("at ")
}

/// Returns the titles of the suites and of the test, joined by blanks.
fn full_name(test: &Value) -> String {
    let ancestors = array(test, "ancestorTitles").iter();
    let ancestors = ancestors.filter_map(Value::as_str);
    let titles = ancestors.chain([text(test, "title")]);
    titles.collect::<Vec<_>>().join(" ")
}

/// Returns the place in a frame of the stack, `at Object.<anonymous> (/p/a.test.js:5:19)`, if it is in `file`.
fn frame_in(line: &str, file: &str) -> Option<FailureLocation> {
    let place = match line.rsplit_once('(') {
        Some((_, place)) => place.trim_end().trim_end_matches(')'),
        None => line.trim().strip_prefix("at ")?,
    };
    let place = place.strip_prefix("file://").unwrap_or(place);
    FailureLocation::parse(place).filter(|place| place.path == file)
}
