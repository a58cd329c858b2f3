//! A question in the middle of the window, with an answer on each button.
//!
//! Invariant: the safest answer has the keyboard at first; Escape answers nothing.

use futures::channel::oneshot;
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    App, Context, DismissEvent, EventEmitter, FocusHandle, Focusable, InteractiveElement as _,
    IntoElement, KeyDownEvent, ParentElement as _, Render, Role, SharedString,
    StatefulInteractiveElement as _, Styled as _, Window, div,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, dp};

/// What is asked, as plain data. Names from outside are made safe to show.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The question itself.
    pub(crate) title: SharedString,
    /// What depends on the answer.
    pub(crate) detail: SharedString,
    /// The answers, the first on the right where the main one is expected.
    pub(crate) answers: Vec<(SharedString, ButtonStyle)>,
    /// Which of them does no harm.
    pub(crate) safest: usize,
}

/// The question on the screen.
pub(crate) struct Question {
    asked: Asked,
    focuses: Vec<FocusHandle>,
    reply: Option<oneshot::Sender<usize>>,
}

impl Question {
    /// The view, and where its answer arrives; an error there means no answer.
    pub(crate) fn new(asked: Asked, cx: &mut Context<Self>) -> (Self, oneshot::Receiver<usize>) {
        let (reply, answer) = oneshot::channel();
        let focuses = asked
            .answers
            .iter()
            .map(|_| cx.focus_handle().tab_stop(true))
            .collect();
        let asked = Asked {
            title: ui::foreign::lines(asked.title),
            detail: ui::foreign::lines(asked.detail),
            ..asked
        };
        let this = Self {
            asked,
            focuses,
            reply: Some(reply),
        };
        (this, answer)
    }

    fn answer(&mut self, index: usize, cx: &mut Context<Self>) {
        if let Some(reply) = self.reply.take() {
            // Whoever asked may be gone; then nobody wants the answer.
            reply.send(index).ok();
        }
        cx.emit(DismissEvent);
    }

    fn key(&mut self, event: &KeyDownEvent, window: &mut Window, cx: &mut Context<Self>) {
        let at = self
            .focuses
            .iter()
            .position(|focus| focus.is_focused(window));
        let count = self.focuses.len();
        let step = match event.keystroke.key.as_str() {
            "enter" => {
                if let Some(at) = at {
                    cx.stop_propagation();
                    self.answer(at, cx);
                }
                return;
            }
            "escape" => {
                self.reply = None;
                cx.emit(DismissEvent);
                cx.stop_propagation();
                return;
            }
            "left" => count - 1,
            "right" => 1,
            _ => return,
        };
        let next = at.map_or(self.asked.safest, |at| (at + step) % count);
        if let Some(focus) = self.focuses.get(next) {
            focus.focus(window, cx);
            cx.stop_propagation();
        }
    }
}

impl EventEmitter<DismissEvent> for Question {}

impl Focusable for Question {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        self.focuses
            .get(self.asked.safest)
            .cloned()
            .unwrap_or_else(|| cx.focus_handle())
    }
}

impl Render for Question {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let answers = self.asked.answers.iter().zip(&self.focuses).enumerate();
        let buttons: Vec<_> = answers
            .map(|(index, ((label, style), focus))| {
                Button::new(("answer", index), label.clone())
                    .style(*style)
                    .track_focus(focus)
                    .on_click(cx.listener(move |this, _, _, cx| this.answer(index, cx)))
            })
            .collect();
        div()
            .id("question")
            .key_context("Question")
            .role(Role::AlertDialog)
            .test_support()
            .aria_label(ui::foreign::lines(self.asked.title.clone()))
            .on_key_down(cx.listener(Self::key))
            .w(dp(440.0))
            .max_w_full()
            .max_h(window.viewport_size().height)
            .overflow_y_scroll()
            .p(dp(16.0))
            .flex()
            .flex_col()
            .gap(dp(8.0))
            .text_color(cx.theme().colors.text)
            .child(Label::new(self.asked.title.clone()).strong())
            .child(
                div()
                    .text_size(dp(13.0))
                    .text_color(cx.theme().colors.muted)
                    .child(ui::foreign::lines(self.asked.detail.clone())),
            )
            .child(
                div()
                    .flex()
                    .flex_wrap()
                    .justify_end()
                    .gap(dp(8.0))
                    .pt(dp(8.0))
                    .children(buttons),
            )
    }
}
