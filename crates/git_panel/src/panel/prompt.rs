//! Questions of Git, ssh and hooks: passwords, passphrases, keys of hosts.

use git_program::PromptKind;
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    AppContext as _, Context, Entity, Focusable as _, SharedString, Subscription, Task, Window,
};
use zeroize::Zeroizing;

use super::{ChangesPanel, ChangesPanelEvent};
use crate::service::GitPrompt;

/// A question that is shown.
pub(super) struct OpenPrompt {
    pub(super) text: SharedString,
    pub(super) kind: PromptKind,
    pub(super) field: Entity<InputState>,
    reply: Box<dyn FnOnce(Zeroizing<String>) + Send>,
    _typing: Subscription,
    /// Takes the question away when the program no longer waits.
    _end: Task<()>,
}

impl ChangesPanel {
    /// Shows a question, or lets it wait for the one that is shown.
    pub(super) fn take_prompt(
        &mut self,
        prompt: GitPrompt,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.waiting_prompts.push_back(prompt);
        if self.prompt.is_none() {
            self.show_next_prompt(window, cx);
        }
    }

    fn show_next_prompt(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.prompt = None;
        cx.notify();
        let Some(prompt) = self.waiting_prompts.pop_front() else {
            return;
        };
        let is_secret = prompt.kind.is_secret();
        let field = cx.new(|cx| InputState::new(window, cx).masked(is_secret));
        let typing = cx.subscribe_in(&field, window, |this, _, event: &InputEvent, window, cx| {
            if matches!(event, InputEvent::PressEnter { .. }) {
                this.answer_prompt(window, cx);
            }
        });
        let ended = prompt.ended;
        let end = cx.spawn_in(window, async move |this, cx| {
            // The channel carries nothing: it closes.
            while ended.recv().await.is_ok() {}
            this.update_in(cx, |this, window, cx| this.show_next_prompt(window, cx))
                // The panel may be gone.
                .ok();
        });
        field.read(cx).focus_handle(cx).focus(window, cx);
        self.prompt = Some(OpenPrompt {
            text: ui::foreign::multi_line(prompt.text),
            kind: prompt.kind,
            field,
            reply: prompt.reply,
            _typing: typing,
            _end: end,
        });
        cx.emit(ChangesPanelEvent::AttentionRequested);
    }

    /// Sends the typed answer.
    pub(super) fn answer_prompt(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(prompt) = self.prompt.take() else {
            return;
        };
        let answer = Zeroizing::new(prompt.field.read(cx).value().to_string());
        (prompt.reply)(answer);
        self.focus.focus(window, cx);
        self.show_next_prompt(window, cx);
    }

    /// Refuses the question.
    pub(super) fn refuse_prompt(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.prompt.take().is_some() {
            self.focus.focus(window, cx);
            self.show_next_prompt(window, cx);
        }
    }
}
