//! Updates: a package may replace the program while it runs.
//!
//! Looks when a window becomes active, so that an idle program reads nothing. Nothing is downloaded.

use gpui_kit::{App, AppContext as _, Context, Global, Window};
use ui::Tone;

use super::Workbench;
use crate::actions::app::Restart;
use crate::notices::Notice;

/// Whether the user was notified of the update.
#[derive(Default)]
struct UpdateNotified(bool);

impl Global for UpdateNotified {}

/// Checks in the background whether the program was replaced, and says so once.
pub(super) fn check_program(
    workbench: &Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(program) = workbench.services.program.clone() else {
        return;
    };
    if cx.default_global::<UpdateNotified>().0 {
        return;
    }
    let files = workbench.services.files.clone();
    let checking = cx.background_spawn(async move { program.file.is_replaced(files.as_ref()) });
    cx.spawn_in(window, async move |this, cx| {
        if !checking.await {
            return;
        }
        let shown = this.update_in(cx, |this, window, cx| {
            if std::mem::replace(&mut cx.default_global::<UpdateNotified>().0, true) {
                return;
            }
            let sentence = "Another version of Burin was installed. A restart uses it; windows and unsaved text come back.";
            let notice = Notice::new(Tone::Info, sentence)
                .key("update")
                .action("Restart", Restart);
            this.report(notice, window, cx);
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Ends this process and starts the program again. Everything must be stored.
pub(crate) fn start_again(cx: &mut App) {
    let program = crate::services::Services::of(cx).program;
    match program {
        Some(program) => (program.restart)(program.file.path(), cx),
        // The user starts it.
        None => cx.quit(),
    }
}
