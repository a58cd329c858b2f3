//! Marks in the gutter, such as the states of tests: each belongs to a span whose row shows it, and follows every edit.
//!
//! Invariant: an edit costs the same however many marks there are.

use base::{Bias, Revision, Span};
use gpui_kit::{Context, SharedString};
use text::{Change, PlacedMark, SpanMark, SpanSet};

use super::{DocumentModel, ModelEvent};

/// A mark in the gutter that can be clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GutterMark {
    /// The picture.
    pub icon: GutterIcon,
    /// The name for screen readers: the effect of a click, and the state.
    pub label: SharedString,
    /// The number with which a click is reported.
    pub key: usize,
}

/// Picture of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GutterIcon {
    /// Something that can be run, without a result.
    Run,
    /// It is running.
    Running,
    /// It succeeded.
    Passed,
    /// It failed.
    Failed,
    /// It was not run, or was skipped.
    Skipped,
}

/// The marks of a document.
#[derive(Default)]
pub(super) struct GutterMarks {
    spans: SpanSet<RankedMark>,
}

#[derive(Clone, Debug)]
struct RankedMark {
    rank: usize,
    mark: GutterMark,
}

impl SpanMark for RankedMark {
    type Rank = usize;
    const STAYS_EMPTY: bool = false;

    fn rank(&self) -> usize {
        self.rank
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

impl GutterMarks {
    pub(super) fn follow(&mut self, change: &Change) {
        self.spans.map(change);
    }
}

impl DocumentModel {
    /// Replaces the marks in the gutter. Their spans belong to the text of `revision`; if its edits since then are no longer
    /// known, nothing changes.
    pub fn set_gutter_marks(
        &mut self,
        revision: Revision,
        marks: Vec<(Span, GutterMark)>,
        cx: &mut Context<Self>,
    ) {
        let Some(since) = self.document.buffer().changes_since(revision) else {
            return;
        };
        if marks.is_empty() && self.gutter_marks.spans.is_empty() {
            return;
        }
        let marks = marks.into_iter().enumerate();
        let marks = marks.map(|(rank, (span, mark))| PlacedMark {
            span,
            mark: RankedMark { rank, mark },
        });
        let mut spans = SpanSet::new();
        spans.insert(marks.collect());
        spans.map(&since);
        self.gutter_marks = GutterMarks { spans };
        cx.emit(ModelEvent::GutterMarksUpdated);
        cx.notify();
    }

    /// Returns the marks whose spans touch a span, sorted by their starts.
    pub fn gutter_marks_in(&self, span: Span) -> Vec<(Span, GutterMark)> {
        let found = self.gutter_marks.spans.touching(span).into_iter();
        found
            .map(|placed| (placed.span, placed.mark.mark))
            .collect()
    }

    /// Returns whether there are marks, so that the gutter has a column for them.
    pub(crate) fn has_gutter_marks(&self) -> bool {
        !self.gutter_marks.spans.is_empty()
    }
}
