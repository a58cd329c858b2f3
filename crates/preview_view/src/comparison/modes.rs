//! The ways to compare, the slider, and the zoom that both versions share.

use gpui_kit::{
    Context, MouseDownEvent, MouseMoveEvent, MouseUpEvent, Pixels, Point, ScrollEvent, Window, px,
};

use super::ImageComparison;
use crate::actions::{
    ActualSize, Cancel, Down, Left, NextComparison, Right, SliderLeft, SliderRight, Up, ZoomIn,
    ZoomOut, ZoomToFit,
};
use crate::event::PreviewEvent;

/// Factor of a step of the zoom.
const STEP: f32 = 1.25;
/// Distance by which a key moves the view, in pixels.
const KEY_STEP: f32 = 48.0;
/// Part of the width by which a key moves the slider.
const SLIDER_STEP: f32 = 0.05;
/// Height of a line of the wheel, in pixels.
const WHEEL_LINE: f32 = 40.0;

/// A way to compare two images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonMode {
    SideBySide,
    /// One upon the other, with a slider between them.
    Slider,
    /// The pixels that differ.
    Difference,
}

impl ComparisonMode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SideBySide => "Side by side",
            Self::Slider => "Slider",
            Self::Difference => "Difference",
        }
    }

    fn next(self) -> Self {
        match self {
            Self::SideBySide => Self::Slider,
            Self::Slider => Self::Difference,
            Self::Difference => Self::SideBySide,
        }
    }
}

impl ImageComparison {
    /// Returns the width and height of the place of one picture.
    pub(super) fn room(&self) -> (f32, f32) {
        let size = self.bounds.map(|bounds| bounds.size);
        let (width, height) = size.map_or((800.0, 600.0), |size| {
            (f32::from(size.width), f32::from(size.height))
        });
        match self.mode {
            ComparisonMode::SideBySide => (width / 2.0, height),
            ComparisonMode::Slider | ComparisonMode::Difference => (width, height),
        }
    }

    pub(super) fn size(&self) -> (f32, f32) {
        self.content
            .ready()
            .map_or((1.0, 1.0), |images| images.size())
    }

    /// Returns the side of an image pixel in the window.
    pub(super) fn scale(&self) -> f32 {
        self.viewport.scale(self.size(), self.room())
    }

    pub(super) fn set_mode(&mut self, mode: ComparisonMode, cx: &mut Context<Self>) {
        self.mode = mode;
        self.changed(cx);
    }

    fn changed(&mut self, cx: &mut Context<Self>) {
        cx.emit(PreviewEvent::StatusChanged);
        cx.notify();
    }

    pub(super) fn next_comparison(
        &mut self,
        _: &NextComparison,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.set_mode(self.mode.next(), cx);
    }

    fn move_slider(&mut self, to: f32, cx: &mut Context<Self>) {
        self.slider = to.clamp(0.0, 1.0);
        cx.notify();
    }

    pub(super) fn slider_left(&mut self, _: &SliderLeft, _: &mut Window, cx: &mut Context<Self>) {
        self.move_slider(self.slider - SLIDER_STEP, cx);
    }

    pub(super) fn slider_right(&mut self, _: &SliderRight, _: &mut Window, cx: &mut Context<Self>) {
        self.move_slider(self.slider + SLIDER_STEP, cx);
    }

    fn zoom_by(&mut self, factor: f32, cx: &mut Context<Self>) {
        let room = self.room();
        let middle = (room.0 / 2.0, room.1 / 2.0);
        self.viewport.zoom_by(factor, middle, self.size(), room);
        self.changed(cx);
    }

    fn pan(&mut self, x: f32, y: f32, cx: &mut Context<Self>) {
        let (size, room) = (self.size(), self.room());
        self.viewport.pan_by((x, y), size, room);
        cx.notify();
    }

    pub(super) fn zoom_in(&mut self, _: &ZoomIn, _: &mut Window, cx: &mut Context<Self>) {
        self.zoom_by(STEP, cx);
    }

    pub(super) fn zoom_out(&mut self, _: &ZoomOut, _: &mut Window, cx: &mut Context<Self>) {
        self.zoom_by(STEP.recip(), cx);
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

    pub(super) fn cancel(&mut self, _: &Cancel, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(PreviewEvent::Cancelled);
    }

    pub(super) fn scrolled(&mut self, event: &ScrollEvent, _: &mut Window, cx: &mut Context<Self>) {
        let delta = event.delta.pixel_delta(px(WHEEL_LINE));
        let (x, y) = (f32::from(delta.x), f32::from(delta.y));
        if event.modifiers.control || event.modifiers.platform {
            self.zoom_by(STEP.powf((y / WHEEL_LINE).clamp(-4.0, 4.0)), cx);
        } else {
            self.pan(-x, -y, cx);
        }
    }

    pub(super) fn pressed(
        &mut self,
        event: &MouseDownEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus.focus(window, cx);
        self.drag = Some(event.position);
        self.dragged_to(event.position, event.position, cx);
    }

    pub(super) fn moved(&mut self, event: &MouseMoveEvent, _: &mut Window, cx: &mut Context<Self>) {
        match self.drag.filter(|_| event.dragging()) {
            Some(last) => {
                self.drag = Some(event.position);
                self.dragged_to(event.position, last, cx);
            }
            None => self.drag = None,
        }
    }

    pub(super) fn released(&mut self, _: &MouseUpEvent, _: &mut Window, _: &mut Context<Self>) {
        self.drag = None;
    }

    /// Moves the slider to the pointer, or the pictures with it.
    fn dragged_to(&mut self, at: Point<Pixels>, last: Point<Pixels>, cx: &mut Context<Self>) {
        match (self.mode, self.bounds) {
            (ComparisonMode::Slider, Some(bounds)) => {
                self.move_slider((at.x - bounds.origin.x) / bounds.size.width, cx);
            }
            _ => {
                let by = last - at;
                self.pan(f32::from(by.x), f32::from(by.y), cx);
            }
        }
    }
}
