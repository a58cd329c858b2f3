//! Modal question in the middle of the window, with one button per answer.
//!
//! Invariant: the safest answer has the focus initially; Escape gives no answer.

use futures::channel::oneshot;
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    App, AppContext as _, Context, DismissEvent, Entity, EventEmitter, FocusHandle, Focusable,
    InteractiveElement as _, IntoElement, KeyDownEvent, ParentElement as _, Render, Role,
    SharedString, StatefulInteractiveElement as _, Styled as _, Window, div,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, ModalLayer, dp};

/// Content of a question, as plain data. External names are made safe to display.
#[derive(Clone, Debug)]
pub(crate) struct QuestionSpec {
    /// Text of the question.
    pub(crate) title: SharedString,
    /// Consequences of the answer.
    pub(crate) detail: SharedString,
    /// Labels and styles of the answers; the first is the primary one, on the right.
    pub(crate) answers: Vec<(SharedString, ButtonStyle)>,
    /// Index of the harmless answer.
    pub(crate) safest: usize,
}

/// Shows a question in the modal layer. The receiver yields the index of the answer, or an error if
/// the user dismisses the question.
pub(crate) fn ask(
    modal: &Entity<ModalLayer>,
    spec: QuestionSpec,
    window: &mut Window,
    cx: &mut App,
) -> oneshot::Receiver<usize> {
    let title = spec.title.clone();
    let mut answer = None;
    let question = cx.new(|cx| {
        let (question, receiver) = QuestionDialog::new(spec, cx);
        answer = Some(receiver);
        question
    });
    modal.update(cx, |modal, cx| modal.ask(title, question, window, cx));
    answer.unwrap_or_else(|| oneshot::channel().1)
}

/// The modal view of a question.
pub(crate) struct QuestionDialog {
    spec: QuestionSpec,
    focuses: Vec<FocusHandle>,
    reply: Option<oneshot::Sender<usize>>,
}

impl QuestionDialog {
    /// Creates the view and the channel for the index of the answer. The channel yields an error if
    /// the user dismisses the question.
    pub(crate) fn new(
        spec: QuestionSpec,
        cx: &mut Context<Self>,
    ) -> (Self, oneshot::Receiver<usize>) {
        let (reply, answer) = oneshot::channel();
        let focuses = spec
            .answers
            .iter()
            .map(|_| cx.focus_handle().tab_stop(true))
            .collect();
        let spec = QuestionSpec {
            title: ui::foreign::multi_line(spec.title),
            detail: ui::foreign::multi_line(spec.detail),
            ..spec
        };
        let this = Self {
            spec,
            focuses,
            reply: Some(reply),
        };
        (this, answer)
    }

    fn answer(&mut self, index: usize, cx: &mut Context<Self>) {
        if let Some(reply) = self.reply.take() {
            // If the receiver is gone, the answer is not needed.
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
        let next = at.map_or(self.spec.safest, |at| (at + step) % count);
        if let Some(focus) = self.focuses.get(next) {
            focus.focus(window, cx);
            cx.stop_propagation();
        }
    }
}

impl EventEmitter<DismissEvent> for QuestionDialog {}

impl Focusable for QuestionDialog {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        self.focuses
            .get(self.spec.safest)
            .cloned()
            .unwrap_or_else(|| cx.focus_handle())
    }
}

impl Render for QuestionDialog {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let answers = self.spec.answers.iter().zip(&self.focuses).enumerate();
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
            .aria_label(ui::foreign::multi_line(self.spec.title.clone()))
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
            .child(Label::new(self.spec.title.clone()).strong())
            .child(
                div()
                    .text_size(dp(13.0))
                    .text_color(cx.theme().colors.muted)
                    .child(ui::foreign::multi_line(self.spec.detail.clone())),
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
