//! Questions over the text: whether to paste, to let a program read the clipboard, or to run a command.
//!
//! Invariant: Enter never gives a program more than the user sees in the question.

use gpui_kit::{
    ClickEvent, Context, FocusHandle, Focusable as _, InteractiveElement as _, IntoElement,
    ParentElement as _, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, div, px,
};
use terminal::{ClipboardKind, ClipboardQuery, PasteRisk, PreparedPaste};
use ui::{ActiveTheme as _, Button, ButtonStyle, Icon, dp, foreign, primary};

use super::TerminalView;
use crate::actions::{ConfirmQuestion, DismissQuestion};

/// Most lines of a text that a question shows.
const SHOWN_LINES: usize = 12;

/// A question that waits for an answer.
pub(super) struct Question {
    title: SharedString,
    /// The text that the question is about.
    text: SharedString,
    /// The answer that does it.
    accept: SharedString,
    effect: AcceptEffect,
    /// Whether Enter accepts; otherwise it refuses.
    is_enter_accepting: bool,
    focus: FocusHandle,
}

/// The effect of accepting.
enum AcceptEffect {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends the text of a clipboard.
    Clipboard(ClipboardQuery),
}

impl Question {
    /// Asks whether to paste a text.
    pub(super) fn paste(paste: PreparedPaste, risk: PasteRisk, cx: &Context<TerminalView>) -> Self {
        let lines = paste.text.lines().count();
        let title = match risk {
            PasteRisk::ManyLines => {
                format!("Paste {lines} lines? The program may run each line at once.")
            }
            PasteRisk::UnconfirmedBrackets => format!(
                "Paste {lines} lines? No prompt is open, so the program may run each line at once."
            ),
        };
        Self {
            title: title.into(),
            text: shortened(&paste.text),
            accept: "Paste".into(),
            effect: AcceptEffect::Send(paste.bytes),
            is_enter_accepting: true,
            focus: cx.focus_handle(),
        }
    }

    /// Asks whether to run a command line that was read from the screen.
    pub(super) fn run(line: &str, cx: &Context<TerminalView>) -> Self {
        Self {
            title: "Run this command again? The line was read from the screen.".into(),
            text: shortened(line),
            accept: "Run".into(),
            effect: AcceptEffect::Send(command_bytes(line)),
            is_enter_accepting: true,
            focus: cx.focus_handle(),
        }
    }

    /// Asks whether the program may read a clipboard.
    pub(super) fn clipboard_read(query: ClipboardQuery, cx: &Context<TerminalView>) -> Self {
        Self {
            title: "The program wants to read the clipboard.".into(),
            text: SharedString::default(),
            accept: "Allow once".into(),
            effect: AcceptEffect::Clipboard(query),
            is_enter_accepting: false,
            focus: cx.focus_handle(),
        }
    }
}

/// Returns the bytes that run a command line in a shell.
pub(super) fn command_bytes(line: &str) -> Vec<u8> {
    let typed: String = line
        .chars()
        .map(|char| if char == '\n' { '\r' } else { char })
        .filter(|char| !char.is_control() || *char == '\r')
        .collect();
    let mut bytes = typed.into_bytes();
    bytes.push(b'\r');
    bytes
}

/// Returns the first lines of a text, made visible.
fn shortened(text: &str) -> SharedString {
    let count = text.lines().count();
    let shown: Vec<&str> = text.lines().take(SHOWN_LINES).collect();
    let mut shown = shown.join("\n");
    if count > SHOWN_LINES {
        shown.push_str(&format!("\n\u{2026} {} more lines", count - SHOWN_LINES));
    }
    foreign::multi_line(shown)
}

impl TerminalView {
    /// Shows a question and focuses it.
    pub(super) fn ask(&mut self, question: Question, window: &mut Window, cx: &mut Context<Self>) {
        question.focus.focus(window, cx);
        self.question = Some(question);
        cx.notify();
    }

    fn confirm_question(
        &mut self,
        _: &ConfirmQuestion,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(question) = &self.question else {
            return;
        };
        // Enter on a button presses the button.
        if question.focus.is_focused(window) {
            self.answer_question(question.is_enter_accepting, window, cx);
        } else {
            cx.propagate();
        }
    }

    fn dismiss_question(
        &mut self,
        _: &DismissQuestion,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.answer_question(false, window, cx);
    }

    fn answer_question(&mut self, accepts: bool, window: &mut Window, cx: &mut Context<Self>) {
        let Some(question) = self.question.take() else {
            return;
        };
        self.focus_handle(cx).focus(window, cx);
        cx.notify();
        match question.effect {
            AcceptEffect::Send(bytes) if accepts => self.send(bytes, cx),
            AcceptEffect::Clipboard(query) if accepts => {
                let item = match query.clipboard {
                    ClipboardKind::Clipboard => cx.read_from_clipboard(),
                    ClipboardKind::Primary => primary::read(cx),
                };
                let text = item.and_then(|item| item.text()).unwrap_or_default();
                if let Some(program) = self.running_program() {
                    program.reply(query.answer(&text));
                }
            }
            AcceptEffect::Send(_) | AcceptEffect::Clipboard(_) => {}
        }
    }

    pub(super) fn render_question(
        &self,
        cx: &mut Context<Self>,
    ) -> Option<impl IntoElement + use<>> {
        let question = self.question.as_ref()?;
        let theme = cx.theme();
        let (colors, mono) = (theme.colors, theme.fonts.code_family.clone());
        let answer = |accepts: bool| {
            cx.listener(move |this: &mut Self, _: &ClickEvent, window, cx| {
                this.answer_question(accepts, window, cx);
            })
        };
        let style = |is_default: bool| {
            if is_default {
                ButtonStyle::Primary
            } else {
                ButtonStyle::Plain
            }
        };
        let accept = Button::new("terminal-accept", question.accept.clone())
            .style(style(question.is_enter_accepting))
            .on_click(answer(true));
        let refuse = Button::new("terminal-refuse", "Cancel")
            .style(style(!question.is_enter_accepting))
            .on_click(answer(false));
        let text = (!question.text.is_empty()).then(|| {
            div()
                .id("terminal-question-text")
                .max_h(dp(220.0))
                .overflow_y_scroll()
                .p(dp(8.0))
                .rounded(px(4.0))
                .bg(colors.sunken)
                .font_family(mono)
                .text_size(dp(12.0))
                .child(question.text.clone())
        });
        let title = div()
            .flex()
            .items_center()
            .gap(dp(8.0))
            .child(Icon::Warning.color(colors.warning))
            .child(div().flex_1().min_w_0().child(question.title.clone()));
        let buttons = div()
            .flex()
            .justify_end()
            .gap(dp(8.0))
            .child(refuse)
            .child(accept);
        let card = div()
            .id("terminal-question")
            .role(Role::AlertDialog)
            .aria_label(question.title.clone())
            .aria_description(question.text.clone())
            .test_support()
            .track_focus(&question.focus)
            .key_context("TerminalQuestion")
            .on_action(cx.listener(Self::confirm_question))
            .on_action(cx.listener(Self::dismiss_question))
            .occlude()
            .absolute()
            .left(dp(16.0))
            .right(dp(16.0))
            .bottom(dp(12.0))
            .max_w(dp(560.0))
            .flex()
            .flex_col()
            .gap(dp(8.0))
            .p(dp(12.0))
            .rounded(px(6.0))
            .border_1()
            .border_color(colors.border_strong)
            .bg(colors.raised)
            .text_color(colors.text)
            .text_size(dp(13.0))
            .shadow_md()
            .child(title)
            .children(text)
            .child(buttons);
        Some(card)
    }
}
