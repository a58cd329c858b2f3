//! The blinking caret.

use std::time::Duration;

use gpui_kit::{Context, Window};
use ui::RestTimer;

use super::Editor;

/// Interval of the caret's blinking.
const BLINK: Duration = Duration::from_millis(530);

/// Blinking of the caret: whether it is shown now, and the timer that toggles it.
pub(crate) struct CaretBlink {
    pub(crate) is_shown: bool,
    timer: RestTimer<Editor>,
    /// Whether the CPU draws each frame, so that animations are disabled.
    pub(super) is_still: bool,
}

impl CaretBlink {
    pub(super) fn new(window: &Window) -> Self {
        Self {
            is_shown: true,
            timer: RestTimer::new(BLINK, |it| &mut it.blink.timer, Editor::toggle_caret),
            is_still: window
                .gpu_specs()
                .is_some_and(|gpu| gpu.is_software_emulated),
        }
    }

    /// Shows the caret without blinking.
    pub(super) fn stop(&mut self) {
        self.is_shown = true;
        self.timer.cancel();
    }
}

impl Editor {
    /// Shows the caret and restarts its blinking. The caret stays on without blinking if the
    /// settings turn blinking off or animations are disabled.
    pub(crate) fn show_caret(&mut self, cx: &mut Context<Self>) {
        self.blink.is_shown = true;
        if self.settings.cursor_blink && self.may_move(cx) {
            self.blink.timer.put_off(cx);
        } else {
            self.blink.stop();
        }
    }

    fn toggle_caret(&mut self, cx: &mut Context<Self>) {
        self.blink.is_shown = !self.blink.is_shown;
        self.blink.timer.put_off(cx);
        cx.notify();
    }
}
