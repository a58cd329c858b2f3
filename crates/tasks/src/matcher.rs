//! Problem matchers: patterns of the lines in which a tool prints problems.
//!
//! `PatternMatcher` follows patterns of one or more lines, as those of Visual Studio Code.
//! Invariant: the time for a line is linear in its length and the number of patterns.
//! Start at `ProblemMatcher` and `PatternMatcher::feed`.

use std::collections::VecDeque;
use std::sync::Arc;

use regex::{Captures, Regex, RegexBuilder};

use crate::problem::{ColumnUnit, ProblemPosition, ProblemSeverity, RawPlace, RawProblem};

/// Size of a compiled pattern in bytes, at most.
const MAX_PATTERN: usize = 1 << 20;
/// Length of a pattern in bytes, at most.
const MAX_PATTERN_TEXT: usize = 4 << 10;
/// Levels of groups in a pattern, at most.
const MAX_NESTING: u32 = 100;

/// Recognizes problems in the output of a tool.
#[derive(Clone, Debug)]
pub struct ProblemMatcher {
    /// The tool that problems name as their source.
    pub(crate) source: Option<String>,
    /// The severity of problems without one.
    pub(crate) severity: ProblemSeverity,
    pub(crate) location: FileLocation,
    pub(crate) syntax: MatcherSyntax,
    /// The begin and the end of each round of a task that watches files.
    pub(crate) background: Option<BackgroundPattern>,
    pub(crate) unit: ColumnUnit,
}

/// The base of printed paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileLocation {
    Absolute,
    /// Relative to a folder of the project; `None` is the folder of the task.
    Relative(Option<String>),
    /// Relative to the folder of the task or one above it, up to the project.
    AutoDetect,
}

/// The form of problems in the output.
#[derive(Clone, Debug)]
pub(crate) enum MatcherSyntax {
    /// Patterns of consecutive lines.
    Lines(Arc<[LinePattern]>),
    /// Stacks of calls of Python.
    PythonTraceback,
    /// Failures of pytest.
    Pytest,
}

/// The pattern of a line.
#[derive(Clone, Debug)]
pub(crate) struct LinePattern {
    pub(crate) regex: Regex,
    pub(crate) groups: PatternGroups,
    /// Whether further lines with this pattern are further problems. Only the last pattern may do that.
    pub(crate) repeats: bool,
}

/// The groups of a pattern that hold the parts of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatternGroups {
    pub(crate) file: Option<usize>,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
    pub(crate) end_line: Option<usize>,
    pub(crate) end_column: Option<usize>,
    /// A place such as `3`, `3,4` or `3,4,5,6`.
    pub(crate) location: Option<usize>,
    pub(crate) severity: Option<usize>,
    pub(crate) code: Option<usize>,
    pub(crate) message: Option<usize>,
}

/// The lines at which a round of a task that watches files begins and ends.
#[derive(Clone, Debug)]
pub(crate) struct BackgroundPattern {
    pub(crate) begins: Option<Regex>,
    pub(crate) ends: Option<Regex>,
}

/// Compiles the pattern of a file, written for JavaScript. Returns a sentence about an invalid one.
pub(crate) fn compile(pattern: &str) -> Result<Regex, PatternSyntaxError> {
    if pattern.len() > MAX_PATTERN_TEXT {
        let reason = format!("it has more than {MAX_PATTERN_TEXT} bytes");
        return Err(PatternSyntaxError(reason));
    }
    let built = RegexBuilder::new(&translated(pattern))
        .nest_limit(MAX_NESTING)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_PATTERN)
        .build();
    built.map_err(|error| {
        let text = error.to_string();
        let reason = text.lines().next_back().unwrap_or_default().trim();
        PatternSyntaxError(reason.trim_start_matches("error: ").to_owned())
    })
}

/// A regular expression that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the regular expression cannot be used: {0}")]
pub(crate) struct PatternSyntaxError(String);

/// Escapes the characters that have no meaning in a class of JavaScript, but have one here.
fn translated(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let (mut is_class, mut is_escaped) = (false, false);
    for letter in pattern.chars() {
        if !is_escaped && is_class && matches!(letter, '[' | '&' | '~') {
            text.push('\\');
        }
        if !is_escaped {
            match letter {
                '[' => is_class = true,
                ']' => is_class = false,
                _ => {}
            }
        }
        is_escaped = letter == '\\' && !is_escaped;
        text.push(letter);
    }
    text
}

/// The state of a matcher with patterns of lines.
#[derive(Debug)]
pub(crate) struct PatternMatcher {
    patterns: Arc<[LinePattern]>,
    /// The lines that matched the first patterns.
    lines: Vec<String>,
    partial: PartialProblem,
    /// Whether the last pattern matched and repeats.
    is_repeating: bool,
}

/// The parts of a problem that are known.
#[derive(Clone, Debug, Default)]
struct PartialProblem {
    file: Option<String>,
    start: Option<ProblemPosition>,
    end: Option<ProblemPosition>,
    severity: Option<ProblemSeverity>,
    code: Option<String>,
    message: Option<String>,
}

impl PatternMatcher {
    /// Creates the state before the first line.
    pub(crate) fn new(patterns: Arc<[LinePattern]>) -> Self {
        Self {
            patterns,
            lines: Vec::new(),
            partial: PartialProblem::default(),
            is_repeating: false,
        }
    }

    /// Takes a line and appends the problems that it completes.
    pub(crate) fn feed(&mut self, line: &str, found: &mut Vec<RawProblem>) {
        // A line that does not continue the earlier ones may begin anew, also from the second of them.
        let mut waiting = VecDeque::from([line.to_owned()]);
        let patterns = Arc::clone(&self.patterns);
        while let Some(line) = waiting.pop_front() {
            if self.is_repeating && self.repeat(&line, found) {
                continue;
            }
            let at = self.lines.len();
            let pattern = patterns.get(at).filter(|it| self.take(it, &line));
            match pattern {
                Some(pattern) if at + 1 == patterns.len() => self.complete(pattern.repeats, found),
                Some(_) => self.lines.push(line),
                None if at == 0 => {}
                None => {
                    let lines = std::mem::take(&mut self.lines);
                    self.partial = PartialProblem::default();
                    waiting.push_front(line);
                    for earlier in lines.into_iter().skip(1).rev() {
                        waiting.push_front(earlier);
                    }
                }
            }
        }
    }

    /// Adds the parts of a problem in a line; returns false if the pattern does not match.
    fn take(&mut self, pattern: &LinePattern, line: &str) -> bool {
        let Some(captures) = pattern.regex.captures(line) else {
            return false;
        };
        self.partial.add(&pattern.groups, &captures);
        true
    }

    /// Takes a further line with the last pattern. Returns false if it has another form.
    fn repeat(&mut self, line: &str, found: &mut Vec<RawProblem>) -> bool {
        let Some(pattern) = self.patterns.last() else {
            return false;
        };
        if let Some(captures) = pattern.regex.captures(line) {
            let mut problem = self.partial.clone();
            problem.add(&pattern.groups, &captures);
            found.extend(problem.into_problem());
            return true;
        }
        self.is_repeating = false;
        self.partial = PartialProblem::default();
        false
    }

    fn complete(&mut self, repeats: bool, found: &mut Vec<RawProblem>) {
        let problem = std::mem::take(&mut self.partial);
        found.extend(problem.into_problem());
        let lines = std::mem::take(&mut self.lines);
        self.is_repeating = repeats;
        if repeats {
            // What the lines before the last one say holds for all further problems.
            for (line, pattern) in lines.iter().zip(self.patterns.iter()) {
                if let Some(captures) = pattern.regex.captures(line) {
                    self.partial.add(&pattern.groups, &captures);
                }
            }
        }
    }
}

impl PartialProblem {
    fn add(&mut self, groups: &PatternGroups, captures: &Captures<'_>) {
        let text = |group: Option<usize>| {
            let text = captures.get(group?)?.as_str().trim();
            (!text.is_empty()).then_some(text)
        };
        if let Some(file) = text(groups.file) {
            self.file = Some(file.to_owned());
        }
        if let Some(place) = text(groups.location).and_then(Location::parse) {
            (self.start, self.end) = (Some(place.start), place.end);
        }
        if let Some(line) = text(groups.line).and_then(zero_based) {
            let column = text(groups.column).and_then(zero_based);
            self.start = Some(ProblemPosition { line, column });
            let end_line = text(groups.end_line).and_then(zero_based);
            let end_column = text(groups.end_column).and_then(zero_based);
            self.end = end_column.map(|column| ProblemPosition {
                line: end_line.unwrap_or(line),
                column: Some(column),
            });
        }
        if let Some(severity) = text(groups.severity).and_then(ProblemSeverity::parse) {
            self.severity = Some(severity);
        }
        if let Some(code) = text(groups.code) {
            self.code = Some(code.to_owned());
        }
        if let Some(message) = text(groups.message) {
            self.message = Some(match self.message.take() {
                Some(before) => format!("{before}\n{message}"),
                None => message.to_owned(),
            });
        }
    }

    /// Returns the problem; `None` without a file. Without a line, it is about the whole file.
    fn into_problem(self) -> Option<RawProblem> {
        let start = self.start.unwrap_or(ProblemPosition {
            line: 0,
            column: None,
        });
        Some(RawProblem {
            places: vec![RawPlace {
                file: self.file?,
                start,
                end: self.end,
            }],
            severity: self.severity,
            message: self.message.unwrap_or_default(),
            code: self.code,
        })
    }
}

/// A place in one group.
struct Location {
    start: ProblemPosition,
    end: Option<ProblemPosition>,
}

impl Location {
    fn parse(text: &str) -> Option<Self> {
        let numbers: Option<Vec<u32>> = text.split(',').map(zero_based).collect();
        let at = |line, column| ProblemPosition { line, column };
        let (start, end) = match numbers?[..] {
            [line] => (at(line, None), None),
            [line, column] => (at(line, Some(column)), None),
            [line, column, end_line, end_column] => {
                (at(line, Some(column)), Some(at(end_line, Some(end_column))))
            }
            _ => return None,
        };
        Some(Self { start, end })
    }
}

/// Parses a number that counts from 1.
fn zero_based(text: &str) -> Option<u32> {
    let number: u32 = text.trim().parse().ok()?;
    Some(number.saturating_sub(1))
}

#[cfg(test)]
mod tests;
