//! The blinking cursor.

use std::time::{Duration, Instant};

use gpui_kit::{Context, Window};
use settings::TerminalBlinking;
use ui::{ActiveSettings as _, RestTimer};

use super::TerminalView;

/// Interval of the blinking.
const BLINK: Duration = Duration::from_millis(530);

/// Time after the last key or output of the user's after which the cursor stays on.
const BLINK_TIME: Duration = Duration::from_secs(10);

/// The blinking of the cursor: whether it is shown now, and the timer that toggles it.
pub(crate) struct CursorBlink {
    pub(crate) is_shown: bool,
    timer: RestTimer<TerminalView>,
    /// The time at which the blinking ends.
    end: Option<Instant>,
    /// Whether the CPU draws each frame, so that animations are disabled.
    is_still: bool,
}

impl CursorBlink {
    pub(super) fn new(window: &Window) -> Self {
        Self {
            is_shown: true,
            timer: RestTimer::new(BLINK, |it| &mut it.blink.timer, TerminalView::toggle_cursor),
            end: None,
            is_still: window
                .gpu_specs()
                .is_some_and(|gpu| gpu.is_software_emulated),
        }
    }

    /// Shows the cursor without blinking.
    pub(super) fn stop(&mut self) {
        self.is_shown = true;
        self.timer.cancel();
    }
}

impl TerminalView {
    /// Shows the cursor and restarts its blinking, if it blinks.
    pub(super) fn show_cursor(&mut self, cx: &mut Context<Self>) {
        self.blink.is_shown = true;
        let program_blinks = || {
            let cursor = self.contents.snapshot.cursor;
            cursor.is_some_and(|cursor| cursor.is_blinking)
        };
        let blinks = match cx.settings().terminal.blinking {
            TerminalBlinking::On => true,
            TerminalBlinking::Off => false,
            TerminalBlinking::Program => program_blinks(),
        };
        if blinks && self.is_shown && !self.blink.is_still && !cx.reduce_motion() {
            self.blink.end = Some(cx.background_executor().now() + BLINK_TIME);
            self.blink.timer.put_off(cx);
        } else {
            self.blink.stop();
        }
    }

    fn toggle_cursor(&mut self, cx: &mut Context<Self>) {
        let now = cx.background_executor().now();
        if self.blink.end.is_some_and(|end| now < end) {
            self.blink.is_shown = !self.blink.is_shown;
            self.blink.timer.put_off(cx);
        } else {
            self.blink.stop();
        }
        cx.notify();
    }
}
