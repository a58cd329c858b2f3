//! Installs the command `burin`, which opens files from a terminal.

use gpui_kit::{AppContext as _, Context, Window};
use ui::Tone;

use super::Workbench;
use crate::actions::app::InstallCommand;
use crate::notices::Notice;

/// Installs the command in the background and reports where it is.
pub(super) fn install_command(
    workbench: &mut Workbench,
    _: &InstallCommand,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(install) = workbench.services.install.clone() else {
        let sentence = "the command burin cannot be installed: the path of the program is unknown";
        return workbench.report_error(sentence, window, cx);
    };
    let installed = cx.background_spawn(async move { install() });
    cx.spawn_in(window, async move |this, cx| {
        let installed = installed.await;
        let reported = this.update_in(cx, |this, window, cx| match installed {
            Ok(link) => {
                let sentence =
                    format!("the command is installed: {}", this.services.display(&link));
                this.report(
                    Notice::new(Tone::Success, sentence).key("install"),
                    window,
                    cx,
                );
            }
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        // The window may have been closed.
        reported.ok();
    })
    .detach();
}
