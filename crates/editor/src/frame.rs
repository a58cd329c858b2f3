//! Parts of a frame that outlive it: geometry, palette, shaped rows and headers.
//!
//! Plain values and caches, filled by `element` and read by the view.

mod colours;
mod diagnosed_rows;
mod geometry;
mod inlay_look;
mod palette;
mod rows;
mod shape;
mod sticky;

pub(crate) use colours::TextColours;
pub(crate) use diagnosed_rows::DiagnosedRows;
pub(crate) use geometry::{Geometry, HitArea};
pub(crate) use inlay_look::{InlayLook, InlayLooks, SuggestionStyle};
pub(crate) use palette::Palette;
pub(crate) use rows::{LONG_ROW, RowCache, RowHighlight, RowHighlights, RowSegment};
pub(crate) use shape::{Glyph, InlayPart, ShapedRow, Shaper, WordShapes};
pub(crate) use sticky::StickyCache;
