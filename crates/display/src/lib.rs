//! Maps buffer offsets to screen positions and back.
//!
//! Layers, each built on the previous one: inlays insert text, folds hide text, tabs become cells,
//! long lines wrap, blocks take space between rows.
//!
//! Knows: `base`, `text`. Must not know: files, clocks, threads, fonts, pixels, rendering.
//! Invariant: a snapshot never changes, is cheap to clone and can be sent to any thread.
//! Invariant: the cost of an edit depends on the edit, never on the length of the text or of a
//! line.
//! Invariant: `to_buffer(to_display(offset, bias), bias)` is `offset` for every shown grapheme
//! border.
//! Start at `DisplayMap`; queries are methods of `DisplaySnapshot`.

#![warn(missing_docs)]

mod block;
mod cells;
mod fold;
mod inlay;
mod job;
mod limits;
mod line;
mod map;
mod position;
mod shown_text;
mod snapshot;
mod tab;
mod wrap;

pub use block::{BlockId, BlockSpec, PlacedBlock, Placement};
pub use inlay::{Inlay, InlayId};
pub use job::{WrapDone, WrapJob};
pub use line::{DisplayLine, DisplaySegment, SegmentKind};
pub use map::DisplayMap;
pub use position::{DisplayOptions, DisplayPoint, DisplayRow};
pub use snapshot::DisplaySnapshot;

#[cfg(test)]
mod tests;
