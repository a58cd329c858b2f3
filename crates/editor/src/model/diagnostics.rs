//! Diagnostics of language servers and tasks: their spans follow every edit until there are new ones.
//!
//! Invariant: an edit costs the same however many diagnostics there are.

use std::sync::Arc;

use base::{Bias, ByteOffset, Revision, Span};
use gpui_kit::Context;
use lsp::{Diagnostic, DiagnosticSeverity};
use text::{Change, PlacedMark, SpanMark, SpanSet};

use super::{DocumentModel, ModelEvent};

/// Number of diagnostics of each of the two highest severities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiagnosticCounts {
    /// Number of errors.
    pub errors: usize,
    /// Number of warnings.
    pub warnings: usize,
}

/// The diagnostics of a document, placed in its text.
#[derive(Default)]
pub struct DiagnosticSet {
    spans: SpanSet<DiagnosticMark>,
    counts: DiagnosticCounts,
}

/// A diagnostic whose span follows the text; its own span is that of the report.
#[derive(Clone, Debug)]
struct DiagnosticMark {
    rank: usize,
    diagnostic: Arc<Diagnostic>,
}

impl SpanMark for DiagnosticMark {
    type Rank = usize;
    const STAYS_EMPTY: bool = true;

    fn rank(&self) -> usize {
        self.rank
    }

    fn biases(&self) -> (Bias, Bias) {
        // Text typed at its edges is not part of it.
        (Bias::Right, Bias::Left)
    }
}

/// A diagnostic at its present place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedDiagnostic {
    /// The present span.
    pub span: Span,
    /// The diagnostic; its span is the one that was reported.
    pub diagnostic: Arc<Diagnostic>,
}

impl DiagnosticSet {
    /// Places diagnostics at their spans. The time grows with their number, so call it in the background.
    pub fn new(mut items: Vec<Diagnostic>) -> Self {
        items.sort_by_key(|item| (item.span, item.severity));
        let count = |severity| {
            items
                .iter()
                .filter(|item| item.severity == severity)
                .count()
        };
        let counts = DiagnosticCounts {
            errors: count(DiagnosticSeverity::Error),
            warnings: count(DiagnosticSeverity::Warning),
        };
        let marks = items
            .into_iter()
            .enumerate()
            .map(|(rank, item)| PlacedMark {
                span: item.span,
                mark: DiagnosticMark {
                    rank,
                    diagnostic: Arc::new(item),
                },
            });
        let mut spans = SpanSet::new();
        spans.insert(marks.collect());
        Self { spans, counts }
    }

    pub(super) fn map(&mut self, change: &Change) {
        self.spans.map(change);
    }
}

impl From<PlacedMark<DiagnosticMark>> for PlacedDiagnostic {
    fn from(placed: PlacedMark<DiagnosticMark>) -> Self {
        Self {
            span: placed.span,
            diagnostic: placed.mark.diagnostic,
        }
    }
}

impl DocumentModel {
    /// Replaces the diagnostics of language servers. Their spans belong to the text of `revision`; if its edits since then
    /// are no longer known, nothing changes, and the servers report about the present text soon.
    pub fn set_diagnostics(
        &mut self,
        revision: Revision,
        diagnostics: DiagnosticSet,
        cx: &mut Context<Self>,
    ) {
        if let Some(placed) = self.placed(revision, diagnostics, &self.diagnostics) {
            self.diagnostics = placed;
            cx.emit(ModelEvent::DiagnosticsUpdated);
            cx.notify();
        }
    }

    /// Replaces the diagnostics that tasks found, which are shown beside those of language servers.
    pub fn set_task_diagnostics(
        &mut self,
        revision: Revision,
        diagnostics: DiagnosticSet,
        cx: &mut Context<Self>,
    ) {
        if let Some(placed) = self.placed(revision, diagnostics, &self.task_diagnostics) {
            self.task_diagnostics = placed;
            cx.emit(ModelEvent::DiagnosticsUpdated);
            cx.notify();
        }
    }

    /// Moves diagnostics of a revision to their present places; `None` if nothing is to change.
    fn placed(
        &self,
        revision: Revision,
        mut diagnostics: DiagnosticSet,
        before: &DiagnosticSet,
    ) -> Option<DiagnosticSet> {
        let since = self.document.buffer().changes_since(revision)?;
        if diagnostics.spans.is_empty() && before.spans.is_empty() {
            return None;
        }
        diagnostics.map(&since);
        Some(diagnostics)
    }

    /// Returns the number of errors and warnings.
    pub fn diagnostic_counts(&self) -> DiagnosticCounts {
        let (servers, tasks) = (self.diagnostics.counts, self.task_diagnostics.counts);
        DiagnosticCounts {
            errors: servers.errors + tasks.errors,
            warnings: servers.warnings + tasks.warnings,
        }
    }

    /// Returns the diagnostics that touch a span, sorted by their starts.
    pub fn diagnostics_in(&self, span: Span) -> Vec<PlacedDiagnostic> {
        let servers = self.diagnostics.spans.touching(span).into_iter();
        let tasks = self.task_diagnostics.spans.touching(span).into_iter();
        let mut found: Vec<PlacedDiagnostic> =
            servers.chain(tasks).map(PlacedDiagnostic::from).collect();
        found.sort_by_key(|placed| placed.span.start);
        found
    }

    /// Iterates over the diagnostics that start at or after an offset, sorted by their starts.
    pub fn diagnostics_from(
        &self,
        offset: ByteOffset,
    ) -> impl Iterator<Item = PlacedDiagnostic> + '_ {
        let mut servers = self.diagnostics.spans.from(offset.0).peekable();
        let mut tasks = self.task_diagnostics.spans.from(offset.0).peekable();
        std::iter::from_fn(move || {
            let is_of_task = match (servers.peek(), tasks.peek()) {
                (Some(server), Some(task)) => task.span.start < server.span.start,
                (server, _) => server.is_none(),
            };
            let next = if is_of_task {
                tasks.next()
            } else {
                servers.next()
            };
            next.map(PlacedDiagnostic::from)
        })
    }

    /// Returns the diagnostics, sorted by their starts.
    pub fn diagnostics(&self) -> impl Iterator<Item = PlacedDiagnostic> + '_ {
        self.diagnostics_from(ByteOffset(0))
    }
}
