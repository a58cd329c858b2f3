//! Failures of tests among the problems: at their lines in open texts, and for the list of problems.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{AbsPath, Row, Span};
use editor::{DiagnosticOrigin, DiagnosticSet, DocumentModel};
use gpui_kit::{Context, Entity};
use lsp::{Diagnostic, DiagnosticSeverity, DiagnosticTags, ServerRange, UnopenedDiagnostic};
use test_runner::TestFailure;
use text::Snapshot;

use super::session::{TestsEvent, WindowTests};
use crate::target::LineColumn;

/// The source of the problems.
const SOURCE: &str = "tests";
/// Maximum number of failures that are shown among the problems.
const MAX_FAILURES: usize = 1_000;

/// The failures as they are shown, by file.
pub(super) type ShownFailures = BTreeMap<AbsPath, Vec<ShownFailure>>;

/// A failure with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownFailure {
    /// Counted from 1.
    line: u32,
    /// Counted from 1.
    column: Option<u32>,
    message: String,
}

impl From<TestFailure<'_>> for ShownFailure {
    fn from(failure: TestFailure<'_>) -> Self {
        let name = failure.id.names.join(" \u{203a} ");
        let message = if failure.message.is_empty() {
            format!("{name} failed")
        } else {
            format!("{name}: {}", failure.message)
        };
        Self {
            line: failure.line,
            column: failure.column,
            message,
        }
    }
}

/// Returns the place of a failure.
pub(super) fn place_of(line: u32, column: Option<u32>) -> LineColumn {
    LineColumn::new(line, column.unwrap_or(1))
}

impl WindowTests {
    /// Shows the present failures. Files whose failures are the same as before keep their places, which follow edits.
    pub(super) fn show_failures(&mut self, cx: &mut Context<Self>) {
        let mut failures = ShownFailures::new();
        for failure in self.state.failures().take(MAX_FAILURES) {
            let file = failures.entry(failure.file.clone()).or_default();
            file.push(failure.into());
        }
        let before = std::mem::replace(&mut self.failures, failures);
        let files: BTreeSet<AbsPath> = before.keys().chain(self.failures.keys()).cloned().collect();
        let changed: Vec<AbsPath> = files
            .into_iter()
            .filter(|file| before.get(file) != self.failures.get(file))
            .collect();
        for file in &changed {
            for (model, _) in self.models_of(file, cx) {
                self.place_failures(&model, file, cx);
            }
        }
        if !changed.is_empty() {
            cx.emit(TestsEvent::FailuresChanged);
        }
    }

    /// Shows the failures in a text that was opened.
    pub(super) fn show_failures_in(&self, model: &Entity<DocumentModel>, cx: &mut Context<Self>) {
        let path = model.read(cx).path().cloned();
        if let Some(path) = path.filter(|path| self.failures.contains_key(path)) {
            self.place_failures(model, &path, cx);
            cx.emit(TestsEvent::FailuresChanged);
        }
    }

    fn place_failures(
        &self,
        model: &Entity<DocumentModel>,
        file: &AbsPath,
        cx: &mut Context<Self>,
    ) {
        let failures = self.failures.get(file).map(Vec::as_slice);
        let snapshot = model.read(cx).snapshot();
        let failures = failures.unwrap_or_default().iter();
        let items = failures.map(|failure| Diagnostic {
            span: span_of(failure, &snapshot),
            severity: DiagnosticSeverity::Error,
            message: failure.message.clone(),
            code: None,
            code_url: None,
            source: Some(SOURCE.to_owned()),
            tags: DiagnosticTags::default(),
            related: Vec::new(),
        });
        let set = DiagnosticSet::new(items.collect());
        let revision = snapshot.revision();
        model.update(cx, |model, cx| {
            model.set_diagnostics(DiagnosticOrigin::Tests, revision, set, cx)
        });
    }

    /// Returns the failures in files, for the list of problems.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&AbsPath, Arc<[UnopenedDiagnostic]>)> {
        self.failures.iter().map(|(file, failures)| {
            let items = failures.iter().map(|failure| UnopenedDiagnostic {
                range: ServerRange::at(
                    Row(failure.line.saturating_sub(1)),
                    failure.column.map_or(0, |column| column.saturating_sub(1)),
                ),
                severity: DiagnosticSeverity::Error,
                message: failure.message.clone(),
                code: None,
                source: Some(SOURCE.to_owned()),
            });
            let items: Arc<[UnopenedDiagnostic]> = items.collect();
            (file, items)
        })
    }
}

/// Returns the rest of the line from the place of a failure; from its first letter if the column is unknown.
fn span_of(failure: &ShownFailure, snapshot: &Snapshot) -> Span {
    let row = Row(failure.line.saturating_sub(1)).min(snapshot.last_row());
    let (start, end) = (snapshot.row_start(row), snapshot.row_end(row));
    let chars = snapshot.chars_at(start);
    let before: usize = match failure.column {
        Some(column) => {
            let count = usize::try_from(column.saturating_sub(1)).unwrap_or(0);
            chars.take(count).map(char::len_utf8).sum()
        }
        None => {
            let blanks = chars.take_while(|char| matches!(char, ' ' | '\t'));
            blanks.map(char::len_utf8).sum()
        }
    };
    let at = start + before;
    if at < end {
        Span::new(at, end)
    } else {
        Span::new(start, end)
    }
}
