//! The list of commits that a rebase replays, edited by the keyboard: their order, and the action on each.
//!
//! Nothing changes in the repository before `start`. Invariant: the commits are listed oldest first, in the order in which
//! Git replays them.

mod render;
mod steps;

use base::AbsPath;
use futures::future::{FutureExt as _, TryFutureExt as _, ready, try_join_all};
use git_program::{RebaseAction, RebaseRequest};
use gpui_kit::{
    App, AppContext as _, Context, DismissEvent, Entity, EventEmitter, FocusHandle, Focusable,
    ScrollStrategy, SharedString, UniformListScrollHandle, Window,
};

use super::{ChangesPanel, rebase};
use crate::actions::rebase as act;
use crate::message::CommitMessage;
use crate::service::{GitAnswer, MessageDraft, RebasePlan};
use steps::{MessagePart, RebaseSteps};

/// The list of the commits of a rebase, for the window's modal layer.
pub struct RebaseList {
    panel: Entity<ChangesPanel>,
    root: AbsPath,
    upstream: String,
    title: SharedString,
    /// A sentence about merges, if there are any.
    warning: Option<SharedString>,
    steps: RebaseSteps,
    message: Option<EditedMessage>,
    /// The reason why the rebase does not start, or why a message cannot be read.
    problem: Option<SharedString>,
    focus: FocusHandle,
    scroll: UniformListScrollHandle,
}

/// The message of a commit while it is edited.
struct EditedMessage {
    /// The commit.
    id: String,
    message: Entity<CommitMessage>,
}

impl EventEmitter<DismissEvent> for RebaseList {}

impl Focusable for RebaseList {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl RebaseList {
    /// Creates the list of a plan for a repository of `panel`.
    pub fn new(
        panel: Entity<ChangesPanel>,
        repository: AbsPath,
        plan: RebasePlan,
        cx: &mut Context<Self>,
    ) -> Self {
        let count = base::count_of(plan.steps.len(), "commit");
        let title = format!("Rebase {count} onto {}", plan.base);
        let warning = (plan.merges > 0).then(|| {
            let merges = base::count_of(plan.merges, "merge");
            format!("Without {merges}: the merged commits are replayed one after the other.")
        });
        Self {
            panel,
            root: repository,
            upstream: plan.upstream,
            title: ui::foreign::one_line(title),
            warning: warning.map(SharedString::from),
            steps: RebaseSteps::new(plan.steps),
            message: None,
            problem: None,
            focus: cx.focus_handle().tab_stop(true),
            scroll: UniformListScrollHandle::new(),
        }
    }

    fn select_by(&mut self, by: isize, cx: &mut Context<Self>) {
        self.steps.select_by(by);
        self.show_selected(cx);
    }

    fn move_by(&mut self, by: isize, cx: &mut Context<Self>) {
        self.steps.move_by(by);
        self.show_selected(cx);
    }

    fn show_selected(&mut self, cx: &mut Context<Self>) {
        self.problem = None;
        let selected = self.steps.selected();
        self.scroll
            .scroll_to_item(selected, ScrollStrategy::Nearest);
        cx.notify();
    }

    fn set_action(&mut self, action: RebaseAction, cx: &mut Context<Self>) {
        self.steps.set(action);
        self.problem = None;
        cx.notify();
    }

    /// Opens the message of the selected commit for editing; for a squash, that of the commit which it makes.
    fn reword(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(step) = self.steps.current() else {
            return;
        };
        let id = step.id.clone();
        let parts = self.steps.message_parts();
        if let [MessagePart::Text(text)] = &parts[..] {
            let text = text.clone();
            return self.open_message(id, text, window, cx);
        }
        let reading = self.read_message(parts, cx);
        cx.spawn_in(window, async move |this, cx| {
            let message = reading.await;
            this.update_in(cx, |this, window, cx| match message {
                Ok(text) => this.open_message(id, text, window, cx),
                Err(failure) => {
                    this.problem = Some(failure.sentence.into());
                    cx.notify();
                }
            })
            // The list may be closed.
            .ok();
        })
        .detach();
    }

    /// Reads a message whose parts a blank line separates.
    fn read_message(&self, parts: Vec<MessagePart>, cx: &App) -> GitAnswer<String> {
        let service = self.panel.read(cx).service();
        let readings = parts.into_iter().map(|part| match part {
            MessagePart::Text(text) => ready(Ok(text)).boxed(),
            MessagePart::OfCommit(id) => service.commit_message(&self.root, id),
        });
        let readings: Vec<GitAnswer<String>> = readings.collect();
        let is_whole = readings.len() == 1;
        let joined = try_join_all(readings).map_ok(move |texts| {
            if is_whole {
                return texts.concat();
            }
            let texts = texts.iter().map(|text| text.trim_end());
            format!("{}\n", texts.collect::<Vec<_>>().join("\n\n"))
        });
        joined.boxed()
    }

    fn open_message(
        &mut self,
        id: String,
        text: String,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let environment = self.panel.read(cx).environment.clone();
        let draft = MessageDraft {
            text,
            is_template: false,
        };
        let message = cx.new(|cx| CommitMessage::new(draft, environment, window, cx));
        let editor = message.read(cx).editor().clone();
        editor.read(cx).focus_handle(cx).focus(window, cx);
        self.message = Some(EditedMessage { id, message });
        self.problem = None;
        cx.notify();
    }

    /// Takes the edited message, and returns to the list. An empty message leaves that of the commit.
    fn end_message(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(EditedMessage { id, message }) = self.message.take() {
            let text = message.read(cx).text(cx);
            self.steps.set_message(&id, text);
            self.focus.focus(window, cx);
            cx.notify();
        }
    }

    /// Starts the rebase and closes the list, unless the steps cannot be replayed or Git is busy.
    fn start(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.end_message(window, cx);
        if let Some(problem) = self.steps.problem() {
            self.problem = Some(problem.into());
            return cx.notify();
        }
        let request = RebaseRequest {
            upstream: self.upstream.clone(),
            onto: None,
            autostash: true,
            steps: Some(self.steps.all().to_vec()),
        };
        let root = self.root.clone();
        let is_started = self.panel.update(cx, |panel, cx| {
            rebase::start(panel, root, request, window, cx)
        });
        if is_started {
            cx.emit(DismissEvent);
        } else {
            self.problem = Some("Git is busy; wait for the other call to end".into());
            cx.notify();
        }
    }

    fn cancel(&mut self, _: &act::Cancel, window: &mut Window, cx: &mut Context<Self>) {
        if self.message.is_some() {
            self.end_message(window, cx);
        } else {
            cx.emit(DismissEvent);
        }
    }
}

#[cfg(test)]
mod tests;
