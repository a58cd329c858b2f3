//! Diagnostics of language servers, tasks and tests: their spans follow every edit until there is a new report.
//!
//! Invariant: an edit costs the same however many diagnostics there are.
//! Invariant: a problem that a task and a server report is there once, with the server's report.

use std::collections::HashSet;
use std::sync::Arc;

use base::{Bias, ByteOffset, Revision, Row, Span};
use gpui_kit::Context;
use lsp::{Diagnostic, DiagnosticSeverity};
use text::{Change, PlacedMark, Snapshot, SpanMark, SpanSet};

use super::{DocumentModel, ModelEvent};

/// The origin of diagnostics. A new report replaces those of its origin only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagnosticOrigin {
    /// Language servers.
    Servers,
    /// The output of tasks.
    Tasks,
    /// Failures of tests.
    Tests,
}

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

/// The diagnostics of a document by their origins.
#[derive(Default)]
pub(super) struct DocumentDiagnostics {
    /// By `DiagnosticOrigin`.
    sets: [DiagnosticSet; 3],
    /// Diagnostics of tasks that are hidden, because servers report them as well.
    repeated: DiagnosticSet,
    /// Number of reports so far.
    reports: u64,
}

impl DocumentDiagnostics {
    pub(super) fn map(&mut self, change: &Change) {
        for set in self.sets.iter_mut().chain([&mut self.repeated]) {
            set.map(change);
        }
    }

    /// Returns whether there is no diagnostic of an origin, hidden ones included.
    fn is_empty(&self, origin: DiagnosticOrigin) -> bool {
        let is_repeating = origin == DiagnosticOrigin::Tasks && !self.repeated.spans.is_empty();
        self.sets[origin as usize].spans.is_empty() && !is_repeating
    }

    /// Replaces the diagnostics of an origin in a text.
    fn replace(&mut self, origin: DiagnosticOrigin, diagnostics: DiagnosticSet, text: &Snapshot) {
        self.reports += 1;
        self.sets[origin as usize] = diagnostics;
        match origin {
            DiagnosticOrigin::Servers => self.hide_repeated(text),
            DiagnosticOrigin::Tasks => {
                self.repeated = DiagnosticSet::default();
                self.hide_repeated(text);
            }
            DiagnosticOrigin::Tests => {}
        }
    }

    /// Hides the diagnostics of tasks that servers report in the same row, and shows those that they no longer report.
    /// Hints of servers hide nothing: lists omit them. Takes time proportional to the number of both.
    fn hide_repeated(&mut self, text: &Snapshot) {
        let Self { sets, repeated, .. } = self;
        let [servers, tasks, _] = sets;
        let is_alone = servers.spans.is_empty() && repeated.spans.is_empty();
        if is_alone || tasks.spans.is_empty() && repeated.spans.is_empty() {
            return;
        }
        let key = |placed: &PlacedMark<DiagnosticMark>| -> (Row, String) {
            let row = text.point_at(placed.span.start).row;
            (row, placed.mark.diagnostic.headline())
        };
        let reported = servers.spans.from(0);
        let reported: HashSet<(Row, String)> = reported
            .filter(|placed| placed.mark.diagnostic.severity != DiagnosticSeverity::Hint)
            .map(|placed| key(&placed))
            .collect();
        let found = tasks.spans.from(0).chain(repeated.spans.from(0));
        let (hidden, shown): (Vec<_>, Vec<_>) =
            found.partition(|placed| reported.contains(&key(placed)));
        *tasks = DiagnosticSet::of_marks(shown);
        *repeated = DiagnosticSet::of_marks(hidden);
    }
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
        Self::of_marks(marks.collect())
    }

    fn of_marks(marks: Vec<PlacedMark<DiagnosticMark>>) -> Self {
        let count = |severity| {
            let marks = marks.iter();
            marks
                .filter(|placed| placed.mark.diagnostic.severity == severity)
                .count()
        };
        let counts = DiagnosticCounts {
            errors: count(DiagnosticSeverity::Error),
            warnings: count(DiagnosticSeverity::Warning),
        };
        let mut spans = SpanSet::new();
        spans.insert(marks);
        Self { spans, counts }
    }

    fn map(&mut self, change: &Change) {
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
    /// Replaces the diagnostics of an origin. Their spans belong to the text of `revision`; if its edits since then are no
    /// longer known, nothing changes: language servers report about the present text soon.
    pub fn set_diagnostics(
        &mut self,
        origin: DiagnosticOrigin,
        revision: Revision,
        mut diagnostics: DiagnosticSet,
        cx: &mut Context<Self>,
    ) {
        let Some(since) = self.document.buffer().changes_since(revision) else {
            return;
        };
        if diagnostics.spans.is_empty() && self.diagnostics.is_empty(origin) {
            return;
        }
        diagnostics.map(&since);
        let text = self.snapshot();
        self.diagnostics.replace(origin, diagnostics, &text);
        cx.emit(ModelEvent::DiagnosticsUpdated);
        cx.notify();
    }

    /// Returns the number of the last report: diagnostics with the same number differ only by edits.
    pub(crate) fn diagnostic_report(&self) -> u64 {
        self.diagnostics.reports
    }

    /// Returns the number of errors and warnings, those that are listed once counted once.
    pub fn diagnostic_counts(&self) -> DiagnosticCounts {
        let mut counts = DiagnosticCounts::default();
        for set in &self.diagnostics.sets {
            counts.errors += set.counts.errors;
            counts.warnings += set.counts.warnings;
        }
        counts
    }

    /// Returns the diagnostics that touch a span, sorted by their starts.
    pub fn diagnostics_in(&self, span: Span) -> Vec<PlacedDiagnostic> {
        let sets = self.diagnostics.sets.iter();
        let found = sets.flat_map(|set| set.spans.touching(span));
        let mut found: Vec<_> = found.map(PlacedDiagnostic::from).collect();
        found.sort_by_key(|placed| placed.span.start);
        found
    }

    /// Iterates over the diagnostics that start at or after an offset, sorted by their starts.
    pub fn diagnostics_from(
        &self,
        offset: ByteOffset,
    ) -> impl Iterator<Item = PlacedDiagnostic> + '_ {
        let sets = self.diagnostics.sets.each_ref();
        let mut sets = sets.map(|set| set.spans.from(offset.0).peekable());
        std::iter::from_fn(move || {
            let starts = sets.iter_mut().enumerate();
            let starts = starts.filter_map(|(at, set)| Some((set.peek()?.span.start, at)));
            let (_, first) = starts.min()?;
            sets[first].next().map(PlacedDiagnostic::from)
        })
    }

    /// Returns the diagnostics, sorted by their starts.
    pub fn diagnostics(&self) -> impl Iterator<Item = PlacedDiagnostic> + '_ {
        self.diagnostics_from(ByteOffset(0))
    }
}
