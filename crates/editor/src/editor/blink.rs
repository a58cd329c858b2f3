//! The blinking caret.

use std::time::Duration;

use gpui_kit::{Context, Task, Window};

use super::Editor;

/// Interval of the caret's blinking.
const BLINK: Duration = Duration::from_millis(530);

/// Blinking of the caret: whether it is shown now, and the task that toggles it.
pub(crate) struct CaretBlink {
    pub(crate) is_shown: bool,
    pub(super) task: Option<Task<()>>,
    /// Whether the CPU draws each frame, so that animations are disabled.
    pub(super) is_still: bool,
}

impl CaretBlink {
    pub(super) fn new(window: &Window) -> Self {
        Self {
            is_shown: true,
            task: None,
            is_still: window
                .gpu_specs()
                .is_some_and(|gpu| gpu.is_software_emulated),
        }
    }
}

impl Editor {
    /// Shows the caret and restarts its blinking. The caret stays on without blinking if the
    /// settings turn blinking off or animations are disabled.
    pub(crate) fn show_caret(&mut self, cx: &mut Context<Self>) {
        self.blink.is_shown = true;
        if !self.settings.cursor_blink || !self.may_move(cx) {
            self.blink.task = None;
            return;
        }
        self.blink.task = Some(cx.spawn(async move |this, cx| {
            loop {
                cx.background_executor().timer(BLINK).await;
                let goes_on = this.update(cx, |editor, cx| {
                    editor.blink.is_shown = !editor.blink.is_shown;
                    cx.notify();
                });
                if goes_on.is_err() {
                    return;
                }
            }
        }));
    }
}
