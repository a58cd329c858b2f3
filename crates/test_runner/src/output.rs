//! Reads the output of runners as it arrives.
//!
//! Invariant: the reports are the same for any split of the output into chunks.
//! Limits: output that a test prints to imitate its runner is read as the runner's.
//! Start at `OutputParser`; each runner's format is in a module of its own.

mod cargo_test;
mod go_test;
mod javascript;
mod line_reader;
mod nextest;
mod panic_message;
mod pytest;

use std::collections::VecDeque;

use self::cargo_test::CargoTestParser;
use self::go_test::GoTestParser;
use self::line_reader::LineReader;
use self::nextest::NextestParser;
use self::pytest::PytestParser;
use crate::framework::TestFramework;
use crate::outcome::TestReport;
use crate::project::TestProject;

/// Maximum number of reports of a run; later ones are dropped.
const MAX_REPORTS: usize = 200_000;
/// Maximum length of a line, in bytes; the rest of a longer one is dropped.
const MAX_LINE: usize = 64 << 10;
/// Maximum length of the line with the whole report of Jest or Vitest.
const MAX_REPORT_LINE: usize = 32 << 20;
/// Number of last lines that explain why a run ended without results.
const MAX_TAIL: usize = 30;
/// Maximum length of each of these lines, in bytes.
const MAX_TAIL_LINE: usize = 400;

/// Reads the output of one run.
pub struct OutputParser {
    lines: LineReader,
    format: OutputFormat,
    reports: usize,
    /// The last lines that were no reports.
    tail: VecDeque<String>,
}

enum OutputFormat {
    CargoTest(CargoTestParser),
    Nextest(NextestParser),
    Pytest(PytestParser),
    Javascript,
    GoTest(GoTestParser),
}

impl OutputParser {
    /// Creates a parser for the output of a command of `project`.
    pub fn new(project: &TestProject) -> Self {
        let (format, max_line) = match project.framework {
            TestFramework::CargoTest => {
                let parser = CargoTestParser::default();
                (OutputFormat::CargoTest(parser), MAX_LINE)
            }
            TestFramework::Nextest => {
                let parser = NextestParser::default();
                (OutputFormat::Nextest(parser), MAX_LINE)
            }
            TestFramework::Pytest => {
                let parser = PytestParser::default();
                (OutputFormat::Pytest(parser), MAX_LINE)
            }
            TestFramework::Jest | TestFramework::Vitest => {
                (OutputFormat::Javascript, MAX_REPORT_LINE)
            }
            TestFramework::GoTest => {
                let parser = GoTestParser::default();
                (OutputFormat::GoTest(parser), MAX_LINE)
            }
        };
        Self {
            lines: LineReader::new(max_line),
            format,
            reports: 0,
            tail: VecDeque::new(),
        }
    }

    /// Takes the next chunk of the output and returns the reports in it.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<TestReport> {
        let mut reports = Vec::new();
        for line in self.lines.feed(chunk) {
            self.take_line(&line, &mut reports);
        }
        self.limited(reports)
    }

    /// Returns the reports that only the end of the output completes.
    pub fn finish(&mut self) -> Vec<TestReport> {
        let mut reports = Vec::new();
        if let Some(line) = self.lines.finish() {
            self.take_line(&line, &mut reports);
        }
        match &mut self.format {
            OutputFormat::CargoTest(parser) => parser.finish(&mut reports),
            OutputFormat::Nextest(parser) => parser.finish(&mut reports),
            OutputFormat::Pytest(parser) => parser.finish(&mut reports),
            OutputFormat::Javascript => {}
            OutputFormat::GoTest(parser) => parser.finish(&mut reports),
        }
        self.limited(reports)
    }

    /// Returns the last lines of the output that are no reports, such as errors of a compiler.
    pub fn tail(&self) -> String {
        let lines: Vec<&str> = self.tail.iter().map(String::as_str).collect();
        lines.join("\n")
    }

    fn take_line(&mut self, line: &str, reports: &mut Vec<TestReport>) {
        let other = match &mut self.format {
            OutputFormat::CargoTest(parser) => parser.take_line(line, reports).map(str::to_owned),
            OutputFormat::Nextest(parser) => parser.take_line(line, reports).map(str::to_owned),
            OutputFormat::Pytest(parser) => parser.take_line(line, reports).map(str::to_owned),
            OutputFormat::Javascript => javascript::take_line(line, reports),
            OutputFormat::GoTest(parser) => parser.take_line(line, reports).map(str::to_owned),
        };
        for text in other.iter().flat_map(|text| text.lines()) {
            self.keep(text);
        }
    }

    fn keep(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.tail.len() == MAX_TAIL {
            self.tail.pop_front();
        }
        let end = text.floor_char_boundary(MAX_TAIL_LINE);
        self.tail.push_back(text[..end].trim_end().to_owned());
    }

    fn limited(&mut self, mut reports: Vec<TestReport>) -> Vec<TestReport> {
        reports.truncate(MAX_REPORTS - self.reports);
        self.reports += reports.len();
        reports
    }
}

#[cfg(test)]
mod tests;
