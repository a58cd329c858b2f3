//! The primary selection of X11 and Wayland, which a middle click pastes; macOS has none.

use gpui_kit::{App, ClipboardItem};

/// Whether the system has a primary selection.
pub const EXISTS: bool = cfg!(target_os = "linux");

/// Sets the primary selection; without effect where there is none.
#[cfg(target_os = "linux")]
pub fn write(item: ClipboardItem, cx: &App) {
    cx.write_to_primary(item);
}

/// Returns the primary selection; `None` where there is none.
#[cfg(target_os = "linux")]
pub fn read(cx: &App) -> Option<ClipboardItem> {
    cx.read_from_primary()
}

/// Sets the primary selection; without effect where there is none.
#[cfg(not(target_os = "linux"))]
pub fn write(_: ClipboardItem, _: &App) {}

/// Returns the primary selection; `None` where there is none.
#[cfg(not(target_os = "linux"))]
pub fn read(_: &App) -> Option<ClipboardItem> {
    None
}
