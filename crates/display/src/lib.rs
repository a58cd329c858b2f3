//! Where the bytes of a buffer appear on the screen, and which bytes a place on the screen shows.
//!
//! Layers, each built on the one before: inlays put text in, folds take text out, tabs become
//! cells, long lines wrap, blocks take room between rows.
//!
//! Knows: `base`, `text`. Must not know: files, clocks, threads, fonts, pixels, how things are drawn.
//! Invariant: a snapshot never changes, is cheap to clone and may go to any thread.
//! Invariant: what an edit costs depends on the edit, never on the length of the text or of a line.
//! Invariant: `to_buffer(to_display(offset, bias), bias)` is `offset` for every shown grapheme border.
//! Start at `DisplayMap`; questions are asked of `DisplaySnapshot`.

#![warn(missing_docs)]

mod block;
mod cells;
mod fold;
mod inlay;
mod job;
mod limits;
mod line;
mod map;
mod marks;
mod position;
mod shown;
mod snapshot;
mod tab;
mod wrap;

pub use block::{BlockId, BlockSpec, PlacedBlock, Placement};
pub use inlay::{Inlay, InlayId};
pub use job::{WrapDone, WrapJob};
pub use line::{DisplayLine, Segment, SegmentKind};
pub use map::DisplayMap;
pub use position::{DisplayOptions, DisplayPoint, DisplayRow};
pub use snapshot::DisplaySnapshot;

#[cfg(test)]
mod tests;
