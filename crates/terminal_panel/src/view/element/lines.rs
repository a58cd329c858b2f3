//! Lines under and through cells.

use gpui_kit::{Bounds, Hsla, Pixels, Point, UnderlineStyle, Window, fill, point, px, size};
use terminal::Underline;

use crate::frame::{CellStroke, Geometry, Palette, StrokeKind};

/// Paints a line of a row.
pub(super) fn paint_stroke(
    row: u16,
    stroke: &CellStroke,
    geometry: &Geometry,
    palette: &Palette,
    window: &mut Window,
) {
    let cells = geometry.cells_at(row, stroke.column, stroke.count);
    let color = stroke.color;
    let thickness = px((1.0 / palette.scale).max((f32::from(palette.size) / 14.0).round()));
    let base = cells.top() + palette.baseline + px(2.0);
    let at = |y: Pixels| point(cells.left(), y);
    match stroke.kind {
        StrokeKind::Strikethrough => {
            let middle = cells.top() + palette.line_height * 0.52;
            line(at(middle), cells.size.width, thickness, color, window);
        }
        StrokeKind::Underline(Underline::None) => {}
        StrokeKind::Underline(Underline::Single) => {
            line(at(base), cells.size.width, thickness, color, window);
        }
        StrokeKind::Underline(Underline::Double) => {
            line(
                at(base - thickness),
                cells.size.width,
                thickness,
                color,
                window,
            );
            line(
                at(base + thickness),
                cells.size.width,
                thickness,
                color,
                window,
            );
        }
        StrokeKind::Underline(Underline::Curly) => {
            let style = UnderlineStyle {
                thickness,
                color: Some(color),
                wavy: true,
            };
            window.paint_underline(at(base), cells.size.width, &style);
        }
        StrokeKind::Underline(Underline::Dotted) => {
            let step = thickness * 2.0;
            pieces(
                at(base),
                cells.size.width,
                [thickness, step],
                thickness,
                color,
                window,
            );
        }
        StrokeKind::Underline(Underline::Dashed) => {
            let step = geometry.advance / 2.0;
            pieces(
                at(base),
                cells.size.width,
                [step * 0.6, step],
                thickness,
                color,
                window,
            );
        }
    }
}

fn line(origin: Point<Pixels>, width: Pixels, thickness: Pixels, color: Hsla, window: &mut Window) {
    window.paint_quad(fill(Bounds::new(origin, size(width, thickness)), color));
}

/// Paints pieces of a line: their length and the distance of their starts are given.
fn pieces(
    origin: Point<Pixels>,
    width: Pixels,
    [length, step]: [Pixels; 2],
    thickness: Pixels,
    color: Hsla,
    window: &mut Window,
) {
    let mut x = px(0.0);
    while x < width {
        let start = point(origin.x + x, origin.y);
        line(start, length.min(width - x), thickness, color, window);
        x += step;
    }
}
