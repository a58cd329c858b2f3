//! Changes under review, shown inline: a background behind the added rows, and a block above them
//! for removed rows and actions.
//!
//! The caller provides the changes; this module only moves them with the text.

use base::{Row, Span};
use display::{BlockId, BlockSpec, Placement};
use gpui_kit::Context;
use text::{Change, RowSpan, Snapshot, SpanSet};

use super::changed_words::ChangedWord;
use super::{Editor, Reveal};
use crate::block_view::BlockView;
use crate::scroll::ScrollMargin;

/// A change under review, by an agent or in Git: its rows, and the view with buttons above them.
pub struct ReviewMark {
    /// The added rows; for a pure deletion, empty at the row that follows it.
    pub rows: RowSpan,
    /// Height of `view`, in line heights.
    pub height: f32,
    /// View in the block above the rows.
    pub view: BlockView,
    /// The rows of our and of their side of an open conflict, each with its marker line.
    pub sides: Option<[RowSpan; 2]>,
}

/// Blocks and backgrounds of a review.
#[derive(Default)]
pub(crate) struct ShownReview {
    blocks: Vec<BlockId>,
    /// The added rows, from the start of the first to the end of the last, line ending included.
    pub(crate) grounds: Vec<Span>,
    /// Our and their sides of open conflicts.
    pub(crate) sides: [Vec<Span>; 2],
    /// The rows among them that only moved.
    pub(crate) moved: Vec<Span>,
    /// The words within the rows that differ.
    pub(crate) words: SpanSet<ChangedWord>,
    /// Whether the text is the one before the changes, so that its rows are those that they removed.
    pub(crate) is_base: bool,
}

impl ShownReview {
    pub(super) fn follow(&mut self, change: &Change) {
        let sides = self.sides.iter_mut().flatten();
        let rows = self.grounds.iter_mut().chain(&mut self.moved);
        for span in rows.chain(sides) {
            *span = change.map_span(*span);
        }
        self.words.map(change);
    }

    /// Whether no change under review is shown.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.grounds.is_empty()
    }
}

/// Returns the span of rows, line endings included.
fn rows_span(snapshot: &Snapshot, rows: RowSpan) -> Span {
    let last = snapshot.last_row();
    let start = snapshot.row_start(rows.start.min(last));
    let end = if rows.end > last {
        snapshot.row_end(last)
    } else {
        snapshot.row_start(rows.end)
    };
    Span::new(start, end.max(start))
}

impl Editor {
    /// Shows these changes, given in text order, in place of the earlier ones. An empty list ends
    /// the review.
    pub fn set_review(&mut self, marks: Vec<ReviewMark>, cx: &mut Context<Self>) {
        self.sync(cx);
        let gone = std::mem::take(&mut self.review).blocks;
        for id in &gone {
            self.blocks.remove(id);
        }
        if !gone.is_empty() {
            self.change_map(cx, |map| map.remove_blocks(&gone));
        }
        let last = self.snapshot.last_row();
        for mark in marks {
            self.review
                .grounds
                .push(rows_span(&self.snapshot, mark.rows));
            for (ix, rows) in mark.sides.into_iter().flatten().enumerate() {
                self.review.sides[ix].push(rows_span(&self.snapshot, rows));
            }
            let (row, placement) = if mark.rows.start > last {
                (last, Placement::Below)
            } else {
                (mark.rows.start, Placement::Above)
            };
            let spec = BlockSpec {
                row,
                placement,
                height: mark.height,
                priority: 0,
            };
            let id = self.insert_block(spec, mark.view, cx);
            self.review.blocks.push(id);
        }
        cx.notify();
    }

    /// Returns the index of the change around the newest caret, or else of the next change below
    /// the caret, or else of the last change. Returns `None` if no change is under review.
    pub fn reviewed_at_caret(&mut self, cx: &mut Context<Self>) -> Option<usize> {
        let row = self.caret_point(cx).row;
        let end = |span: &Span| -> Row {
            let last = if span.is_empty() {
                span.start
            } else {
                // The start of the row after the change is not part of it.
                self.snapshot.clip(span.end - 1, base::Bias::Left)
            };
            self.snapshot.point_at(last).row
        };
        let grounds = &self.review.grounds;
        let at = grounds.iter().position(|span| end(span) >= row);
        at.or(grounds.len().checked_sub(1))
    }

    /// Moves the caret to the first row of the change with this index and centres that row, but shows the start of the
    /// block above it. Does nothing if the index is unknown.
    pub fn go_to_reviewed(&mut self, index: usize, cx: &mut Context<Self>) {
        if let Some(span) = self.review.grounds.get(index) {
            self.go_to(span.start, Reveal::Center, cx);
            self.follow = Some(ScrollMargin::CenterWithBlocks);
        }
    }
}

/// Shows the rows that changes under review removed, in a view of the text before them, in place of the earlier ones.
pub fn show_removed_rows(editor: &mut Editor, rows: &[RowSpan], cx: &mut Context<Editor>) {
    editor.set_review(Vec::new(), cx);
    let spans = rows.iter().map(|rows| rows_span(&editor.snapshot, *rows));
    editor.review.grounds = spans.collect();
    editor.review.is_base = true;
    cx.notify();
}

/// Shows a background of their own behind rows of the changes under review that only moved, given in text order. The next
/// `Editor::set_review` removes it.
pub fn show_moved_rows(editor: &mut Editor, rows: &[RowSpan], cx: &mut Context<Editor>) {
    editor.sync(cx);
    let spans = rows.iter().map(|rows| rows_span(&editor.snapshot, *rows));
    editor.review.moved = spans.collect();
    cx.notify();
}

/// Returns the present rows of the changes under review, in text order; empty for a pure deletion, at the row that follows
/// it.
pub fn reviewed_rows(editor: &mut Editor, cx: &mut Context<Editor>) -> Vec<RowSpan> {
    editor.sync(cx);
    let rows = editor.review.grounds.iter().map(|span| {
        let start = editor.snapshot.point_at(span.start).row;
        let end = editor.snapshot.point_at(span.end);
        // A change that ends within a row ends at the end of the text.
        let is_within = !span.is_empty() && end.column.0 > 0;
        RowSpan {
            start,
            end: Row(end.row.0 + u32::from(is_within)),
        }
    });
    rows.collect()
}
