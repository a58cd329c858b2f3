//! What one display row shows, ready to be shaped and painted.

use std::ops::Range;

use base::{Row, Span};

use crate::inlay::InlayId;
use crate::position::DisplayRow;

/// One display row, or a window of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayLine {
    /// Which row this is.
    pub row: DisplayRow,
    /// The buffer row that begins here; `None` on the continuation of a wrapped line.
    pub buffer_row: Option<Row>,
    /// The buffer bytes shown, folded ones included, without the line ending.
    pub span: Span,
    /// What is painted: tabs are spaces, control characters their stand-ins, folds their mark.
    pub text: String,
    /// The parts of `text` in order, without gaps.
    pub segments: Vec<Segment>,
    /// Empty cells before `text` on the continuation of a wrapped line; 0 elsewhere.
    pub indent_cells: u32,
    /// The cell where `text` begins: `indent_cells`, or further right in a window.
    pub start_cell: u32,
    /// The cell where `text` ends.
    pub end_cell: u32,
    /// Whether the line ends here, rather than going on in the next display row.
    pub is_last_wrap: bool,
}

/// A part of a display row with one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it comes from.
    pub kind: SegmentKind,
    /// Its buffer bytes; empty for an inlay.
    pub span: Span,
    /// Its bytes in `DisplayLine::text`. For `Text` they are the buffer's, one to one.
    pub text: Range<usize>,
    /// The cell where it begins.
    pub cell: u32,
    /// How many cells it takes.
    pub cells: u32,
}

/// Where a segment comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Text of the buffer.
    Text,
    /// One tab, painted as spaces.
    Tab,
    /// One invisible or control character, painted as a stand-in such as `^A`.
    Control,
    /// Text of an inlay.
    Inlay(InlayId),
    /// The mark of a fold.
    FoldPlaceholder,
}
