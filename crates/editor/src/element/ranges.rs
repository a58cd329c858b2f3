//! From spans of the text to boxes behind its letters, one for each row, with corners that flow together.

use base::{Bias, Span};
use display::DisplaySnapshot;
use gpui_kit::{Bounds, Corners, Hsla, PaintQuad, Pixels, point, px, size};

use super::geometry::Geometry;
use super::layout::VisibleRow;

/// The cells of one row that a span covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The index of the row among those in sight.
    pub(crate) ix: usize,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// The rows and cells that a span covers, as far as it is in sight. A line ending takes half a cell more
/// than nothing, so that selected empty rows can be seen: one cell.
pub(crate) fn stretches(
    span: Span,
    visible: Span,
    rows: &[VisibleRow],
    display: &DisplaySnapshot,
) -> Vec<Stretch> {
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
        let to = match row.row == end.row && span.end <= visible.end {
            true => end.cell,
            false => display.max_cell(row.row) + u32::from(row.shape.is_last),
        };
        if to > from {
            result.push(Stretch { ix, from, to });
        }
    }
    result
}

/// Boxes for stretches that belong together, rounded where no neighbour goes on.
pub(crate) fn boxes(
    stretches: &[Stretch],
    rows: &[VisibleRow],
    geometry: &Geometry,
    color: Hsla,
    radius: f32,
) -> Vec<PaintQuad> {
    let neighbour = |ix: usize| stretches.iter().find(|other| other.ix == ix);
    let mut quads = Vec::with_capacity(stretches.len());
    for stretch in stretches {
        let bounds = bounds_of(stretch, rows, geometry);
        let covers = |other: Option<&Stretch>, cell: u32| {
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

/// The box of one stretch, kept near to the window however long its row.
pub(crate) fn bounds_of(
    stretch: &Stretch,
    rows: &[VisibleRow],
    geometry: &Geometry,
) -> Bounds<Pixels> {
    let y = geometry.y_of(rows[stretch.ix].y);
    let beyond = px(16.0);
    let left = geometry
        .x_of(stretch.from)
        .max(geometry.text.left() - beyond);
    let right = geometry
        .x_of(stretch.to)
        .min(geometry.text.right() + beyond);
    Bounds::new(
        point(left, y),
        size((right - left).max(px(0.0)), geometry.line_height),
    )
}
