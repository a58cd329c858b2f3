//! Diagnostics of language servers and failures of tests: their spans follow every edit until there is a new report.
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
    /// Replaces the diagnostics. Their spans belong to the text of `revision`; if its edits since then are no longer
    /// known, nothing changes, and the servers report about the present text soon.
    pub fn set_diagnostics(
        &mut self,
        revision: Revision,
        mut diagnostics: DiagnosticSet,
        cx: &mut Context<Self>,
    ) {
        let Some(since) = self.document.buffer().changes_since(revision) else {
            return;
        };
        if diagnostics.spans.is_empty() && self.diagnostics.spans.is_empty() {
            return;
        }
        diagnostics.map(&since);
        self.diagnostics = diagnostics;
        cx.emit(ModelEvent::DiagnosticsUpdated);
        cx.notify();
    }

    /// Replaces the failures of tests, which are shown as diagnostics beside those of servers. Their spans belong to the
    /// text of `revision`; if its edits since then are no longer known, nothing changes.
    pub fn set_test_failures(
        &mut self,
        revision: Revision,
        mut failures: DiagnosticSet,
        cx: &mut Context<Self>,
    ) {
        let Some(since) = self.document.buffer().changes_since(revision) else {
            return;
        };
        if failures.spans.is_empty() && self.test_failures.spans.is_empty() {
            return;
        }
        failures.map(&since);
        self.test_failures = failures;
        cx.emit(ModelEvent::DiagnosticsUpdated);
        cx.notify();
    }

    /// Returns the number of errors and warnings.
    pub fn diagnostic_counts(&self) -> DiagnosticCounts {
        let (own, tests) = (self.diagnostics.counts, self.test_failures.counts);
        DiagnosticCounts {
            errors: own.errors + tests.errors,
            warnings: own.warnings + tests.warnings,
        }
    }

    /// Returns the diagnostics that touch a span, sorted by their starts.
    pub fn diagnostics_in(&self, span: Span) -> Vec<PlacedDiagnostic> {
        let found = self.diagnostics.spans.touching(span).into_iter();
        let mut found: Vec<_> = found.map(PlacedDiagnostic::from).collect();
        let failures = self.test_failures.spans.touching(span);
        if !failures.is_empty() {
            found.extend(failures.into_iter().map(PlacedDiagnostic::from));
            found.sort_by_key(|placed| placed.span.start);
        }
        found
    }

    /// Iterates over the diagnostics that start at or after an offset, sorted by their starts.
    pub fn diagnostics_from(
        &self,
        offset: ByteOffset,
    ) -> impl Iterator<Item = PlacedDiagnostic> + '_ {
        let failures = self.test_failures.spans.from(offset.0);
        let mut failures = failures.map(PlacedDiagnostic::from).peekable();
        let own = self.diagnostics.spans.from(offset.0);
        let mut own = own.map(PlacedDiagnostic::from).peekable();
        std::iter::from_fn(move || {
            let is_failure = match (own.peek(), failures.peek()) {
                (Some(next), Some(failure)) => failure.span.start < next.span.start,
                (Some(_), None) => false,
                (None, _) => true,
            };
            if is_failure {
                failures.next()
            } else {
                own.next()
            }
        })
    }

    /// Returns the diagnostics, sorted by their starts.
    pub fn diagnostics(&self) -> impl Iterator<Item = PlacedDiagnostic> + '_ {
        self.diagnostics_from(ByteOffset(0))
    }
}
