//! Backgrounds of inlay hints.

use gpui_kit::{Hsla, fill, px};

use super::layout::Decorator;
use super::ranges::{CellRange, bounds_of};

/// Corner radius of the backgrounds, in pixels.
const ROUND: f32 = 3.0;

impl Decorator<'_> {
    /// Adds the backgrounds of inlay hints, without their padding.
    pub(super) fn add_inlay_hints(&mut self, color: Hsla) {
        let mut quads = Vec::new();
        for (ix, row) in self.layout.rows.iter().enumerate() {
            for part in &row.shape.inlays {
                let Some(padding) = self.editor.hints.padding(part.id) else {
                    continue;
                };
                let before = if part.start == 0 { padding.before } else { 0 };
                let stretch = CellRange {
                    ix,
                    from: part.cell + before,
                    to: (part.cell + part.cells).saturating_sub(padding.after),
                };
                if stretch.from < stretch.to {
                    let bounds = bounds_of(&stretch, &self.layout.rows, &self.layout.geometry);
                    quads.push(fill(bounds, color).corner_radii(px(ROUND)));
                }
            }
        }
        self.layout.grounds.append(&mut quads);
    }
}
