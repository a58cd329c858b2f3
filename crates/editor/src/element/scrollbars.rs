//! The scrollbars and the marks on them.

use gpui_kit::{Bounds, Context, PaintQuad, fill, point, px, size};
use ui::ActiveTheme as _;

use super::layout::Decorator;
use crate::editor::Editor;
use crate::frame::HitArea;
use crate::pointer::Drag;

/// The quads of the scrollbars and their marks, for painting.
#[derive(Default)]
pub(crate) struct ScrollbarState {
    pub(crate) quads: Vec<PaintQuad>,
}

impl Decorator<'_> {
    pub(super) fn lay_out_bars(&mut self, cx: &Context<Editor>) {
        let colors = cx.theme().colors;
        let geometry = &self.layout.geometry;
        let mut quads = self.overview_marks(cx);
        let color = |area: HitArea| {
            let is_dragged =
                matches!(&self.editor.mouse.drag, Some(Drag::Bar { area: of, .. }) if *of == area);
            if is_dragged || self.editor.mouse.hovered == Some(area) {
                colors.scrollbar_hover
            } else {
                colors.scrollbar
            }
        };
        if let Some((handle, _)) =
            geometry.vertical_handle(self.editor.settings.scroll_beyond_last_line)
        {
            let inset = px(2.0);
            let bounds = Bounds::new(
                point(geometry.vertical.left() + inset, handle.start),
                size(
                    geometry.vertical.size.width - inset * 2.0,
                    handle.end - handle.start,
                ),
            );
            quads.push(fill(bounds, color(HitArea::Vertical)).corner_radii(px(4.0)));
        }
        if let Some((handle, _)) = geometry.horizontal_handle() {
            let bar = geometry.horizontal();
            let inset = px(2.0);
            let bounds = Bounds::new(
                point(handle.start, bar.top() + inset),
                size(handle.end - handle.start, bar.size.height - inset * 2.0),
            );
            quads.push(fill(bounds, color(HitArea::Horizontal)).corner_radii(px(4.0)));
        }
        self.layout.bars = super::scrollbars::ScrollbarState { quads };
    }
}
