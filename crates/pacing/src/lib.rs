//! Requests window frames only while there is something to draw.
//!
//! On X11 the toolkit requests a frame for every window at the refresh rate of the screen, whether
//! anything changed or not: sixty wake-ups a second in an idle program. [`application`] gives the
//! toolkit a platform whose windows report when they need a frame, and whose frame source pauses
//! after some unneeded frames. On other systems the platform is the toolkit's own.
//!
//! Must not know: any other crate of this workspace. Start at `pacer`, which decides; `source`
//! stops the frames of an X11 window; `platform` and `window` forward everything else.

#[cfg(target_os = "linux")]
mod pacer;
#[cfg(target_os = "linux")]
mod platform;
#[cfg(target_os = "linux")]
mod source;
#[cfg(target_os = "linux")]
mod window;

/// Returns the toolkit's application, on a platform that pauses while nothing changes.
///
/// Limitations: X11 only. Under Wayland the compositor requests frames, on macOS the system does.
#[must_use]
pub fn application() -> gpui_kit::Application {
    #[cfg(target_os = "linux")]
    return gpui_kit::Application::with_platform(platform::paced(
        gpui_kit::platform::current_platform(false),
    ));
    #[cfg(not(target_os = "linux"))]
    gpui_kit::application()
}
