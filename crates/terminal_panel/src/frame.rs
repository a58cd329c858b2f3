//! Rows of cells, shaped and placed: fonts and colours, shaped rows, drawn characters, geometry.

mod boxes;
mod colors;
mod geometry;
mod glyphs;
mod palette;
mod rows;
mod shape;

pub(crate) use colors::CellColors;
pub(crate) use geometry::{Geometry, HitArea, grid_size};
pub(crate) use glyphs::draw;
pub(crate) use palette::Palette;
pub(crate) use rows::RowCache;
#[cfg(test)]
pub(crate) use shape::shape;
pub(crate) use shape::{CellGlyph, CellStroke, ShapedCells, StrokeKind};
