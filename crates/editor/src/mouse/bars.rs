//! Mouse handling of scrollbars.

use gpui_kit::{Context, Pixels};

use super::Drag;
use crate::editor::Editor;
use crate::element::HitArea;

impl Editor {
    /// Grabs the handle, moving it to the pointer first if necessary.
    pub(super) fn press_bar(&mut self, area: HitArea, cx: &mut Context<Self>) {
        let Some(handle) = self.handle(area) else {
            return;
        };
        let at = self.along(area);
        let is_on_handle = handle.start <= at && at < handle.end;
        let grab = if is_on_handle {
            at - handle.start
        } else {
            (handle.end - handle.start) / 2.0
        };
        self.drag = Some(Drag::Bar { area, grab });
        if !is_on_handle {
            self.drag_bar(area, grab, cx);
        }
        cx.notify();
    }

    pub(super) fn drag_bar(&mut self, area: HitArea, grab: Pixels, cx: &mut Context<Self>) {
        let start = self.along(area) - grab;
        let Some(geometry) = self.geometry.as_ref() else {
            return;
        };
        if area == HitArea::Vertical {
            if let Some((_, rows)) = geometry.vertical_handle(self.settings.scroll_beyond_last_line)
            {
                let top = f64::from(f32::from(start - geometry.vertical.top())) * rows;
                self.set_scroll_top(top, cx);
            }
        } else if let Some((_, pixels)) = geometry.horizontal_handle() {
            let x = f64::from(f32::from(start - geometry.text.left())) * pixels;
            self.scroll_sideways(x - self.scroll.x, cx);
        }
    }

    fn handle(&self, area: HitArea) -> Option<std::ops::Range<Pixels>> {
        let geometry = self.geometry.as_ref()?;
        match area {
            HitArea::Vertical => geometry
                .vertical_handle(self.settings.scroll_beyond_last_line)
                .map(|(handle, _)| handle),
            _ => geometry.horizontal_handle().map(|(handle, _)| handle),
        }
    }

    fn along(&self, area: HitArea) -> Pixels {
        match area {
            HitArea::Vertical => self.pointer.y,
            _ => self.pointer.x,
        }
    }
}
