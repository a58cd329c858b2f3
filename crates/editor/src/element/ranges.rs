//! Converts text spans into boxes behind the text, one per row, with connected corners.

use base::{Bias, Span};
use display::DisplaySnapshot;
use gpui_kit::{Bounds, Corners, Hsla, PaintQuad, Pixels, point, px, size};

use super::layout::VisibleRow;
use crate::frame::Geometry;

/// The cells of one visible row that a span covers, end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellRange {
    /// Index of the row among the visible ones.
    pub(crate) ix: usize,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// Returns the rows and cells covered by the visible part of a span. A covered line ending adds one
/// cell, so that selected empty rows are visible.
pub(crate) fn stretches(
    span: Span,
    visible: Span,
    rows: &[VisibleRow],
    display: &DisplaySnapshot,
) -> Vec<CellRange> {
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    if span.end < visible.start || visible.end < span.start {
        return Vec::new();
    }
    let start = display.to_display(span.start.max(visible.start), Bias::Right);
    let end = display.to_display(span.end.min(visible.end), Bias::Left);
    let mut result = Vec::new();
    let from_ix = start.row.0.saturating_sub(first.row.0) as usize;
    let to_ix = (end.row.0.saturating_sub(first.row.0) as usize).min(rows.len().saturating_sub(1));
    for (ix, row) in rows.iter().enumerate().take(to_ix + 1).skip(from_ix) {
        let from = if row.row == start.row {
            start.cell
        } else {
            row.shape.hanging
        };
        let to = if row.row == end.row && span.end <= visible.end {
            end.cell
        } else {
            display.max_cell(row.row) + u32::from(row.shape.is_last)
        };
        if to > from {
            result.push(CellRange { ix, from, to });
        }
    }
    result
}

/// Returns the quads that fill connected stretches, with rounded corners where no neighbour
/// continues. `radius` is in pixels.
pub(crate) fn boxes(
    stretches: &[CellRange],
    rows: &[VisibleRow],
    geometry: &Geometry,
    color: Hsla,
    radius: f32,
) -> Vec<PaintQuad> {
    let neighbour = |ix: usize| stretches.iter().find(|other| other.ix == ix);
    let mut quads = Vec::with_capacity(stretches.len());
    for stretch in stretches {
        let bounds = bounds_of(stretch, rows, geometry);
        let covers = |other: Option<&CellRange>, cell: u32| {
            other.is_some_and(|other| other.from <= cell && cell <= other.to)
        };
        let above = stretch.ix.checked_sub(1).and_then(neighbour);
        let below = neighbour(stretch.ix + 1);
        let corner = |other, cell| px(if covers(other, cell) { 0.0 } else { radius });
        let corners = Corners {
            top_left: corner(above, stretch.from),
            top_right: corner(above, stretch.to),
            bottom_right: corner(below, stretch.to),
            bottom_left: corner(below, stretch.from),
        };
        quads.push(gpui_kit::fill(bounds, color).corner_radii(corners));
    }
    quads
}

/// Returns the area of one stretch in window pixels. Clips it to slightly more than the visible
/// width of the text, because rows can be very long.
pub(crate) fn bounds_of(
    stretch: &CellRange,
    rows: &[VisibleRow],
    geometry: &Geometry,
) -> Bounds<Pixels> {
    let y = geometry.y_of(rows[stretch.ix].y);
    let margin = px(16.0);
    let left = geometry
        .x_of(stretch.from)
        .max(geometry.text.left() - margin);
    let right = geometry
        .x_of(stretch.to)
        .min(geometry.text.right() + margin);
    Bounds::new(
        point(left, y),
        size((right - left).max(px(0.0)), geometry.line_height),
    )
}
