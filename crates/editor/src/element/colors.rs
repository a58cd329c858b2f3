//! Swatches of the colours that a text names.

use gpui_kit::{Bounds, Hsla, Rgba, fill, point, px, size};
use lsp::ColorValue;

use super::layout::Decorator;
use super::ranges::{CellRange, bounds_of};

/// Size of a swatch as a part of the height of a row.
const SIZE: f32 = 0.6;
/// Corner radius, in pixels.
const ROUND: f32 = 2.0;
/// Thickness of the border, in pixels.
const BORDER: f32 = 1.0;

impl Decorator<'_> {
    /// Adds the swatches of the visible rows, with a border in `border`.
    pub(super) fn add_colors(&mut self, border: Hsla) {
        let mut quads = Vec::new();
        for (ix, row) in self.layout.rows.iter().enumerate() {
            for part in &row.shape.inlays {
                let Some(color) = self.editor.colors.color(part.id) else {
                    continue;
                };
                let stretch = CellRange {
                    ix,
                    from: part.cell,
                    to: part.cell + part.cells,
                };
                let cells = bounds_of(&stretch, &self.layout.rows, &self.layout.geometry);
                let height = cells.size.height * SIZE;
                let width = height.min(cells.size.width - px(2.0 * BORDER));
                let top = cells.top() + (cells.size.height - height) * 0.5;
                let swatch = Bounds::new(point(cells.left(), top), size(width, height));
                let inside = swatch.inset(px(BORDER));
                quads.push(fill(swatch, border).corner_radii(px(ROUND)));
                quads.push(fill(inside, hsla(color)).corner_radii(px(ROUND - BORDER)));
            }
        }
        self.layout.grounds.append(&mut quads);
    }
}

fn hsla(color: ColorValue) -> Hsla {
    let part = |part: u8| f32::from(part) / f32::from(u8::MAX);
    let color = Rgba {
        r: part(color.red),
        g: part(color.green),
        b: part(color.blue),
        a: part(color.alpha),
    };
    color.into()
}
