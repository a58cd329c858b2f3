//! Diagnostics as plain values, and the reports of a server about one document.
//!
//! Invariant: a report replaces the earlier report of its source alone, so that pushed and pulled
//! diagnostics do not erase each other.
//! Invariant: the spans of all reports refer to the latest text of the document; edits move them.

use base::{AbsPath, Row, Span};
use text::{Change, Snapshot};

use crate::range::ServerRange;

pub(crate) mod wire;

/// The diagnostics of an open document.
#[derive(Clone, Debug)]
pub struct DocumentDiagnostics {
    /// The text to which the spans refer: the latest that was passed on to the server.
    pub text: Snapshot,
    /// Whether the server's newest report is about `text`; false while it has not reported about
    /// the latest edits. A report without a version counts as one about the text at its arrival.
    pub is_current: bool,
    /// The diagnostics of all sources, sorted by their spans, without duplicates.
    pub items: Vec<Diagnostic>,
}

/// A problem that a server reports about a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The part of the text.
    pub span: Span,
    /// The severity; errors if the server gave none.
    pub severity: DiagnosticSeverity,
    /// The message as the server wrote it.
    pub message: String,
    /// The code of the problem, such as `E0308`.
    pub code: Option<String>,
    /// The address of a page about the code.
    pub code_url: Option<String>,
    /// The tool that found the problem, such as `rustc`.
    pub source: Option<String>,
    /// Additional properties.
    pub tags: DiagnosticTags,
    /// Other places that explain the problem.
    pub related: Vec<RelatedInformation>,
}

/// A problem that a server reports about a file that is not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnopenedDiagnostic {
    /// The part of the file, in the text that the server read.
    pub range: ServerRange,
    /// The severity; errors if the server gave none.
    pub severity: DiagnosticSeverity,
    /// The message as the server wrote it.
    pub message: String,
    /// The code of the problem, such as `E0308`.
    pub code: Option<String>,
    /// The tool that found the problem, such as `rustc`.
    pub source: Option<String>,
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiagnosticSeverity {
    /// The text is wrong.
    Error,
    /// The text is suspicious.
    Warning,
    /// A remark.
    Information,
    /// A proposal.
    Hint,
}

/// Additional properties of a diagnostic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiagnosticTags {
    /// The code has no effect.
    pub unnecessary: bool,
    /// The code uses something outdated.
    pub deprecated: bool,
}

/// A place that explains a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedInformation {
    /// The file; `None` if the address names no local file.
    pub path: Option<AbsPath>,
    /// The row in that file, as the server counts it.
    pub row: Row,
    /// The explanation as the server wrote it.
    pub message: String,
}

/// The way in which a report reached this client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReportSource {
    /// `textDocument/publishDiagnostics`.
    Push,
    /// The answer to `textDocument/diagnostic`, with the identifier of the provider.
    Pull(Option<String>),
}

/// A report of a server about one document.
#[derive(Clone, Debug)]
pub(crate) struct DiagnosticReport {
    /// Identifier with which the server recognises the report in the next pull.
    pub(crate) result_id: Option<String>,
    /// The version of the document that the report is about.
    pub(crate) version: i32,
    pub(crate) items: Vec<Diagnostic>,
    /// JSON text of each item, in the same order.
    pub(crate) sources: Vec<Box<str>>,
}

/// Diagnostics as they were read from one report.
#[derive(Debug, Default)]
pub(crate) struct ReadDiagnostics {
    pub(crate) items: Vec<Diagnostic>,
    /// JSON text of each item, in the same order.
    pub(crate) sources: Vec<Box<str>>,
}

/// The latest report of each source about one document.
#[derive(Debug, Default)]
pub(crate) struct DocumentReports {
    /// In the order of their arrival.
    reports: Vec<(ReportSource, DiagnosticReport)>,
}

impl Diagnostic {
    /// Returns the first line of the message, by which reports of several tools about one problem are recognised: with
    /// single blanks, and without a code at its end.
    pub fn headline(&self) -> String {
        headline(&self.message, self.code.as_deref())
    }
}

impl UnopenedDiagnostic {
    /// Returns the first line of the message, as `Diagnostic::headline` does.
    pub fn headline(&self) -> String {
        headline(&self.message, self.code.as_deref())
    }

    /// Creates the form of a diagnostic of `text` that outlives the text.
    pub(crate) fn of(item: &Diagnostic, text: &Snapshot) -> Self {
        Self {
            range: ServerRange::of(text, item.span),
            severity: item.severity,
            message: item.message.clone(),
            code: item.code.clone(),
            source: item.source.clone(),
        }
    }

    /// Reads the diagnostic from its JSON text `source` again and places it in `text`; `None` if its range lies beyond
    /// the text.
    pub(crate) fn place(&self, source: &str, text: &Snapshot) -> Option<Diagnostic> {
        let span = self.range.span(text)?;
        wire::read_at(source, span)
    }
}

impl DiagnosticReport {
    /// Returns the diagnostics with the JSON text of each.
    fn with_sources(&self) -> impl Iterator<Item = (&Diagnostic, &str)> {
        let sources = self.sources.iter().map(|source| &**source);
        self.items.iter().zip(sources)
    }
}

impl DocumentReports {
    /// Returns whether no source has reported.
    pub(crate) fn is_empty(&self) -> bool {
        self.reports.is_empty()
    }

    /// Returns the pushed diagnostics with the JSON text of each.
    pub(crate) fn pushed(&self) -> impl Iterator<Item = (&Diagnostic, &str)> {
        let pushed = self.reports.iter();
        let pushed = pushed.filter(|(source, _)| *source == ReportSource::Push);
        pushed.flat_map(|(_, report)| report.with_sources())
    }

    /// Replaces the report of a source.
    pub(crate) fn replace(&mut self, source: ReportSource, report: DiagnosticReport) {
        self.reports.retain(|(known, _)| *known != source);
        self.reports.push((source, report));
    }

    /// Confirms the report of a source for `version`; returns false if there is none.
    pub(crate) fn confirm(
        &mut self,
        source: &ReportSource,
        result_id: Option<String>,
        version: i32,
    ) -> bool {
        let known = self.reports.iter_mut().find(|(known, _)| known == source);
        let Some((_, report)) = known else {
            return false;
        };
        report.version = version;
        report.result_id = result_id.or(report.result_id.take());
        true
    }

    /// Returns the identifier of the latest report of a source.
    pub(crate) fn result_id(&self, source: &ReportSource) -> Option<&str> {
        let report = self.reports.iter().find(|(known, _)| known == source);
        report?.1.result_id.as_deref()
    }

    /// Moves every diagnostic along with an edit.
    pub(crate) fn apply(&mut self, change: &Change) {
        for (_, report) in &mut self.reports {
            for item in &mut report.items {
                item.span = change.map_span(item.span);
            }
        }
    }

    /// Returns the diagnostics of all sources with the JSON text of each.
    pub(crate) fn with_sources(&self) -> impl Iterator<Item = (&Diagnostic, &str)> {
        let reports = self.reports.iter();
        reports.flat_map(|(_, report)| report.with_sources())
    }

    /// Returns the diagnostics of all sources in `text`, which has `version`; `None` before the
    /// first report.
    pub(crate) fn diagnostics(&self, text: &Snapshot, version: i32) -> Option<DocumentDiagnostics> {
        let newest = self
            .reports
            .iter()
            .map(|(_, report)| report.version)
            .max()?;
        let items = self.reports.iter().flat_map(|(_, report)| &report.items);
        let mut items: Vec<Diagnostic> = items.cloned().collect();
        items.sort_by(|a, b| {
            (a.span, a.severity, &a.message, &a.code)
                .cmp(&(b.span, b.severity, &b.message, &b.code))
        });
        items.dedup();
        Some(DocumentDiagnostics {
            text: text.clone(),
            is_current: newest == version,
            items,
        })
    }
}

fn headline(message: &str, code: Option<&str>) -> String {
    let mut lines = message.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if words.len() > 1 && words.last().is_some_and(|last| is_code(last, code)) {
        words.pop();
    }
    words.join(" ")
}

/// Returns whether a word is a code as tools append it: `[E0308]`, `[-Wunused]`, `(2322)`, or `code` in parentheses.
fn is_code(word: &str, code: Option<&str>) -> bool {
    let within = |open: char, close: char| word.strip_prefix(open)?.strip_suffix(close);
    let in_parentheses = |inner: &str| {
        code == Some(inner) || !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit())
    };
    within('[', ']').is_some_and(|inner| !inner.is_empty())
        || within('(', ')').is_some_and(in_parentheses)
}

#[cfg(test)]
mod tests;
