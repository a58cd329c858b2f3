//! Rebases with an edited list of commits: which commits, and the start.

use base::AbsPath;
use git_program::RebaseRequest;
use gpui_kit::{Context, Window};
use ui::Tone;

use super::call::AfterCall;
use super::{ChangesPanel, ChangesPanelEvent, CommitPurpose, choosing};
use crate::service::{GitCommand, GitFailureKind};

/// Asks the window for the list of the commits after the upstream branch of the current repository; without one, first for
/// the commit to begin with.
pub(super) fn open(panel: &mut ChangesPanel, window: &mut Window, cx: &mut Context<ChangesPanel>) {
    let Some(root) = panel.state.current().map(|it| it.info.root.clone()) else {
        return panel.note(Tone::Info, "There is no repository here", cx);
    };
    open_plan(panel, root, None, window, cx);
}

/// Asks the window for the list of the commits from `first` on.
pub(super) fn open_from(
    panel: &mut ChangesPanel,
    root: AbsPath,
    first: String,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    open_plan(panel, root, Some(first), window, cx);
}

fn open_plan(
    panel: &mut ChangesPanel,
    root: AbsPath,
    first: Option<String>,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    if panel.is_busy(cx) {
        return;
    }
    let reading = panel.service.rebase_plan(&root, first);
    cx.spawn_in(window, async move |this, cx| {
        let plan = reading.await;
        this.update_in(cx, |this, window, cx| match plan {
            Ok(plan) if plan.steps.is_empty() => {
                this.note(Tone::Info, "There are no commits to rebase", cx);
            }
            Ok(plan) => cx.emit(ChangesPanelEvent::EditRebase {
                repository: root,
                plan,
            }),
            Err(failure) if failure.kind == GitFailureKind::NoUpstream => {
                choosing::choose(this, root, CommitPurpose::RebaseFrom, window, cx);
            }
            Err(failure) => this.fail(&failure, cx),
        })
        // The panel may be gone.
        .ok();
    })
    .detach();
}

/// Starts a rebase; returns whether no other call prevented it.
pub(super) fn start(
    panel: &mut ChangesPanel,
    root: AbsPath,
    request: RebaseRequest,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) -> bool {
    if panel.is_busy(cx) {
        return false;
    }
    let run = panel.service.run(&root, GitCommand::Rebase(request));
    panel.follow_call(root, "Rebasing", run, AfterCall::OpenConflict, window, cx);
    cx.emit(ChangesPanelEvent::AttentionRequested);
    true
}
