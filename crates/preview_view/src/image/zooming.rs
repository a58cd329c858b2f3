//! Zoom and the visible part.

use gpui_kit::{
    Context, MouseDownEvent, MouseMoveEvent, MouseUpEvent, PinchEvent, Pixels, Point, ScrollEvent,
    Window, px,
};

use super::ImagePreview;
use crate::actions::{
    ActualSize, Cancel, Down, End, Left, PageDown, PageUp, Right, Start, Up, ZoomIn, ZoomOut,
    ZoomToFit,
};
use crate::event::PreviewEvent;

/// Factor of a step of the zoom.
const STEP: f32 = 1.25;
/// Distance by which a key moves the view, in pixels.
const KEY_STEP: f32 = 48.0;
/// Height of a line of the wheel, in pixels.
const WHEEL_LINE: f32 = 40.0;

impl ImagePreview {
    /// Returns the width and height of the view.
    pub(super) fn room(&self) -> (f32, f32) {
        let size = self.bounds.map(|bounds| bounds.size);
        size.map_or((800.0, 600.0), |size| {
            (f32::from(size.width), f32::from(size.height))
        })
    }

    fn size(&self) -> (f32, f32) {
        self.content.ready().map_or((1.0, 1.0), |image| image.size)
    }

    /// Returns the side of an image pixel in the window.
    pub(super) fn scale(&self) -> f32 {
        self.viewport.scale(self.size(), self.room())
    }

    fn changed(&mut self, cx: &mut Context<Self>) {
        self.redraw.put_off(cx);
        cx.emit(PreviewEvent::StatusChanged);
        cx.notify();
    }

    /// Zooms around a place of the window; around the middle without one.
    fn zoom_at(&mut self, factor: f32, place: Option<Point<Pixels>>, cx: &mut Context<Self>) {
        let room = self.room();
        let middle = (room.0 / 2.0, room.1 / 2.0);
        let at = place.zip(self.bounds).map_or(middle, |(place, bounds)| {
            let at = place - bounds.origin;
            (f32::from(at.x), f32::from(at.y))
        });
        self.viewport.zoom_by(factor, at, self.size(), room);
        self.changed(cx);
    }

    fn pan(&mut self, x: f32, y: f32, cx: &mut Context<Self>) {
        let (size, room) = (self.size(), self.room());
        self.viewport.pan_by((x, y), size, room);
        cx.notify();
    }

    pub(super) fn zoom_in(&mut self, _: &ZoomIn, _: &mut Window, cx: &mut Context<Self>) {
        self.zoom_at(STEP, None, cx);
    }

    pub(super) fn zoom_out(&mut self, _: &ZoomOut, _: &mut Window, cx: &mut Context<Self>) {
        self.zoom_at(STEP.recip(), None, cx);
    }

    pub(super) fn zoom_to_fit(&mut self, _: &ZoomToFit, _: &mut Window, cx: &mut Context<Self>) {
        self.viewport.set_zoom(None);
        self.changed(cx);
    }

    pub(super) fn actual_size(&mut self, _: &ActualSize, _: &mut Window, cx: &mut Context<Self>) {
        self.viewport.set_zoom(Some(self.screen_scale.recip()));
        self.changed(cx);
    }

    pub(super) fn up(&mut self, _: &Up, _: &mut Window, cx: &mut Context<Self>) {
        self.pan(0.0, -KEY_STEP, cx);
    }

    pub(super) fn down(&mut self, _: &Down, _: &mut Window, cx: &mut Context<Self>) {
        self.pan(0.0, KEY_STEP, cx);
    }

    pub(super) fn left(&mut self, _: &Left, _: &mut Window, cx: &mut Context<Self>) {
        self.pan(-KEY_STEP, 0.0, cx);
    }

    pub(super) fn right(&mut self, _: &Right, _: &mut Window, cx: &mut Context<Self>) {
        self.pan(KEY_STEP, 0.0, cx);
    }

    pub(super) fn page_up(&mut self, _: &PageUp, _: &mut Window, cx: &mut Context<Self>) {
        self.pan(0.0, -self.room().1, cx);
    }

    pub(super) fn page_down(&mut self, _: &PageDown, _: &mut Window, cx: &mut Context<Self>) {
        self.pan(0.0, self.room().1, cx);
    }

    pub(super) fn start(&mut self, _: &Start, _: &mut Window, cx: &mut Context<Self>) {
        self.pan(f32::MIN, f32::MIN, cx);
    }

    pub(super) fn end(&mut self, _: &End, _: &mut Window, cx: &mut Context<Self>) {
        self.pan(f32::MAX, f32::MAX, cx);
    }

    pub(super) fn cancel(&mut self, _: &Cancel, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(PreviewEvent::Cancelled);
    }

    pub(super) fn scrolled(&mut self, event: &ScrollEvent, _: &mut Window, cx: &mut Context<Self>) {
        let delta = event.delta.pixel_delta(px(WHEEL_LINE));
        let (x, y) = (f32::from(delta.x), f32::from(delta.y));
        if event.modifiers.control || event.modifiers.platform {
            // Small steps of a touchpad zoom as far as one of a wheel.
            let factor = STEP.powf((y / WHEEL_LINE).clamp(-4.0, 4.0));
            self.zoom_at(factor, Some(event.position), cx);
        } else if event.modifiers.shift && x == 0.0 {
            self.pan(-y, 0.0, cx);
        } else {
            self.pan(-x, -y, cx);
        }
    }

    pub(super) fn pinched(&mut self, event: &PinchEvent, _: &mut Window, cx: &mut Context<Self>) {
        let factor = (1.0 + event.delta).clamp(0.5, 2.0);
        self.zoom_at(factor, Some(event.position), cx);
    }

    pub(super) fn pressed(
        &mut self,
        event: &MouseDownEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus.focus(window, cx);
        self.drag = Some(event.position);
        cx.notify();
    }

    pub(super) fn moved(&mut self, event: &MouseMoveEvent, _: &mut Window, cx: &mut Context<Self>) {
        let Some(last) = self.drag.filter(|_| event.dragging()) else {
            self.drag = None;
            return;
        };
        let by = last - event.position;
        self.drag = Some(event.position);
        self.pan(f32::from(by.x), f32::from(by.y), cx);
    }

    pub(super) fn released(&mut self, _: &MouseUpEvent, _: &mut Window, cx: &mut Context<Self>) {
        self.drag = None;
        cx.notify();
    }
}
