//! The open pull requests of the repository's host.

use gpui_kit::{Context, Window};
use ui::Tone;

use super::{ChangesPanel, ChangesPanelEvent};

/// Reads the open pull requests of the current repository, and asks the window for one of them.
pub(super) fn choose(
    panel: &mut ChangesPanel,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    let Some(root) = panel.state.current().map(|it| it.info.root.clone()) else {
        return panel.note(Tone::Info, "There is no repository here", cx);
    };
    panel.note(Tone::Info, "Reading the pull requests\u{2026}", cx);
    let reading = panel.service.pull_requests(&root);
    cx.spawn_in(window, async move |this, cx| {
        let requests = reading.await;
        this.update_in(cx, |this, _, cx| match requests {
            Ok(requests) if requests.is_empty() => {
                this.note(Tone::Info, "There are no open pull requests", cx);
            }
            Ok(requests) => {
                this.notice = None;
                cx.notify();
                cx.emit(ChangesPanelEvent::ChoosePullRequest(requests));
            }
            Err(failure) => this.fail(&failure, cx),
        })
        // The panel may be gone.
        .ok();
    })
    .detach();
}
