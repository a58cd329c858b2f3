//! The underline of the link that a click would open.

use gpui_kit::{Bounds, Context, fill, point, px, size};
use ui::ActiveTheme as _;

use super::layout::Decorator;
use super::ranges::{bounds_of, stretches};
use crate::editor::Editor;

/// Thickness of the underline, in pixels.
const THICKNESS: f32 = 1.0;

impl Decorator<'_> {
    /// Underlines the link under the pointer.
    pub(super) fn add_link(&mut self, cx: &Context<Editor>) {
        let Some(span) = self.editor.link.span() else {
            return;
        };
        let color = cx.theme().colors.link;
        let (rows, display) = (&self.layout.rows, &self.editor.display);
        for stretch in stretches(span, self.layout.span, rows, display) {
            let bounds = bounds_of(&stretch, &self.layout.rows, &self.layout.geometry);
            let origin = point(bounds.left(), bounds.bottom() - px(2.0 * THICKNESS));
            let line = Bounds::new(origin, size(bounds.size.width, px(THICKNESS)));
            self.layout.fronts.push(fill(line, color));
        }
    }
}
