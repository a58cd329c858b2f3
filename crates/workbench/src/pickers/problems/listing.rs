//! Problems in the order of their list, and their texts.
//!
//! Pure. Start at `ordered` and `matching`.

use std::collections::HashMap;

use base::{AbsPath, LineFeeds, Point, Row, Span, printable};
use editor::{DiagnosticCounts, PlacedDiagnostic};
use lsp::{DiagnosticSeverity, UnopenedDiagnostic};

use crate::folder_diagnostics::phrase;
use crate::open_options::GoToPosition;

/// Maximum number of problems in a prompt.
const MAX_PROMPTED: usize = 100;
/// Maximum length of a message in a prompt, in bytes.
const MAX_MESSAGE: usize = 1_000;

/// A problem with its place.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) path: AbsPath,
    pub(crate) position: GoToPosition,
    pub(crate) row: Row,
    pub(crate) severity: DiagnosticSeverity,
    /// The column, counted from 0.
    column: u32,
    /// The path for display.
    name: String,
    message: String,
    code: Option<String>,
    source: Option<String>,
    /// The texts in which words are searched, in lower case.
    searched: String,
}

/// The severities that a query lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProblemScope {
    /// Errors, warnings and remarks.
    #[default]
    Serious,
    /// Errors only: prefix `!`.
    Errors,
    /// Hints as well: prefix `*`.
    All,
}

impl ProblemScope {
    /// Splits the sign of a scope off a query; returns the rest without blanks around it.
    pub(crate) fn parse(query: &str) -> (Self, &str) {
        let query = query.trim_start();
        for (scope, sign) in [(Self::Errors, '!'), (Self::All, '*')] {
            if let Some(rest) = query.strip_prefix(sign) {
                return (scope, rest.trim());
            }
        }
        (Self::Serious, query.trim())
    }

    /// Returns the same query with the sign of the next scope.
    pub(crate) fn next(query: &str) -> String {
        let (scope, rest) = Self::parse(query);
        let sign = match scope {
            Self::Serious => "!",
            Self::Errors => "*",
            Self::All => "",
        };
        format!("{sign}{rest}")
    }

    fn includes(self, severity: DiagnosticSeverity) -> bool {
        match self {
            Self::Serious => severity != DiagnosticSeverity::Hint,
            Self::Errors => severity == DiagnosticSeverity::Error,
            Self::All => true,
        }
    }
}

impl Problem {
    /// Creates the problem of a diagnostic in the open file `path`, which is displayed as `name`.
    pub(crate) fn placed(
        path: &AbsPath,
        name: &str,
        start: Point,
        placed: &PlacedDiagnostic,
    ) -> Self {
        let diagnostic = &placed.diagnostic;
        Self {
            path: path.clone(),
            position: GoToPosition::Span(Span::at(placed.span.start)),
            row: start.row,
            column: start.column.0,
            severity: diagnostic.severity,
            name: name.to_owned(),
            message: diagnostic.message.clone(),
            code: diagnostic.code.clone(),
            source: diagnostic.source.clone(),
            searched: String::new(),
        }
        .with_searched()
    }

    /// Creates the problem of a diagnostic in a file that is not open.
    pub(crate) fn closed(path: &AbsPath, name: &str, item: &UnopenedDiagnostic) -> Self {
        Self {
            path: path.clone(),
            position: GoToPosition::StartOf(item.range),
            row: item.range.row(),
            column: item.range.column(),
            severity: item.severity,
            name: name.to_owned(),
            message: item.message.clone(),
            code: item.code.clone(),
            source: item.source.clone(),
            searched: String::new(),
        }
        .with_searched()
    }

    fn with_searched(mut self) -> Self {
        self.message = printable(self.message.trim(), LineFeeds::Keep).into_owned();
        for text in [&mut self.code, &mut self.source].into_iter().flatten() {
            *text = printable(text, LineFeeds::Escape).into_owned();
        }
        let searched = format!("{} {} {}", self.first_line(), self.place(), self.origin());
        self.searched = searched.to_lowercase();
        self
    }

    /// Returns the first line of the message.
    pub(crate) fn first_line(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// Returns the tool and the code, as far as they are known.
    pub(crate) fn origin(&self) -> String {
        let parts = [self.source.as_deref(), self.code.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Returns the problem as one text, such as `src/a.rs:3: error: mismatched types (rustc E0308)`.
    pub(crate) fn line(&self) -> String {
        self.line_at(&self.place())
    }

    /// Returns the same text with the column, shortened to a length for prompts.
    pub(crate) fn prompt_line(&self) -> String {
        let mut line = self.line_at(&format!("{}:{}", self.place(), self.column + 1));
        line.truncate(line.floor_char_boundary(MAX_MESSAGE));
        line
    }

    fn line_at(&self, place: &str) -> String {
        let severity = match self.severity {
            DiagnosticSeverity::Error => "error",
            DiagnosticSeverity::Warning => "warning",
            DiagnosticSeverity::Information => "information",
            DiagnosticSeverity::Hint => "hint",
        };
        let text = format!("{place}: {severity}: {}", self.message);
        match self.origin().as_str() {
            "" => text,
            origin => format!("{text} ({origin})"),
        }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.name, self.row.0 + 1)
    }
}

/// Sorts problems by file, the files with the worst problems first, and in a file by severity and row.
pub(crate) fn ordered(problems: Vec<Problem>) -> Vec<Problem> {
    let mut worst = HashMap::<AbsPath, DiagnosticSeverity>::new();
    for problem in &problems {
        let worst = worst.entry(problem.path.clone());
        let worst = worst.or_insert(problem.severity);
        *worst = problem.severity.min(*worst);
    }
    let worst_of = |problem: &Problem| worst.get(&problem.path).copied();
    let mut ranked: Vec<_> = problems.into_iter().map(|it| (worst_of(&it), it)).collect();
    ranked.sort_by(|(worst_a, a), (worst_b, b)| {
        let file = (worst_a, &a.path).cmp(&(worst_b, &b.path));
        file.then_with(|| (a.severity, a.row).cmp(&(b.severity, b.row)))
    });
    ranked.into_iter().map(|(_, problem)| problem).collect()
}

/// Returns the indices of the problems that contain every word of a query, ignoring case.
pub(crate) fn matching(problems: &[Problem], scope: ProblemScope, query: &str) -> Vec<usize> {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let all = problems.iter().enumerate();
    all.filter(|(_, problem)| {
        let has = |word: &&str| problem.searched.contains(*word);
        scope.includes(problem.severity) && words.iter().all(has)
    })
    .map(|(ix, _)| ix)
    .collect()
}

/// Returns the headings of the listed problems, a file each, with the row that each precedes.
pub(crate) fn sections(problems: &[Problem], listed: &[usize]) -> Vec<(usize, String)> {
    let listed: Vec<&Problem> = listed.iter().filter_map(|ix| problems.get(*ix)).collect();
    let mut sections = Vec::new();
    let mut row = 0;
    for file in listed.chunk_by(|a, b| a.path == b.path) {
        let count = |severity| file.iter().filter(|it| it.severity == severity).count();
        let counts = DiagnosticCounts {
            errors: count(DiagnosticSeverity::Error),
            warnings: count(DiagnosticSeverity::Warning),
        };
        let title = match (file.first(), phrase(counts).as_str()) {
            (None, _) => continue,
            (Some(first), "") => first.name.clone(),
            (Some(first), counts) => format!("{}, {counts}", first.name),
        };
        sections.push((row, title));
        row += file.len();
    }
    sections
}

/// Returns a prompt that asks an agent to fix problems.
pub(crate) fn prompt<'a>(problems: impl Iterator<Item = &'a Problem>) -> String {
    let problems: Vec<&Problem> = problems.collect();
    let mut lines = vec![match problems.len() {
        1 => "Fix this problem:".to_owned(),
        _ => "Fix these problems:".to_owned(),
    }];
    lines.push(String::new());
    lines.extend(problems.iter().take(MAX_PROMPTED).map(|problem| {
        let line = problem.line();
        let cut = &line[..line.floor_char_boundary(MAX_MESSAGE)];
        format!("- {}", cut.replace('\n', "\n  "))
    }));
    let rest = problems.len().saturating_sub(MAX_PROMPTED);
    if rest > 0 {
        lines.push(format!("- and {rest} more"));
    }
    lines.join("\n")
}

/// Returns whether keys go to a problem of this severity: not to hints, which explain other problems.
pub(crate) fn is_visited(severity: DiagnosticSeverity) -> bool {
    severity != DiagnosticSeverity::Hint
}

#[cfg(test)]
mod tests;
