//! The window buttons of macOS, which the system draws over the title bar.

use gpui_kit::{Pixels, Point, Window, point, px};

use crate::title_bar::HEIGHT;

/// Height of the buttons and their distance from the left edge, in pixels; both are the same at
/// every zoom of the window.
const BUTTONS: f32 = 14.0;
const LEFT: f32 = 9.0;

/// Returns the position at which the buttons are centred in the title bar at a zoom factor.
pub(crate) fn position(zoom: f32) -> Point<Pixels> {
    let top = (HEIGHT * zoom - BUTTONS) / 2.0;
    point(px(LEFT), px(top.max(0.0)))
}

/// Moves the buttons of a window to their position at a zoom factor; without effect on Linux, whose
/// buttons are drawn by the title bar.
#[cfg(target_os = "macos")]
pub(crate) fn follow(zoom: f32, window: &Window) {
    window.set_traffic_light_position(position(zoom));
}

/// Moves the buttons of a window to their position at a zoom factor; without effect on Linux, whose
/// buttons are drawn by the title bar.
#[cfg(not(target_os = "macos"))]
pub(crate) fn follow(_: f32, _: &Window) {}

#[cfg(test)]
mod tests {
    use gpui_kit::{point, px};

    use super::position;

    #[test]
    fn the_buttons_stay_centred_at_every_zoom() {
        assert_eq!(position(1.0), point(px(9.0), px(11.0)));
        assert_eq!(position(1.5), point(px(9.0), px(20.0)));
        assert_eq!(position(0.5), point(px(9.0), px(2.0)));
    }
}
