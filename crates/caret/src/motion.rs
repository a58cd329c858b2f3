//! Motions of carets through the text.
//!
//! A motion maps one offset to another. Row motions use the display map, so that folds and soft
//! wrap are respected, and keep their starting column as goal.
//! Start at `Motion`.

pub(crate) mod horizontal;
pub(crate) mod vertical;

use base::{ByteOffset, Row};
use text::{Selection, SelectionSet};

use crate::brackets;
use crate::context::{CaretPlan, CommandContext};
use crate::words::{WordScanner, WordStops};

/// Declares the motions without data, with their names.
macro_rules! motions {
    ($($(#[$doc:meta])* $variant:ident, $slug:literal, $where:literal;)*) => {
        /// A motion of a caret: relative, such as a word to the right, or to a fixed place.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Motion {
            $($(#[$doc])* $variant,)*
            /// To an offset of the snapshot, clipped to a grapheme boundary.
            Offset(ByteOffset),
            /// To the first visible character of a row, clipped to the last row.
            Row(Row),
        }

        impl Motion {
            /// All motions without data, in palette order.
            pub const ALL: &[Motion] = &[$(Motion::$variant),*];

            // tidy: table
            pub(crate) fn move_name(&self) -> &'static str {
                match self {
                    $(Motion::$variant => concat!("move-", $slug),)*
                    Motion::Offset(_) => "move-to-offset",
                    Motion::Row(_) => "move-to-row",
                }
            }

            // tidy: table
            pub(crate) fn select_name(&self) -> &'static str {
                match self {
                    $(Motion::$variant => concat!("select-", $slug),)*
                    Motion::Offset(_) => "select-to-offset",
                    Motion::Row(_) => "select-to-row",
                }
            }

            // tidy: table
            pub(crate) fn delete_name(&self) -> &'static str {
                match self {
                    $(Motion::$variant => concat!("delete-", $slug),)*
                    Motion::Offset(_) => "delete-to-offset",
                    Motion::Row(_) => "delete-to-row",
                }
            }

            // tidy: table
            pub(crate) fn move_doc(&self) -> &'static str {
                match self {
                    $(Motion::$variant => concat!("Moves every caret ", $where, "."),)*
                    Motion::Offset(_) => "Moves to one place in the text.",
                    Motion::Row(_) => "Moves to the first character of one row.",
                }
            }

            // tidy: table
            pub(crate) fn select_doc(&self) -> &'static str {
                match self {
                    $(Motion::$variant => concat!("Extends every selection ", $where, "."),)*
                    Motion::Offset(_) => "Extends the newest selection to one place in the text.",
                    Motion::Row(_) => "Extends the newest selection to the first character of one row.",
                }
            }

            // tidy: table
            pub(crate) fn delete_doc(&self) -> &'static str {
                match self {
                    $(Motion::$variant => {
                        concat!("Deletes the selections, or the text from every caret ", $where, ".")
                    })*
                    Motion::Offset(_) => "Deletes up to one place in the text.",
                    Motion::Row(_) => "Deletes up to the first character of one row.",
                }
            }
        }
    };
}

motions! {
    /// One grapheme back; from the start of a row to the end of the previous row.
    Left, "left", "one character to the left";
    /// One grapheme forward, across row ends.
    Right, "right", "one character to the right";
    /// One display row up, keeping the goal column.
    Up, "up", "one row up";
    /// One display row down, keeping the goal column.
    Down, "down", "one row down";
    /// To the start of the previous word.
    WordLeft, "word-left", "one word to the left";
    /// To the end of the next word.
    WordRight, "word-right", "one word to the right";
    /// Like `WordLeft`, stopping inside camelCase and snake_case words too.
    SubwordLeft, "subword-left", "one part of a word to the left";
    /// Like `WordRight`, stopping inside camelCase and snake_case words too.
    SubwordRight, "subword-right", "one part of a word to the right";
    /// To the first character that is not blank, or from there to the start of the row.
    RowStart, "row-start", "to the start of its row";
    /// To the end of the row, before its line ending.
    RowEnd, "row-end", "to the end of its row";
    /// To the start of the display row, which is a part of a wrapped row; from there like
    /// `RowStart`.
    DisplayRowStart, "display-row-start", "to the start of its wrapped row";
    /// To the end of the display row; from there to the end of the row.
    DisplayRowEnd, "display-row-end", "to the end of its wrapped row";
    /// To the blank row before the paragraph.
    ParagraphUp, "paragraph-up", "to the start of the paragraph";
    /// To the blank row behind the paragraph.
    ParagraphDown, "paragraph-down", "to the end of the paragraph";
    /// One page of display rows up.
    PageUp, "page-up", "one page up";
    /// One page of display rows down.
    PageDown, "page-down", "one page down";
    /// Half a page of display rows up.
    HalfPageUp, "half-page-up", "half a page up";
    /// Half a page of display rows down.
    HalfPageDown, "half-page-down", "half a page down";
    /// To the start of the text.
    FileStart, "file-start", "to the start of the file";
    /// To the end of the text.
    FileEnd, "file-end", "to the end of the file";
    /// To the bracket that belongs to the one at the caret, or to the end of the brackets around it.
    MatchingBracket, "matching-bracket", "to the matching bracket";
}

/// Returns the target of a motion from `head`, and the goal cell for the row motions that follow.
/// `goal` is the goal cell of earlier row motions.
pub(crate) fn target(
    ctx: &CommandContext,
    motion: Motion,
    head: ByteOffset,
    goal: Option<u32>,
) -> (ByteOffset, Option<u32>) {
    let snapshot = ctx.snapshot;
    let offset = match motion {
        Motion::Up
        | Motion::Down
        | Motion::PageUp
        | Motion::PageDown
        | Motion::HalfPageUp
        | Motion::HalfPageDown => {
            let (offset, goal) = vertical::by_rows(ctx, motion, head, goal);
            return (skip_hidden(ctx, offset), Some(goal));
        }
        Motion::Left => skip_hidden(ctx, snapshot.previous_grapheme(head)),
        Motion::Right => skip_hidden_right(ctx, snapshot.next_grapheme(head)),
        Motion::WordLeft => WordScanner::of(ctx).previous(head, WordStops::Words),
        Motion::WordRight => WordScanner::of(ctx).next(head, WordStops::Words),
        Motion::SubwordLeft => WordScanner::of(ctx).previous(head, WordStops::Parts),
        Motion::SubwordRight => WordScanner::of(ctx).next(head, WordStops::Parts),
        Motion::RowStart => horizontal::row_start(ctx, head),
        Motion::RowEnd => snapshot.row_end(snapshot.point_at(head).row),
        Motion::DisplayRowStart => vertical::display_row_start(ctx, head),
        Motion::DisplayRowEnd => vertical::display_row_end(ctx, head),
        Motion::ParagraphUp => horizontal::paragraph_up(ctx, head),
        Motion::ParagraphDown => horizontal::paragraph_down(ctx, head),
        Motion::FileStart => ByteOffset(0),
        Motion::FileEnd => snapshot.len(),
        Motion::MatchingBracket => brackets::other_end(ctx, head),
        Motion::Offset(offset) => on_border(snapshot, offset),
        Motion::Row(row) => horizontal::first_non_blank(snapshot, row.min(snapshot.last_row())),
    };
    (offset, None)
}

/// Moves every caret. Motions to a fixed place leave a single caret; `Left` and `Right` collapse a
/// selection to its edge.
pub(crate) fn move_carets(ctx: &CommandContext, motion: Motion) -> CaretPlan {
    if is_absolute(motion) {
        let (offset, _) = target(ctx, motion, ctx.selections.primary().head, None);
        return CaretPlan::select(SelectionSet::single(Selection::caret(offset)));
    }
    CaretPlan::select(ctx.selections.transform(|selection| {
        let from = match motion {
            Motion::Left if !selection.is_empty() => return Selection::caret(selection.start()),
            Motion::Right if !selection.is_empty() => return Selection::caret(selection.end()),
            Motion::Up | Motion::PageUp | Motion::HalfPageUp => selection.start(),
            Motion::Down | Motion::PageDown | Motion::HalfPageDown => selection.end(),
            _ => selection.head,
        };
        let kept = selection.goal.filter(|_| from == selection.head);
        let (offset, goal) = target(ctx, motion, from, kept);
        Selection {
            anchor: offset,
            head: offset,
            goal,
        }
    }))
}

/// Moves every head and keeps the anchors; motions to a fixed target extend only the newest
/// selection.
pub(crate) fn extend(ctx: &CommandContext, motion: Motion) -> CaretPlan {
    let extended = |selection: &Selection| {
        let (head, goal) = match motion {
            Motion::MatchingBracket => (brackets::other_edge(ctx, selection.head), None),
            _ => target(ctx, motion, selection.head, selection.goal),
        };
        Selection {
            anchor: selection.anchor,
            head,
            goal,
        }
    };
    if is_absolute(motion) {
        CaretPlan::select(SelectionSet::single(extended(ctx.selections.primary())))
    } else {
        CaretPlan::select(ctx.selections.transform(extended))
    }
}

/// Returns whether the target of a motion does not depend on the caret.
fn is_absolute(motion: Motion) -> bool {
    matches!(motion, Motion::Offset(_) | Motion::Row(_))
}

/// Returns the last grapheme boundary at or before an offset, clamped to the text.
pub(crate) fn on_border(snapshot: &text::Snapshot, offset: ByteOffset) -> ByteOffset {
    let offset = snapshot.clip(offset.min(snapshot.len()), base::Bias::Left);
    if offset.0 == 0 || offset == snapshot.len() {
        return offset;
    }
    let before = snapshot.previous_grapheme(offset);
    if snapshot.next_grapheme(before) > offset {
        before
    } else {
        offset
    }
}

/// Returns the first grapheme boundary at or after an offset, clamped to the text.
pub(crate) fn border_behind(snapshot: &text::Snapshot, offset: ByteOffset) -> ByteOffset {
    let before = on_border(snapshot, offset);
    if before == offset.min(snapshot.len()) {
        before
    } else {
        snapshot.next_grapheme(before)
    }
}

/// Moves a caret within a fold to the fold's start.
fn skip_hidden(ctx: &CommandContext, offset: ByteOffset) -> ByteOffset {
    match ctx.display.fold_containing(offset) {
        Some(fold) if fold.start < offset => fold.start,
        _ => offset,
    }
}

fn skip_hidden_right(ctx: &CommandContext, offset: ByteOffset) -> ByteOffset {
    match ctx.display.fold_containing(offset) {
        Some(fold) if fold.start < offset => fold.end,
        _ => offset,
    }
}

#[cfg(test)]
mod tests;
