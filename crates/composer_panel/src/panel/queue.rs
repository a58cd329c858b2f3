//! The messages that wait in the open session, shown above the prompt.
//!
//! Invariant: a message that the user takes back reaches the prompt box once its removal is
//! recorded, so that it is never both sent and in the box.
//! Start at `ComposerPanel::render_queue`.

use std::collections::BTreeSet;

use agent::queue::PromptQueue;
use agent::record::{Delivery, QueueChange, QueuedPrompt, SessionRecord};
use agent::session::{QueueCommand, UserPrompt};
use agent::{AgentEvent, SessionCommand};
use base::{LineFeeds, printable};
use gpui_kit::{
    AnyElement, Context, FocusHandle, InteractiveElement as _, IntoElement as _,
    ParentElement as _, Role, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _,
    Window, div,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Icon, IconButton, Label, ListRow, dp};

use super::{ComposerPanel, OpenSession};
use crate::actions::{
    Cancel, EditQueued, FocusQueue, MoveQueuedDown, MoveQueuedUp, QueuePrompt, RemoveQueued,
    SelectNext, SelectPrevious, SendQueue, SendQueuedNow,
};

/// The state of the list of waiting messages.
pub(super) struct QueuePane {
    focus: FocusHandle,
    selected: Option<u64>,
}

/// The queue of the open session.
#[derive(Default)]
pub(super) struct OpenQueue {
    pub(super) queue: PromptQueue,
    /// Messages that go back to the prompt box once their removal is recorded.
    taken: BTreeSet<u64>,
}

impl OpenQueue {
    /// Applies an event. Returns the message that goes back to the prompt box.
    pub(super) fn apply(&mut self, event: &AgentEvent) -> Option<UserPrompt> {
        let AgentEvent::Recorded(stored) = event else {
            return None;
        };
        let taken = match &stored.record {
            SessionRecord::Queued {
                change: QueueChange::Removed { id },
            } if self.taken.remove(id) => self.queue.entry(*id).map(QueuedPrompt::prompt),
            _ => None,
        };
        self.queue.apply_record(&stored.record);
        taken
    }
}

impl QueuePane {
    pub(super) fn new(focus: FocusHandle) -> Self {
        Self {
            focus,
            selected: None,
        }
    }
}

impl OpenSession {
    /// Sends a message to the running turn, or queues it until the turn ends.
    pub(super) fn queue_prompt(&self, prompt: UserPrompt, delivery: Delivery) {
        self.change_queue(QueueCommand::Add { prompt, delivery });
    }

    fn change_queue(&self, command: QueueCommand) {
        (self.live.send)(SessionCommand::Queue(command));
    }

    /// Takes a message out of the queue; it goes back to the prompt box.
    fn take_back(&mut self, id: u64) {
        self.queue.taken.insert(id);
        self.change_queue(QueueCommand::Remove(id));
    }
}

impl ComposerPanel {
    fn queued(&self) -> &[QueuedPrompt] {
        let queue = self.open.as_ref().map(|open| open.queue.queue.entries());
        queue.unwrap_or_default()
    }

    /// Id of the selected message; the first one if none is selected.
    fn selected_queued(&self) -> Option<u64> {
        let entries = self.queued();
        let selected = self.queue.selected;
        let entry = entries.iter().find(|entry| Some(entry.id) == selected);
        entry.or(entries.first()).map(|entry| entry.id)
    }

    fn queued_position(&self, id: u64) -> Option<usize> {
        self.queued().iter().position(|entry| entry.id == id)
    }

    pub(super) fn queue_action(
        &mut self,
        _: &QueuePrompt,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.send_with(Delivery::NextTurn, window, cx);
    }

    pub(super) fn send_queue(&mut self, _: &SendQueue, _: &mut Window, _: &mut Context<Self>) {
        if let Some(open) = &self.open {
            open.change_queue(QueueCommand::Release);
        }
    }

    pub(super) fn focus_queue(
        &mut self,
        _: &FocusQueue,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if !self.queued().is_empty() {
            self.queue.focus.focus(window, cx);
            cx.notify();
        }
    }

    /// Takes the last waiting message back into the prompt box. Returns whether there is one.
    pub(super) fn take_last_queued(&mut self) -> bool {
        let last = self.queued().last().map(|entry| entry.id);
        match (last, &mut self.open) {
            (Some(id), Some(open)) => {
                open.take_back(id);
                true
            }
            _ => false,
        }
    }

    fn edit_queued(&mut self, _: &EditQueued, window: &mut Window, cx: &mut Context<Self>) {
        let id = self.selected_queued();
        if let (Some(id), Some(open)) = (id, &mut self.open) {
            open.take_back(id);
            self.focus_prompt(window, cx);
        }
    }

    fn remove_queued(&mut self, _: &RemoveQueued, window: &mut Window, cx: &mut Context<Self>) {
        let Some(id) = self.selected_queued() else {
            return;
        };
        let at = self.queued_position(id).unwrap_or(0);
        let next = self.queued().get(at + 1).or_else(|| {
            let before = at.checked_sub(1)?;
            self.queued().get(before)
        });
        self.queue.selected = next.map(|entry| entry.id);
        if self.queue.selected.is_none() {
            self.focus_prompt(window, cx);
        }
        self.send_queue_command(QueueCommand::Remove(id));
        cx.notify();
    }

    fn move_queued_up(&mut self, _: &MoveQueuedUp, _: &mut Window, cx: &mut Context<Self>) {
        self.move_queued(-1, cx);
    }

    fn move_queued_down(&mut self, _: &MoveQueuedDown, _: &mut Window, cx: &mut Context<Self>) {
        self.move_queued(1, cx);
    }

    /// Moves the selected message up or down by one place.
    fn move_queued(&mut self, step: isize, cx: &mut Context<Self>) {
        let Some(id) = self.selected_queued() else {
            return;
        };
        let entries = self.queued();
        let Some(at) = self.queued_position(id) else {
            return;
        };
        let before = match step {
            ..0 => at.checked_sub(1).and_then(|at| entries.get(at)),
            _ => entries.get(at + 2),
        };
        let before = before.map(|entry| entry.id);
        let is_at_edge = (step < 0 && at == 0) || (step > 0 && at + 1 == entries.len());
        if !is_at_edge {
            self.queue.selected = Some(id);
            self.send_queue_command(QueueCommand::Move { id, before });
            cx.notify();
        }
    }

    fn send_queued_now(&mut self, _: &SendQueuedNow, _: &mut Window, _: &mut Context<Self>) {
        if let Some(id) = self.selected_queued() {
            self.send_queue_command(QueueCommand::SendNow(id));
        }
    }

    fn select_queued(&mut self, step: isize, cx: &mut Context<Self>) {
        let at = self
            .selected_queued()
            .and_then(|id| self.queued_position(id));
        let last = self.queued().len().saturating_sub(1);
        let at = at.map(|at| at.saturating_add_signed(step).min(last));
        self.queue.selected = at.and_then(|at| self.queued().get(at)).map(|it| it.id);
        cx.notify();
    }

    fn send_queue_command(&self, command: QueueCommand) {
        if let Some(open) = &self.open {
            open.change_queue(command);
        }
    }

    /// Renders the waiting messages. Returns `None` if there are none.
    pub(super) fn render_queue(
        &self,
        window: &Window,
        cx: &mut Context<Self>,
    ) -> Option<AnyElement> {
        let queue = &self.open.as_ref()?.queue.queue;
        if queue.entries().is_empty() {
            return None;
        }
        let colors = cx.theme().colors;
        let (head, head_color) = if queue.is_held() {
            let text = "Queued messages are held: the last turn did not finish";
            (text, colors.warning)
        } else {
            ("Queued messages", colors.muted)
        };
        let release = queue.is_held().then(|| {
            Button::new("agent-queue-send", "Send all")
                .style(ButtonStyle::Ghost)
                .action(Box::new(SendQueue))
        });
        let has_focus = self.queue.focus.is_focused(window);
        let selected = self.selected_queued().filter(|_| has_focus);
        let rows: Vec<AnyElement> = queue
            .entries()
            .iter()
            .map(|entry| self.render_queued(entry, selected == Some(entry.id), cx))
            .collect();
        let list = div()
            .id("agent-queue")
            .role(Role::ListBox)
            .aria_label("Queued messages")
            .test_support()
            .track_focus(&self.queue.focus)
            .key_context("Composer queue")
            .on_action(cx.listener(|this, _: &SelectNext, _, cx| this.select_queued(1, cx)))
            .on_action(cx.listener(|this, _: &SelectPrevious, _, cx| this.select_queued(-1, cx)))
            .on_action(cx.listener(Self::edit_queued))
            .on_action(cx.listener(Self::remove_queued))
            .on_action(cx.listener(Self::move_queued_up))
            .on_action(cx.listener(Self::move_queued_down))
            .on_action(cx.listener(Self::send_queued_now))
            .on_action(cx.listener(|this, _: &Cancel, window, cx| this.focus_prompt(window, cx)))
            .flex()
            .flex_col()
            .max_h(dp(96.0))
            .overflow_y_scroll()
            .children(rows);
        let head = div()
            .flex()
            .items_center()
            .justify_between()
            .child(Label::new(head).small().color(head_color))
            .children(release);
        Some(
            div()
                .flex()
                .flex_col()
                .gap(dp(4.0))
                .child(head)
                .child(list)
                .into_any_element(),
        )
    }

    fn render_queued(
        &self,
        entry: &QueuedPrompt,
        is_selected: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let id = entry.id;
        let prompt = entry.prompt();
        let text = printable(&prompt.text, LineFeeds::Escape).into_owned();
        let when = match entry.delivery {
            Delivery::NextRequest => "next step",
            Delivery::NextTurn => "after this turn",
        };
        let images = match prompt.images.len() {
            0 => String::new(),
            1 => ", 1 image".to_owned(),
            count => format!(", {count} images"),
        };
        let button = |name: &'static str, icon, label| {
            IconButton::new((name, id), icon, label)
                .small()
                .tab_stop(false)
        };
        let select = move |this: &mut Self| this.queue.selected = Some(id);
        ListRow::new(("queued", id), format!("{text}, {when}{images}"))
            .selected(is_selected)
            .on_click(cx.listener(move |this, _, window, cx| {
                select(this);
                this.focus_queue(&FocusQueue, window, cx);
            }))
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .child(Label::new(text.clone()).small()),
            )
            .child(Label::new(format!("{when}{images}")).tiny().muted())
            .child(
                button("queued-now", Icon::ArrowUp, "Send now").on_click(cx.listener(
                    move |this, _, window, cx| {
                        cx.stop_propagation();
                        select(this);
                        this.send_queued_now(&SendQueuedNow, window, cx);
                    },
                )),
            )
            .child(
                button("queued-edit", Icon::Edit, "Edit").on_click(cx.listener(
                    move |this, _, window, cx| {
                        cx.stop_propagation();
                        select(this);
                        this.edit_queued(&EditQueued, window, cx);
                    },
                )),
            )
            .child(
                button("queued-remove", Icon::Close, "Remove").on_click(cx.listener(
                    move |this, _, window, cx| {
                        cx.stop_propagation();
                        select(this);
                        this.remove_queued(&RemoveQueued, window, cx);
                    },
                )),
            )
            .into_any_element()
    }
}
