//! Changes under review, shown in the text they made: a ground behind the rows that came, and room above them for what
//! went and for what can be done about it.
//!
//! Whoever shows them says which there are; here they only follow the text.

use base::{Row, Span};
use display::{BlockId, BlockSpec, Placement};
use gpui_kit::Context;
use text::{Change, RowSpan};

use super::{Editor, Reveal};
use crate::block_view::BlockView;

/// A change under review.
pub struct ReviewMark {
    /// The rows it brought; empty where it only took some away, at the row that follows them.
    pub rows: RowSpan,
    /// How much room `view` needs above them, in line heights.
    pub height: f32,
    /// What is drawn there.
    pub view: BlockView,
}

/// What is shown of a review.
#[derive(Default)]
pub(crate) struct Review {
    blocks: Vec<BlockId>,
    /// The rows that came, from the start of the first to the start of the one behind the last.
    pub(crate) grounds: Vec<Span>,
}

impl Review {
    pub(super) fn follow(&mut self, change: &Change) {
        for span in &mut self.grounds {
            *span = change.map_span(*span);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

impl Editor {
    /// Shows these changes instead of those before; they are in the order of the text.
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
            let start = self.snapshot.row_start(mark.rows.start.min(last));
            let end = match mark.rows.end > last {
                true => self.snapshot.row_end(last),
                false => self.snapshot.row_start(mark.rows.end),
            };
            self.review.grounds.push(Span::new(start, end.max(start)));
            let (row, placement) = match mark.rows.start > last {
                true => (last, Placement::Below),
                false => (mark.rows.start, Placement::Above),
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

    /// Which of the changes under review is at the newest caret: the one around it, else the next below, else the last.
    pub fn reviewed_at_caret(&mut self, cx: &mut Context<Self>) -> Option<usize> {
        let row = self.caret_point(cx).row;
        let end = |span: &Span| -> Row {
            let last = match span.is_empty() {
                true => span.start,
                // The start of the row behind the last belongs to no row of the change.
                false => self.snapshot.clip(span.end - 1, base::Bias::Left),
            };
            self.snapshot.point_at(last).row
        };
        let grounds = &self.review.grounds;
        let at = grounds.iter().position(|span| end(span) >= row);
        at.or(grounds.len().checked_sub(1))
    }

    /// Puts the caret at the first row of a change under review.
    pub fn go_to_reviewed(&mut self, index: usize, cx: &mut Context<Self>) {
        if let Some(span) = self.review.grounds.get(index) {
            self.go_to(span.start, Reveal::Center, cx);
        }
    }
}
