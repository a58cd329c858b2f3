//! Where a caret can go: the list of motions, and the one function that carries them out.
//!
//! A motion takes one offset to another. Row motions go through the display map, so that folds and
//! soft wrap are respected, and keep the column they started from as their goal.
//! Start at `Motion`.

mod horizontal;
mod vertical;

use base::{ByteOffset, Row};
use text::Selection;

use crate::context::Context;

/// Declares the motions that carry no data, and what they are called.
macro_rules! motions {
    ($($(#[$doc:meta])* $variant:ident, $slug:literal, $where:literal;)*) => {
        /// A way for a caret to go somewhere else.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Motion {
            $($(#[$doc])* $variant,)*
            /// To an offset of the snapshot, clipped to a grapheme boundary.
            Offset(ByteOffset),
            /// To the first visible character of a row, clipped to the last row.
            Row(Row),
        }

        impl Motion {
            /// Every motion that carries no data, in the order a palette should list them.
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
                        concat!("Deletes what is selected, or what lies between every caret and the place ", $where, ".")
                    })*
                    Motion::Offset(_) => "Deletes up to one place in the text.",
                    Motion::Row(_) => "Deletes up to the first character of one row.",
                }
            }
        }
    };
}

motions! {
    /// One grapheme back; a row's start goes to the end of the row before.
    Left, "left", "one character to the left";
    /// One grapheme forward.
    Right, "right", "one character to the right";
    /// One display row up, keeping the goal column.
    Up, "up", "one row up";
    /// One display row down, keeping the goal column.
    Down, "down", "one row down";
    /// To the start of the word before.
    WordLeft, "word-left", "one word to the left";
    /// To the end of the word behind.
    WordRight, "word-right", "one word to the right";
    /// Like `WordLeft`, stopping inside camelCase and snake_case words too.
    SubwordLeft, "subword-left", "one part of a word to the left";
    /// Like `WordRight`, stopping inside camelCase and snake_case words too.
    SubwordRight, "subword-right", "one part of a word to the right";
    /// To the first character that is not blank, or from there to the start of the row.
    RowStart, "row-start", "to the start of its row";
    /// To the end of the row, before its line ending.
    RowEnd, "row-end", "to the end of its row";
    /// To the start of the display row: of one stretch of a wrapped row.
    DisplayRowStart, "display-row-start", "to the start of its wrapped row";
    /// To the end of the display row.
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
