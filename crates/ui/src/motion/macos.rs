//! Reduce Motion of macOS.

use gpui_kit::App;
use gpui_kit::base::Root;
use objc2_app_kit::NSWorkspace;

/// Reads the setting now, and again with every new window and whenever a window is activated.
pub(super) fn follow(cx: &mut App) {
    read(cx);
    cx.observe_new(|_: &mut Root, window, cx| {
        read(cx);
        if let Some(window) = window {
            cx.observe_window_activation(window, |_, _, cx| read(cx))
                .detach();
        }
    })
    .detach();
}

fn read(cx: &mut App) {
    let workspace = NSWorkspace::sharedWorkspace();
    super::note_system(workspace.accessibilityDisplayShouldReduceMotion(), cx);
}
