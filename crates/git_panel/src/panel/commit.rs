//! Commits.

use base::AbsPath;
use git::changes::{ChangeGroup, OperationKind};
use git_program::{CommitRequest, MessageComments};
use gpui_kit::{Context, Focusable as _, Window};
use ui::Tone;

use super::ChangesPanel;
use super::call::AfterCall;
use super::question::PanelQuestion;
use crate::service::{GitAnswer, MessageDraft};

/// The form of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitKind {
    /// A commit of the staged changes.
    Plain,
    /// The branch is pushed afterwards.
    AndPush,
    /// It replaces the last commit. Without a message, that of the last commit stays.
    Amend,
    /// With a line that signs it off.
    SignedOff,
    /// No hook checks it. Asks first.
    WithoutHooks,
}

impl ChangesPanel {
    /// Commits the staged changes of the current repository.
    pub fn commit(&mut self, kind: CommitKind, window: &mut Window, cx: &mut Context<Self>) {
        if kind == CommitKind::WithoutHooks {
            return self.ask(PanelQuestion::CommitWithoutHooks, window, cx);
        }
        self.commit_now(kind, window, cx);
    }

    pub(super) fn commit_now(
        &mut self,
        kind: CommitKind,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.is_busy(cx) || !self.can_commit(kind, window, cx) {
            return;
        }
        let Some(root) = self.state.current().map(|it| it.info.root.clone()) else {
            return;
        };
        let Some(message) = self.message(&root) else {
            return;
        };
        let message = message.read(cx);
        let comments = if message.is_template() {
            MessageComments::Strip
        } else {
            MessageComments::Keep
        };
        let request = CommitRequest {
            message: (!message.is_empty(cx)).then(|| message.text(cx)),
            comments,
            amend: kind == CommitKind::Amend,
            sign_off: kind == CommitKind::SignedOff,
            no_verify: kind == CommitKind::WithoutHooks,
            ..CommitRequest::default()
        };
        let run = self.service.commit(&root, request);
        let after = AfterCall::ClearMessage { kind };
        self.follow_call(root, "Committing", run, after, window, cx);
    }

    /// Returns whether the current repository can be committed, and else says why.
    fn can_commit(
        &mut self,
        kind: CommitKind,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        let Some(repository) = self.state.current() else {
            self.note(Tone::Info, "There is no repository here", cx);
            return false;
        };
        let is_amend = kind == CommitKind::Amend;
        let operation = repository
            .changes
            .as_ref()
            .and_then(|it| it.operation.as_ref());
        let is_merge = operation.is_some_and(|it| it.kind == OperationKind::Merge);
        let has = |group| repository.group(group).next().is_some();
        let problem = if has(ChangeGroup::Conflicts) {
            Some("There are conflicts; resolve and stage them first")
        } else if !has(ChangeGroup::Staged) && !is_amend && !is_merge {
            Some("Nothing is staged; stage the changes for the commit first")
        } else {
            None
        };
        if let Some(problem) = problem {
            self.note(Tone::Warning, problem, cx);
            return false;
        }
        let message = self.message(&repository.info.root).cloned();
        let Some(message) = message else {
            self.note(Tone::Info, "The message is still loading", cx);
            return false;
        };
        if message.read(cx).is_empty(cx) && !is_amend {
            self.note(Tone::Warning, "Type a message for the commit first", cx);
            let editor = message.read(cx).editor().clone();
            editor.read(cx).focus_handle(cx).focus(window, cx);
            return false;
        }
        true
    }

    /// Replaces the message of the current repository by that of its last commit.
    pub fn use_last_message(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(root) = self.state.current().map(|it| it.info.root.clone()) {
            let reading = self.service.last_message(&root);
            self.take_message(root, reading, window, cx);
        }
    }

    /// Replaces the message of the current repository by one of a model.
    pub fn suggest_message(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(root) = self.state.current().map(|it| it.info.root.clone()) {
            self.note(Tone::Info, "Waiting for a message of the model\u{2026}", cx);
            let asking = self.service.suggest_message(&root);
            self.take_message(root, asking, window, cx);
        }
    }

    /// Replaces the message by a text when it arrives, as one step that the user can undo.
    fn take_message(
        &mut self,
        root: AbsPath,
        text: GitAnswer<String>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        cx.spawn_in(window, async move |this, cx| {
            let text = text.await;
            this.update_in(cx, |this, _, cx| match text {
                Ok(text) => {
                    this.notice = None;
                    if let Some(message) = this.message(&root).cloned() {
                        let draft = MessageDraft {
                            text,
                            is_template: false,
                        };
                        message.update(cx, |message, cx| message.set(draft, cx));
                    }
                    cx.notify();
                }
                Err(failure) => this.fail(&failure, cx),
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
    }

    /// Focuses the message of the current repository.
    pub fn focus_message(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let root = self.state.current().map(|it| it.info.root.clone());
        let message = root.and_then(|root| self.message(&root).cloned());
        if let Some(message) = message {
            let editor = message.read(cx).editor().clone();
            editor.read(cx).focus_handle(cx).focus(window, cx);
        }
    }
}
