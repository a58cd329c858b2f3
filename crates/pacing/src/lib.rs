//! Frames are asked for only while there is something to draw.
//!
//! On X11 the toolkit asks every window for a frame at the rate of the screen, whether anything
//! changed or not: sixty wakes a second of a program that does nothing. [`application`] gives the
//! toolkit a platform whose windows say when they want a frame, and whose source of frames rests
//! when nobody wanted one for some ticks. Elsewhere the platform is the toolkit's own.
//!
//! Must not know: anything of ours. Start at `pacer`, which decides; `source` is how an X11
//! window's frames are stopped; `platform` and `window` hand all else through.

#[cfg(target_os = "linux")]
mod pacer;
#[cfg(target_os = "linux")]
mod platform;
#[cfg(target_os = "linux")]
mod source;
#[cfg(target_os = "linux")]
mod window;

/// The toolkit's application, on a platform that rests while nothing changes.
///
/// Limitations: X11 only. Under Wayland the compositor asks for frames, on a Mac the system.
#[must_use]
pub fn application() -> gpui_kit::Application {
    #[cfg(target_os = "linux")]
    return gpui_kit::Application::with_platform(platform::paced(
        gpui_kit::platform::current_platform(false),
    ));
    #[cfg(not(target_os = "linux"))]
    gpui_kit::application()
}
