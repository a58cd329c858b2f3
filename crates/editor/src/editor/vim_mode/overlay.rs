//! The command line, messages, and the keys that can follow, over the bottom of the text.
//!
//! The text keeps its place: nothing here takes room from it.

use gpui_kit::{
    Context, InteractiveElement as _, IntoElement, ParentElement as _, Role, SharedString,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, div, px,
};
use ui::foreign::one_line;
use ui::{ActiveTheme as _, Label, Tone, dp};
use vim::KeyHint;

use super::{Editor, VimMessage, VimView};

/// Lines of a message that are shown.
const MAX_LINES: usize = 200;

/// Returns what a view shows over its text; `None` if there is nothing.
pub(crate) fn render_overlay(
    editor: &Editor,
    cx: &Context<Editor>,
) -> Option<impl IntoElement + use<>> {
    let view = editor.vim.as_ref()?;
    let content = if view.machine.prompt().is_some() {
        render_prompt(view, cx)?.into_any_element()
    } else if view.timers.shows_hints {
        let hints = view.machine.hints(&view.globals.borrow());
        if hints.is_empty() {
            return None;
        }
        render_hints(hints).into_any_element()
    } else {
        render_message(view.message.as_ref()?, cx).into_any_element()
    };
    let colors = cx.theme().colors;
    let overlay = div()
        .absolute()
        .left_0()
        .right_0()
        .bottom_0()
        .px(dp(8.0))
        .py(dp(3.0))
        .bg(colors.raised)
        .border_t_1()
        .border_color(colors.border)
        .child(content);
    Some(overlay)
}

/// The command line with its cursor.
fn render_prompt(view: &VimView, cx: &Context<Editor>) -> Option<impl IntoElement + use<>> {
    let colors = cx.theme().colors;
    let prompt = view.machine.prompt()?;
    let (before, behind) = prompt.text.split_at(prompt.cursor);
    let mut rest = behind.chars();
    let under: String = rest.next().map_or_else(|| " ".to_owned(), String::from);
    let part = |text: &str| Label::new(text.to_owned()).mono();
    let cursor = div()
        .flex_none()
        .bg(colors.caret)
        .child(part(&under).color(colors.surface));
    let typed = format!("{}{}{}", prompt.sign, before, view.composed);
    let whole: SharedString = one_line(format!("{}{}", prompt.sign, prompt.text));
    let line = div()
        .id("vim-prompt")
        .role(Role::Status)
        .test_support()
        .aria_label(whole)
        .flex()
        .w_full()
        .overflow_hidden()
        .child(part(&typed))
        .child(cursor)
        .child(part(rest.as_str()));
    Some(line)
}

/// The lines of a message.
fn render_message(message: &VimMessage, cx: &Context<Editor>) -> impl IntoElement + use<> {
    let tone = if message.is_error {
        Tone::Error
    } else {
        Tone::Neutral
    };
    let color = tone.color(cx);
    let lines = message.lines.iter().take(MAX_LINES);
    let lines = lines.map(|line| Label::new(line.clone()).mono().color(color));
    div()
        .id("vim-message")
        .role(Role::Status)
        .test_support()
        .aria_label(one_line(message.lines.join("; ")))
        .flex()
        .flex_col()
        .max_h(dp(320.0))
        .overflow_y_scroll()
        .children(lines)
}

/// The keys that can follow, in columns.
fn render_hints(hints: Vec<KeyHint>) -> impl IntoElement {
    let names: Vec<&str> = hints.iter().map(|hint| hint.keys.as_str()).collect();
    let name = one_line(format!("Keys that can follow: {}", names.join(" ")));
    let hint = |hint: KeyHint| {
        div()
            .flex()
            .flex_none()
            .w(dp(260.0))
            .gap(dp(8.0))
            .child(
                div()
                    .flex_none()
                    .min_w(dp(28.0))
                    .child(Label::new(hint.keys).mono().strong()),
            )
            .child(Label::new(hint.label).small().muted())
    };
    div()
        .id("vim-hints")
        .role(Role::Status)
        .test_support()
        .aria_label(name)
        .flex()
        .flex_wrap()
        .gap_x(px(12.0))
        .gap_y(px(2.0))
        .children(hints.into_iter().map(hint))
}
