//! Mouse wheel and touchpad scrolling.

use gpui_kit::{Context, ScrollDelta, ScrollEvent};

use crate::editor::Editor;

/// Rows per notch of the wheel.
const NOTCH: f64 = 3.0;

/// Speed factor while Alt is held.
const FAST: f64 = 5.0;

pub(super) fn scroll(editor: &mut Editor, event: &ScrollEvent, cx: &mut Context<Editor>) {
    let Some(geometry) = editor.geometry.as_ref() else {
        return;
    };
    let line = f64::from(f32::from(geometry.line_height));
    let advance = f64::from(geometry.advance);
    // Vertical distance in rows, and horizontal in pixels.
    let (mut rows, mut pixels) = match event.delta {
        ScrollDelta::Pixels(delta) => (
            f64::from(f32::from(delta.y)) / line,
            f64::from(f32::from(delta.x)),
        ),
        ScrollDelta::Lines(delta) => (
            f64::from(delta.y) * NOTCH,
            f64::from(delta.x) * NOTCH * advance * 2.0,
        ),
    };
    if event.modifiers.shift && pixels == 0.0 {
        (rows, pixels) = (0.0, rows * line);
    }
    // A finger never moves quite straight, so the smaller direction is ignored.
    if (rows * line).abs() > pixels.abs() * 2.0 {
        pixels = 0.0;
    }
    let mut factor = f64::from(editor.settings.scroll_sensitivity);
    if event.modifiers.alt {
        factor *= FAST;
    }
    if rows != 0.0 {
        editor.scroll_by(-rows * factor, cx);
    }
    if pixels != 0.0 {
        editor.scroll_sideways(-pixels * factor, cx);
    }
}
