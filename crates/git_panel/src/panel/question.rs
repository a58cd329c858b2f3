//! Questions of the panel before what the user may not want.

use base::AbsPath;
use git::changes::Change;
use git::merge::TreePath;
use git_program::{LocalChanges, SwitchRequest};
use gpui_kit::{Context, Window};

use super::ChangesPanel;
use super::commit::CommitKind;
use crate::rows::shown_bytes;
use crate::service::{GitCommand, PushMode};

/// A question that waits for the user.
#[derive(Clone, Debug)]
pub(super) enum PanelQuestion {
    /// Whether to commit without hooks.
    CommitWithoutHooks,
    /// Whether the files have no conflicts any more.
    MarkResolved(Vec<(AbsPath, Vec<TreePath>)>),
    /// Whether to discard these changes.
    Discard(Vec<(AbsPath, Change)>),
    /// Whether to return to the state before the operation.
    Abort,
    /// Whether to stash local changes for a switch.
    StashAndSwitch(SwitchRequest),
    /// Whether to replace the branch on the remote.
    PushWithLease,
}

impl PanelQuestion {
    /// Returns the question and the label of the button that answers with yes.
    pub(super) fn words(&self) -> (String, &'static str) {
        match self {
            Self::CommitWithoutHooks => (
                "Commit without running the hooks pre-commit and commit-msg?".to_owned(),
                "Commit without hooks",
            ),
            Self::MarkResolved(files) => {
                let mut paths = files.iter().flat_map(|(_, paths)| paths);
                let text = match (paths.next(), paths.count()) {
                    (Some(path), 0) => format!(
                        "Mark {} as resolved? It is staged as it is in its file.",
                        shown_bytes(path.as_bytes())
                    ),
                    (_, more) => format!(
                        "Mark {} files as resolved? They are staged as they are.",
                        more + 1
                    ),
                };
                (text, "Mark as resolved")
            }
            Self::Discard(changes) => (
                format!("Discard the changes of {} files?", changes.len()),
                "Discard changes",
            ),
            Self::Abort => (
                "Return to the state before the operation? Resolved conflicts are lost.".to_owned(),
                "Abort operation",
            ),
            Self::StashAndSwitch(request) => (
                format!(
                    "Local changes prevent the switch. Stash them, switch to {}, and apply them there?",
                    shown_bytes(request.target.as_bytes())
                ),
                "Stash and switch",
            ),
            Self::PushWithLease => (
                "Replace the branch on the remote, if it is as it was last fetched?".to_owned(),
                "Push with lease",
            ),
        }
    }
}

impl ChangesPanel {
    /// Asks a question, with the focus on the button that changes nothing.
    pub(super) fn ask(
        &mut self,
        question: PanelQuestion,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.question = Some(question);
        self.cancel_focus.focus(window, cx);
        cx.notify();
    }

    /// Asks whether to return to the state before the operation in progress.
    pub fn ask_abort(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.ask(PanelQuestion::Abort, window, cx);
    }

    /// Asks whether to replace the branch on the remote.
    pub fn ask_push_with_lease(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.ask(PanelQuestion::PushWithLease, window, cx);
    }

    /// Closes the question without an effect.
    pub(super) fn dismiss_question(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.question.take().is_some() {
            self.focus.focus(window, cx);
            cx.notify();
        }
    }

    /// Carries out the question.
    pub(super) fn confirm_question(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(question) = self.question.take() else {
            return;
        };
        self.focus.focus(window, cx);
        match question {
            PanelQuestion::CommitWithoutHooks => {
                self.commit_now(CommitKind::WithoutHooks, window, cx);
            }
            PanelQuestion::MarkResolved(files) => {
                for (root, paths) in files {
                    self.send_staging(root, paths, true, window, cx);
                }
            }
            PanelQuestion::Discard(changes) => self.discard(changes, window, cx),
            PanelQuestion::Abort => self.run(GitCommand::Abort, window, cx),
            PanelQuestion::StashAndSwitch(request) => {
                let request = SwitchRequest {
                    local_changes: LocalChanges::Stash,
                    ..request
                };
                self.run(GitCommand::Switch(request), window, cx);
            }
            PanelQuestion::PushWithLease => {
                self.run(GitCommand::Push(PushMode::WithLease), window, cx);
            }
        }
        cx.notify();
    }
}
