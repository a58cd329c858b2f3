//! How the things of a transcript look.

use agent::record::TurnEnd;
use agent::tool::{Shown, ToolClass};
use agent::{Detail, Outcome};
use base::{LineFeeds, printable};
use gpui_kit::component::text::TextView;
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, Context, Div, Hsla, InteractiveElement as _, IntoElement as _, ParentElement as _,
    Role, Stateful, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, div, px,
};
use ui::foreign::{lines, one_line};
use ui::{ActiveTheme as _, Elide, Icon, IconSize, Label, dp};

use super::{ComposerPanel, OpenSession};
use crate::changes::{self, Row};
use crate::transcript::{CallItem, CallState, Item};

/// The most lines of a call's answer that are shown.
const MOST_LINES: usize = 200;

impl ComposerPanel {
    /// One item of the open session.
    pub(super) fn render_item(&self, at: usize, cx: &mut Context<Self>) -> AnyElement {
        let Some(open) = &self.open else {
            return div().into_any_element();
        };
        let Some(item) = open.transcript.items().get(at) else {
            return div().into_any_element();
        };
        let is_open = open.opened.contains(&at);
        let is_selected = open.selected == Some(at);
        let colors = cx.theme().colors;
        let body = match item {
            Item::Person { text, is_steering } => person(text, *is_steering, cx),
            Item::Context(entries) => self.render_context(at, entries, is_open, cx),
            Item::Text { text, .. } => model_text(open, at, text),
            Item::Thought { text, is_live } => self.render_thought(at, text, *is_live, is_open, cx),
            Item::Call(call) => self.render_call(at, call, is_open, cx),
            Item::Note { text, is_bad } => note(text, *is_bad, cx),
            Item::End(end) => note(&end_sentence(end), is_bad_end(end), cx),
        };
        div()
            .id(("agent-item", at))
            .w_full()
            .px(dp(12.0))
            .py(dp(4.0))
            .when(is_selected, |this| this.bg(colors.selected))
            .child(body)
            .into_any_element()
    }

    /// A line that can be opened.
    fn line(
        &self,
        id: (&'static str, usize),
        name: String,
        is_open: bool,
        cx: &mut Context<Self>,
    ) -> Stateful<Div> {
        let colors = cx.theme().colors;
        let at = id.1;
        div()
            .id(id)
            .role(Role::Button)
            .aria_label(one_line(name))
            .aria_expanded(is_open)
            .flex()
            .items_center()
            .gap(dp(8.0))
            .min_h(dp(24.0))
            .px(dp(4.0))
            .rounded(px(4.0))
            .cursor_pointer()
            .hover(|style| style.bg(colors.hover))
            .on_click(cx.listener(move |this, _, _, cx| this.toggle_item(at, cx)))
    }

    fn render_context(
        &self,
        at: usize,
        entries: &[(String, usize)],
        is_open: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let bytes: usize = entries.iter().map(|(_, bytes)| bytes).sum();
        let title = match entries {
            [(name, _)] => format!("Context: {name} \u{b7} {}", size(bytes)),
            _ => format!("Context: {} texts \u{b7} {}", entries.len(), size(bytes)),
        };
        let rows = entries.iter().map(|(name, bytes)| {
            Label::new(format!("{name} \u{b7} {}", size(*bytes)))
                .small()
                .muted()
        });
        let rows: Vec<_> = rows.collect();
        let muted = cx.theme().colors.muted;
        let line = self
            .line(("agent-context", at), title.clone(), is_open, cx)
            .child(Icon::Layers.color(muted))
            .child(Label::new(title).small().muted());
        opened(
            line,
            is_open,
            rows.into_iter()
                .map(gpui_kit::IntoElement::into_any_element),
        )
    }

    fn render_thought(
        &self,
        at: usize,
        text: &str,
        is_live: bool,
        is_open: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let title = match is_live {
            true => "Thinking\u{2026}",
            false => "Thought",
        };
        let line = self
            .line(("agent-thought", at), title.to_owned(), is_open, cx)
            .child(Icon::Lightbulb.color(colors.muted))
            .child(div().flex_none().child(Label::new(title).small().muted()))
            .when(!is_open, |this| {
                let first = text.lines().find(|line| !line.trim().is_empty());
                this.child(
                    div().min_w_0().child(
                        Label::new(first.unwrap_or_default().to_owned())
                            .small()
                            .muted(),
                    ),
                )
            });
        let body = div().text_color(colors.muted).child(lines(text.to_owned()));
        opened(line, is_open, [body.into_any_element()])
    }

    fn render_call(
        &self,
        at: usize,
        call: &CallItem,
        is_open: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let (mark, color) = mark(call, cx);
        let result = result(call);
        let name = format!("{}, {result}", call.title);
        let line = self
            .line(("agent-call", at), name, is_open, cx)
            .child(mark.color(color))
            .child(
                div().min_w_0().flex_1().child(
                    Label::new(call.title.clone())
                        .small()
                        .mono()
                        .elide(Elide::Middle(48)),
                ),
            )
            .child(Label::new(result).tiny().color(match call.has_failed() {
                true => colors.error,
                false => colors.muted,
            }));
        // What an agent changes is shown without being asked for.
        let has_diff = call.shown.iter().any(|it| matches!(it, Shown::Diff { .. }));
        let is_running = matches!(call.state, CallState::Running) && !call.output.is_empty();
        let is_shown = is_open != (has_diff || is_running);
        let body = match is_shown {
            true => call_body(call, cx),
            false => Vec::new(),
        };
        opened(line, is_shown, body)
    }
}

fn opened(
    line: Stateful<Div>,
    is_open: bool,
    body: impl IntoIterator<Item = AnyElement>,
) -> AnyElement {
    let body = is_open.then(|| {
        div()
            .flex()
            .flex_col()
            .gap(dp(4.0))
            .pl(dp(26.0))
            .pt(dp(4.0))
            .children(body)
    });
    div()
        .child(line.test_support())
        .children(body)
        .into_any_element()
}

fn person(text: &str, is_steering: bool, cx: &Context<ComposerPanel>) -> AnyElement {
    let colors = cx.theme().colors;
    div()
        .p(dp(8.0))
        .rounded(px(6.0))
        .bg(colors.sunken)
        .border_1()
        .border_color(colors.border)
        .when(is_steering, |this| {
            this.child(Label::new("while it works").tiny().muted())
        })
        .child(lines(text.to_owned()))
        .into_any_element()
}

fn model_text(open: &OpenSession, at: usize, text: &str) -> AnyElement {
    match open.texts.get(&at) {
        Some(state) => div()
            .px(dp(4.0))
            .child(TextView::new(state).selectable(true))
            .into_any_element(),
        None => div().child(lines(text.to_owned())).into_any_element(),
    }
}

fn note(text: &str, is_bad: bool, cx: &Context<ComposerPanel>) -> AnyElement {
    let colors = cx.theme().colors;
    let (icon, color) = match is_bad {
        true => (Icon::CircleAlert, colors.error),
        false => (Icon::Info, colors.muted),
    };
    div()
        .flex()
        .gap(dp(8.0))
        .px(dp(4.0))
        .child(div().flex_none().pt(dp(2.0)).child(icon.color(color)))
        .child(
            div()
                .min_w_0()
                .text_color(color)
                .child(lines(text.to_owned())),
        )
        .into_any_element()
}

/// The picture of a call and its colour: what it does, and how it went.
fn mark(call: &CallItem, cx: &Context<ComposerPanel>) -> (Icon, Hsla) {
    let colors = cx.theme().colors;
    let icon = match call.class {
        Some(ToolClass::Read) => Icon::Eye,
        Some(ToolClass::Edit) => Icon::Edit,
        Some(ToolClass::Execute) => Icon::Terminal,
        Some(ToolClass::Network) => Icon::Globe,
        Some(ToolClass::Delegate) => Icon::Bot,
        Some(ToolClass::Interact) => Icon::List,
        Some(ToolClass::Foreign) => Icon::Package,
        None => Icon::CircleDot,
    };
    let color = match &call.state {
        CallState::Writing(_) | CallState::Waiting => colors.disabled,
        CallState::Asking(_) => colors.warning,
        CallState::Running => colors.accent,
        CallState::Ended { .. } if call.has_failed() => colors.error,
        CallState::Ended { .. } => colors.muted,
    };
    (icon, color)
}

/// How a call went, in a few words.
fn result(call: &CallItem) -> String {
    match &call.state {
        CallState::Writing(_) => "being written".to_owned(),
        CallState::Waiting => "waits".to_owned(),
        CallState::Asking(_) => "waits for you".to_owned(),
        CallState::Running => "runs".to_owned(),
        CallState::Ended { outcome, detail } => {
            let word = outcome_word(*outcome, detail.as_ref());
            let code = call.code();
            let time = time(call.millis);
            match (word, code) {
                (Some(word), _) => word.to_owned(),
                (None, 0) => changed(call).unwrap_or(time),
                (None, code) => format!("exit {code} \u{b7} {time}"),
            }
        }
    }
}

fn outcome_word(outcome: Outcome, detail: Option<&Detail>) -> Option<&'static str> {
    match (outcome, detail) {
        (Outcome::Ok, _) => None,
        (_, Some(Detail::Denied)) => Some("refused"),
        (_, Some(Detail::StaleEdit)) => Some("changed since it was read"),
        (_, Some(Detail::AmbiguousEdit)) => Some("fits in several places"),
        (_, Some(Detail::SandboxDenied { .. })) => Some("kept out by the sandbox"),
        (_, Some(Detail::ToolOutcomeUnknown)) => Some("outcome unknown"),
        (Outcome::InvalidArguments, _) => Some("made no sense"),
        (Outcome::UnexpectedEnvironment, _) => Some("failed"),
        (Outcome::ProviderError, _) => Some("the other side failed"),
        (Outcome::UserAborted, _) => Some("stopped"),
        (Outcome::Timeout, _) => Some("took too long"),
        (Outcome::Unknown, _) => Some("failed for an unknown reason"),
    }
}

/// `+3 −1` of the files that a call changed.
fn changed(call: &CallItem) -> Option<String> {
    let (mut added, mut removed, mut any) = (0, 0, false);
    for shown in &call.shown {
        if let Shown::Diff { old, new, .. } = shown {
            let (_, size) = changes::rows(old.as_deref(), new.as_deref());
            added += size.added;
            removed += size.removed;
            any = true;
        }
    }
    any.then(|| format!("+{added} \u{2212}{removed}"))
}

fn time(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1000.0),
        _ => format!("{} min {} s", millis / 60_000, millis / 1000 % 60),
    }
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        _ => format!("{:.1} KB", bytes as f64 / 1024.0),
    }
}

fn call_body(call: &CallItem, cx: &Context<ComposerPanel>) -> Vec<AnyElement> {
    let mut body = Vec::new();
    for shown in &call.shown {
        match shown {
            Shown::Diff { path, old, new } => {
                body.push(diff(path, old.as_deref(), new.as_deref(), cx))
            }
            Shown::Command { output, .. } if !output.trim().is_empty() => {
                body.push(mono(output, cx))
            }
            Shown::Text(text) => body.push(mono(text, cx)),
            Shown::Places(places) => {
                let lines = places
                    .iter()
                    .map(|(path, line, text)| format!("{path}:{line}: {text}"));
                body.push(mono(&lines.collect::<Vec<_>>().join("\n"), cx));
            }
            Shown::Command { .. } | Shown::Plan(_) => {}
        }
    }
    if matches!(call.state, CallState::Running) && !call.output.is_empty() {
        body.push(mono(&call.output, cx));
    }
    if body.is_empty() && !call.answer.is_empty() {
        body.push(mono(&call.answer, cx));
    }
    body
}

/// A text in the font of the code, to its last lines.
fn mono(text: &str, cx: &Context<ComposerPanel>) -> AnyElement {
    let colors = cx.theme().colors;
    let rows: Vec<&str> = text.trim_end().lines().collect();
    let hidden = rows.len().saturating_sub(MOST_LINES);
    let shown = printable(&rows[hidden..].join("\n"), LineFeeds::Keep).into_owned();
    div()
        .p(dp(8.0))
        .rounded(px(4.0))
        .bg(colors.sunken)
        .font(cx.theme().code_font())
        .text_size(dp(12.0))
        .when(hidden > 0, |this| {
            this.child(
                Label::new(format!("{hidden} lines above are not shown"))
                    .tiny()
                    .muted(),
            )
        })
        .child(shown)
        .into_any_element()
}

fn diff(
    path: &str,
    old: Option<&str>,
    new: Option<&str>,
    cx: &Context<ComposerPanel>,
) -> AnyElement {
    let colors = cx.theme().colors;
    let (rows, size) = changes::rows(old, new);
    let what = match (old, new) {
        (None, _) => "new",
        (_, None) => "removed",
        _ => "",
    };
    let head = div()
        .flex()
        .gap(dp(8.0))
        .px(dp(8.0))
        .py(dp(4.0))
        .border_b_1()
        .border_color(colors.border)
        .child(Icon::FileDiff.size(IconSize::Small).color(colors.muted))
        .child(
            div()
                .min_w_0()
                .flex_1()
                .child(Label::new(path.to_owned()).tiny().elide(Elide::Middle(48))),
        )
        .child(Label::new(what).tiny().muted())
        .child(
            Label::new(format!("+{}", size.added))
                .tiny()
                .color(colors.added),
        )
        .child(
            Label::new(format!("\u{2212}{}", size.removed))
                .tiny()
                .color(colors.removed),
        );
    let row = |row: &Row| {
        let (number, sign, text, ground) = match row {
            Row::Same(number, text) => (Some(*number), " ", text.clone(), None),
            Row::Added(number, text) => {
                (Some(*number), "+", text.clone(), Some(colors.added_ground))
            }
            Row::Removed(number, text) => (
                Some(*number),
                "\u{2212}",
                text.clone(),
                Some(colors.removed_ground),
            ),
            Row::Gap(count) => (None, "\u{2026}", format!("{count} lines"), None),
        };
        let number = number.map_or_else(String::new, |number| number.to_string());
        let is_gap = matches!(row, Row::Gap(_));
        div()
            .flex()
            .w_full()
            .when_some(ground, |this, ground| this.bg(ground))
            .child(
                div()
                    .flex_none()
                    .w(dp(36.0))
                    .pr(dp(8.0))
                    .text_right()
                    .text_color(colors.line_number)
                    .child(number),
            )
            .child(div().flex_none().w(dp(12.0)).child(sign))
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .when(is_gap, |this| this.text_color(colors.muted))
                    .child(lines(text)),
            )
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    div()
        .rounded(px(4.0))
        .border_1()
        .border_color(colors.border)
        .bg(colors.surface)
        .overflow_hidden()
        .child(head)
        .child(
            div()
                .py(dp(4.0))
                .font(cx.theme().code_font())
                .text_size(dp(12.0))
                .children(rows),
        )
        .into_any_element()
}

/// How a turn ended, as a sentence.
pub(super) fn end_sentence(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Done => "Done.".to_owned(),
        TurnEnd::Stopped => "You stopped it here.".to_owned(),
        TurnEnd::Refused => "The model declined to go on.".to_owned(),
        TurnEnd::Looped { what } | TurnEnd::OutOfBudget { what } => what.clone(),
        TurnEnd::Failed { what, .. } => what.clone(),
        TurnEnd::Interrupted => {
            "The program ended while this ran. What it was doing then may or may not have been done.".to_owned()
        }
    }
}

fn is_bad_end(end: &TurnEnd) -> bool {
    !matches!(end, TurnEnd::Done | TurnEnd::Stopped)
}
