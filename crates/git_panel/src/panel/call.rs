//! Calls of the git program: one at a time, with its output and a way to end it.

use base::AbsPath;
use git_program::{LocalChanges, SwitchKind, SwitchRequest};
use gpui_kit::{Context, SharedString, Task, Window};
use ui::Tone;

use super::question::PanelQuestion;
use super::{ChangesPanel, ChangesPanelEvent, CommitKind, identity};
use crate::service::{
    GitCommand, GitFailure, GitFailureKind, GitOutcome, GitRun, MessageDraft, PushMode,
};

/// A call of the git program in progress.
pub(super) struct RunningCall {
    /// The activity, such as `Committing`.
    pub(super) label: &'static str,
    /// The last line of the output.
    pub(super) last_line: SharedString,
    cancel: Option<Box<dyn FnOnce() + Send>>,
    _output: Task<()>,
}

/// The work after a call.
#[derive(Clone, Debug)]
pub(super) enum AfterCall {
    /// The outcome is shown.
    Show,
    /// The message of the commit is cleared, and the branch pushed if the kind says so.
    ClearMessage { kind: CommitKind },
    /// The first file with conflicts is opened.
    OpenConflict,
    /// If local changes prevent the switch, the user may stash them.
    OfferStash(SwitchRequest),
}

impl ChangesPanel {
    /// Returns whether a call is in progress, and says so.
    pub(super) fn is_busy(&mut self, cx: &mut Context<Self>) -> bool {
        let Some(call) = &self.call else {
            return false;
        };
        let text = format!("Git is busy: {}", call.label.to_lowercase());
        self.note(Tone::Info, text, cx);
        true
    }

    /// Runs a command on the current repository.
    pub fn run(&mut self, command: GitCommand, window: &mut Window, cx: &mut Context<Self>) {
        let Some(root) = self.state.current().map(|it| it.info.root.clone()) else {
            return self.note(Tone::Info, "There is no repository here", cx);
        };
        if self.is_busy(cx) {
            return;
        }
        let label = label_of(&command);
        let after = match &command {
            GitCommand::Switch(request) if request.local_changes == LocalChanges::Refuse => {
                AfterCall::OfferStash(request.clone())
            }
            GitCommand::Continue | GitCommand::Skip => AfterCall::OpenConflict,
            _ => AfterCall::Show,
        };
        let run = self.service.run(&root, command);
        self.follow_call(root, label, run, after, window, cx);
    }

    /// Shows a call and its outcome.
    pub(super) fn follow_call(
        &mut self,
        root: AbsPath,
        label: &'static str,
        run: GitRun,
        after: AfterCall,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let GitRun {
            output,
            outcome,
            cancel,
        } = run;
        let reading = cx.spawn(async move |this, cx| {
            while let Ok(bytes) = output.recv().await {
                let shown = this.update(cx, |this, cx| this.show_output(&bytes, cx));
                if shown.is_err() {
                    break;
                }
            }
        });
        self.notice = None;
        self.shows_log = false;
        self.call = Some(RunningCall {
            label,
            last_line: SharedString::default(),
            cancel: Some(cancel),
            _output: reading,
        });
        self.state.begin_write(&root);
        cx.spawn_in(window, async move |this, cx| {
            let outcome = outcome.await;
            this.update_in(cx, |this, window, cx| {
                this.call = None;
                this.state.end_write(&root);
                match outcome {
                    Ok(outcome) => this.call_done(&root, outcome, after, window, cx),
                    Err(failure) => this.call_failed(&failure, after, window, cx),
                }
                this.read_due(window, cx);
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
        cx.notify();
    }

    fn call_done(
        &mut self,
        root: &AbsPath,
        outcome: GitOutcome,
        after: AfterCall,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let tone = if outcome.conflicts.is_empty() {
            Tone::Success
        } else {
            Tone::Warning
        };
        self.note(tone, outcome.sentence, cx);
        if let (AfterCall::OpenConflict, Some(path)) = (&after, outcome.conflicts.first()) {
            cx.emit(ChangesPanelEvent::OpenFile(root.join(path.to_path())));
        }
        if let AfterCall::ClearMessage { kind } = after {
            if let Some(message) = self.message(root).cloned() {
                message.update(cx, |message, cx| message.set(MessageDraft::default(), cx));
            }
            self.store_draft(root, String::new(), cx);
            if kind == CommitKind::AndPush {
                let run = self.service.run(root, GitCommand::Push(PushMode::Normal));
                self.follow_call(root.clone(), "Pushing", run, AfterCall::Show, window, cx);
            }
        }
    }

    fn call_failed(
        &mut self,
        failure: &GitFailure,
        after: AfterCall,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.fail(failure, cx);
        if failure.kind == GitFailureKind::IdentityMissing {
            let retry = match after {
                AfterCall::ClearMessage { kind } => Some(kind),
                AfterCall::Show | AfterCall::OpenConflict | AfterCall::OfferStash(_) => None,
            };
            return identity::open(self, retry, window, cx);
        }
        if let (AfterCall::OfferStash(request), GitFailureKind::LocalChanges(_)) =
            (after, &failure.kind)
        {
            self.ask(PanelQuestion::StashAndSwitch(request), window, cx);
        }
    }

    fn show_output(&mut self, bytes: &[u8], cx: &mut Context<Self>) {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.split(['\n', '\r']).rev();
        let last = lines.find(|line| !line.trim().is_empty());
        if let (Some(call), Some(line)) = (&mut self.call, last) {
            call.last_line = ui::foreign::one_line(without_colors(line));
            cx.notify();
        }
    }

    /// Ends the call in progress.
    pub(super) fn cancel_call(&mut self, cx: &mut Context<Self>) {
        let cancel = self.call.as_mut().and_then(|call| call.cancel.take());
        if let Some(cancel) = cancel {
            cancel();
            cx.notify();
        }
    }

    /// Asks the window for the branch to switch to.
    pub fn choose_branch(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(root) = self.state.current().map(|it| it.info.root.clone()) else {
            return self.note(Tone::Info, "There is no repository here", cx);
        };
        let reading = self.service.branches(&root);
        cx.spawn_in(window, async move |this, cx| {
            let branches = reading.await;
            this.update_in(cx, |this, _, cx| match branches {
                Ok(branches) => cx.emit(ChangesPanelEvent::ChooseBranch(branches)),
                Err(failure) => this.fail(&failure, cx),
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
    }

    /// Switches to a branch.
    pub fn switch_to(&mut self, branch: String, window: &mut Window, cx: &mut Context<Self>) {
        let request = SwitchRequest {
            target: branch,
            kind: SwitchKind::Branch,
            local_changes: LocalChanges::Refuse,
        };
        self.run(GitCommand::Switch(request), window, cx);
    }

    /// Creates a branch at HEAD and switches to it.
    pub fn create_branch(&mut self, name: String, window: &mut Window, cx: &mut Context<Self>) {
        let request = SwitchRequest {
            target: "HEAD".to_owned(),
            kind: SwitchKind::NewBranch(name),
            local_changes: LocalChanges::Refuse,
        };
        self.run(GitCommand::Switch(request), window, cx);
    }
}

/// Returns the activity of a command.
fn label_of(command: &GitCommand) -> &'static str {
    match command {
        GitCommand::Switch(_) => "Switching the branch",
        GitCommand::Fetch(_) => "Fetching",
        GitCommand::Pull(_) => "Pulling",
        GitCommand::Push(_) => "Pushing",
        GitCommand::Stash(_) => "Stashing",
        GitCommand::StashPop => "Applying the stash",
        GitCommand::CheckOutPullRequest(_) => "Checking out the pull request",
        GitCommand::Rebase(_) => "Rebasing",
        GitCommand::BisectStart { .. } | GitCommand::BisectMark(_) | GitCommand::BisectReset => {
            "Bisecting"
        }
        GitCommand::Continue => "Continuing",
        GitCommand::Skip => "Leaving the commit out",
        GitCommand::Abort => "Aborting",
    }
}

/// Returns a line without the escape sequences for colours.
fn without_colors(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = after.find(|letter: char| letter.is_ascii_alphabetic());
        rest = end.map_or("", |end| &after[end + 1..]);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::without_colors;

    #[test]
    fn colors_of_output_are_left_out() {
        assert_eq!(without_colors("\u{1b}[1;31mFAILED\u{1b}[0m a"), "FAILED a");
        assert_eq!(without_colors("plain"), "plain");
    }
}
