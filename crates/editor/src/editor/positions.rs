//! Conversions between pixels of the last layout and positions in the text.

use base::{Bias, ByteOffset};
use display::DisplayPoint;
use gpui_kit::{Context, Pixels, Point};

use super::Editor;

impl Editor {
    /// Returns the offset nearest to a position in window pixels. Returns `None` before the first
    /// layout.
    pub fn offset_at(
        &mut self,
        position: Point<Pixels>,
        cx: &mut Context<Self>,
    ) -> Option<ByteOffset> {
        self.sync(cx);
        let point = self.display_point_at(position)?;
        Some(self.display.to_buffer(point, Bias::Left))
    }

    /// Returns the display point nearest to a position in window pixels, possibly beyond the end of
    /// its row. Returns `None` before the first layout.
    pub(crate) fn display_point_at(&self, position: Point<Pixels>) -> Option<DisplayPoint> {
        Some(self.geometry.as_ref()?.point_at(position, &self.display))
    }

    /// Returns the corner below the newest caret in window pixels, clamped to the visible text, for
    /// menus. Returns `None` before the first layout.
    pub(crate) fn caret_corner(&self) -> Option<Point<Pixels>> {
        let geometry = self.geometry.as_ref()?;
        let place = self
            .display
            .to_display(self.selections.primary().head, Bias::Left);
        let y = geometry.y_of(self.display.y_of(place.row)) + geometry.line_height;
        let sight = geometry.text;
        let (x, last) = (geometry.x_of(place.cell), gpui_kit::px(1.0));
        Some(gpui_kit::point(
            x.min(sight.right() - last).max(sight.left()),
            y.min(sight.bottom() - last).max(sight.top()),
        ))
    }
}
