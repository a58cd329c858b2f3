//! Copy, cut and paste for several carets at once.
//!
//! What is copied remembers its pieces: one entry per selection, whether it was a whole row, and how
//! far its first row was indented. Pasting gives every caret its own piece when the numbers agree.
//! Start at `copy` and `paste`.

use crate::context::{Context, Plan};

/// One piece of copied text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text, with the line endings it had.
    pub text: String,
    /// Whether it was taken from an empty selection: the whole row with its line ending.
    pub is_whole_row: bool,
    /// Display cells of indentation of the row it starts in.
    pub indent_cells: u32,
}

/// Copied text and the pieces it is made of. Never without a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    pieces: Vec<Piece>,
}

impl Copied {
    /// Text from another program: one piece.
    pub fn plain(text: &str) -> Self {
        todo!()
    }

    /// The pieces, in the order of the text.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The text other programs get: pieces are joined by line endings.
    pub fn text(&self) -> String {
        todo!()
    }

    /// What to store beside the text so that the pieces can be found again.
    pub fn metadata(&self) -> String {
        todo!()
    }

    /// The pieces of a text with the metadata stored beside it; one piece when they do not fit.
    pub fn from_parts(text: &str, metadata: Option<&str>) -> Self {
        todo!()
    }
}

/// What the selections hold; an empty one stands for its row. `None` when there is nothing at all.
pub fn copy(ctx: &Context) -> Option<Copied> {
    todo!()
}

/// Like `copy`, with the plan that deletes it.
pub fn cut(ctx: &Context) -> Option<(Copied, Plan)> {
    todo!()
}

/// How pasted rows are indented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasteIndent {
    /// As they were copied.
    Keep,
    /// Shifted so that the first row fits where it lands.
    Fit,
}

/// Puts copied text at every caret: one piece each when the numbers agree, all of it everywhere else.
pub fn paste(ctx: &Context, copied: &Copied, indent: PasteIndent) -> Plan {
    todo!()
}
