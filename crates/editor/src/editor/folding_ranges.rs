//! Folds that a source knows: all of them in a text without a syntax tree; beside a tree, those of
//! comments, imports and regions.
//!
//! Invariant: the spans follow the text; an answer about an older text is carried over the edits since.
//! Start at `ask`, which runs when the text rests and when something new may be known.

use std::ops::Range;
use std::rc::Rc;

use base::{Bias, Revision, Row, Span};
use gpui_kit::{AppContext as _, Context, Task};
use lsp::{FoldingKind, FoldingRange};
use text::{Change, PlacedMark, Snapshot, SpanMark, SpanSet};

use super::Editor;

/// A source of folds, such as a language server.
pub trait FoldingSource {
    /// Requests the folds of the snapshot, sorted by their starts. `None` if no server can answer now.
    /// Dropping the task cancels the request.
    fn folds(
        &self,
        snapshot: &Snapshot,
        cx: &mut Context<Editor>,
    ) -> Task<Option<Vec<FoldingRange>>>;
}

/// The folds of a view that its source knows, and the request for them.
#[derive(Default)]
pub(crate) struct FoldingRanges {
    source: Option<Rc<dyn FoldingSource>>,
    folds: SpanSet<FoldMark>,
    /// The text that the source has answered about last.
    answered: Option<Revision>,
    /// Number of answers, for what is computed from them.
    pub(crate) generation: u64,
    request: Option<Task<()>>,
}

/// A fold whose span follows the text.
#[derive(Clone, Debug)]
struct FoldMark {
    rank: usize,
    kind: Option<FoldingKind>,
}

impl SpanMark for FoldMark {
    type Rank = usize;
    const STAYS_EMPTY: bool = false;

    fn rank(&self) -> usize {
        self.rank
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

impl FoldingRanges {
    /// Returns whether the source knows no folds.
    pub(super) fn is_empty(&self) -> bool {
        self.folds.is_empty()
    }

    /// Moves the folds with a change.
    pub(crate) fn follow(&mut self, change: &Change) {
        self.folds.map(change);
    }

    /// Forgets the folds when the edits leading to the text are unknown.
    pub(crate) fn reset(&mut self) {
        self.folds = SpanSet::new();
        self.answered = None;
        self.generation += 1;
    }
}

/// Sets the source of folds. It is asked when the view gets the focus.
pub(super) fn set_source(editor: &mut Editor, source: Option<Rc<dyn FoldingSource>>) {
    let ranges = &mut editor.folding.ranges;
    ranges.reset();
    ranges.request = None;
    ranges.source = source;
}

/// Requests the folds of the present text, unless they are known or requested.
pub(crate) fn ask(editor: &mut Editor, cx: &mut Context<Editor>) {
    let revision = editor.snapshot.revision();
    let ranges = &mut editor.folding.ranges;
    let is_needed = ranges.answered != Some(revision) && ranges.request.is_none();
    let source = ranges.source.clone();
    let Some(source) = source.filter(|_| is_needed && editor.excerpts.is_none()) else {
        return;
    };
    let answer = source.folds(&editor.snapshot, cx);
    let request = cx.spawn(async move |this, cx| {
        let folds = match answer.await {
            Some(folds) => Some(cx.background_spawn(async move { placed(folds) }).await),
            None => None,
        };
        // The view may have been closed.
        this.update(cx, |editor, cx| take_answer(editor, revision, folds, cx))
            .ok();
    });
    editor.folding.ranges.request = Some(request);
}

fn placed(folds: Vec<FoldingRange>) -> SpanSet<FoldMark> {
    let folds = folds.into_iter().enumerate();
    let marks = folds.map(|(rank, fold)| PlacedMark {
        span: fold.span,
        mark: FoldMark {
            rank,
            kind: fold.kind,
        },
    });
    let mut set = SpanSet::new();
    set.insert(marks.collect());
    set
}

/// Uses the folds of an answer about `revision`.
fn take_answer(
    editor: &mut Editor,
    revision: Revision,
    folds: Option<SpanSet<FoldMark>>,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    editor.folding.ranges.request = None;
    let buffer = editor.model.read(cx).document().buffer();
    let (Some(mut folds), Some(since)) = (folds, buffer.changes_since(revision)) else {
        return;
    };
    folds.map(&since);
    let ranges = &mut editor.folding.ranges;
    ranges.folds = folds;
    ranges.answered = Some(revision);
    ranges.generation += 1;
    cx.notify();
}

/// Returns the fold of the source that starts in `row`, from the end of the row to the end of another.
pub(super) fn fold_at(editor: &Editor, row: Row, has_tree: bool) -> Option<Span> {
    folds_in(editor, row..row + 1, has_tree).into_iter().next()
}

/// Returns the folds of the source that start in `rows`, at most one for each row, in text order. With
/// a tree, only those of a kind that trees may not know.
pub(crate) fn folds_in(editor: &Editor, rows: Range<Row>, has_tree: bool) -> Vec<Span> {
    let snapshot = &editor.snapshot;
    let rows = rows.start..rows.end.min(snapshot.last_row() + 1);
    if rows.start >= rows.end || editor.folding.ranges.is_empty() {
        return Vec::new();
    }
    let span = Span::new(
        snapshot.row_start(rows.start),
        snapshot.row_end(rows.end - 1),
    );
    let placed = editor.folding.ranges.folds.touching(span).into_iter();
    let placed = placed.filter(|placed| placed.mark.kind.is_some() || !has_tree);
    // An edit may have moved an end into a row.
    let folds = placed.filter_map(|placed| {
        let first = snapshot.point_at(placed.span.start).row;
        let last = snapshot.point_at(placed.span.end).row;
        let is_fold = rows.contains(&first) && first < last;
        is_fold.then(|| Span::new(snapshot.row_end(first), snapshot.row_end(last)))
    });
    let mut folds: Vec<Span> = folds.collect();
    folds.sort_by_key(|fold| (fold.start, std::cmp::Reverse(fold.end)));
    folds.dedup_by_key(|fold| fold.start);
    folds
}
