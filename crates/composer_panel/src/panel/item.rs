//! Renders the items of a transcript.

use agent::record::TurnEnd;
use agent::tool::{ToolClass, ToolDisplay};
use agent::{CallOutcome, Detail};
use base::{LineFeeds, printable};
use gpui_kit::component::text::TextView;
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, Context, Div, Hsla, InteractiveElement as _, IntoElement as _, MouseButton,
    ParentElement as _, Role, Stateful, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, div, px,
};
use ui::foreign::{multi_line, one_line};
use ui::{ActiveTheme as _, Button, ButtonStyle, Elide, Icon, IconSize, Label, dp};

use super::{ComposerPanel, OpenSession, pinning};
use crate::changes::{self, ChangeRow};
use crate::transcript::{CallItem, CallItemState, TranscriptEntry};

/// Maximum number of lines shown of a call's answer.
const MAX_LINES: usize = 200;

impl ComposerPanel {
    /// Renders the item with index `at` of the open session, or an empty element if there is no
    /// such item.
    pub(super) fn render_item(&mut self, at: usize, cx: &mut Context<Self>) -> AnyElement {
        if let Some(open) = &mut self.open {
            open.prepare_text(at, cx);
        }
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
            TranscriptEntry::User { text, is_steering } => {
                let message = user_message(text, *is_steering, cx);
                message
                    .children(open.can_restore(at).then(|| restore_button(at, cx)))
                    .into_any_element()
            }
            TranscriptEntry::Context(entries) => self.render_context(at, entries, is_open, cx),
            TranscriptEntry::Text { text, .. } => model_text(open, at, text),
            TranscriptEntry::Thought { text, is_live } => {
                self.render_thought(at, text, *is_live, is_open, cx)
            }
            TranscriptEntry::Call(call) => self.render_call(at, call, is_open, cx),
            TranscriptEntry::Compacted(item) => self.render_compaction(at, item, is_open, cx),
            TranscriptEntry::Note { text, is_bad } => note(text, *is_bad, cx),
            TranscriptEntry::End(end) => note(&end_sentence(end), is_bad_end(end), cx),
        };
        div()
            .id(("agent-item", at))
            .w_full()
            .px(dp(12.0))
            .py(dp(4.0))
            .when(is_selected, |this| this.bg(colors.selected))
            .on_mouse_down(
                MouseButton::Right,
                cx.listener(move |this, _, _, cx| this.select_item(at, cx)),
            )
            .child(body)
            .children(open.transcript.is_pinned(at).then(|| pinning::mark(at, cx)))
            .into_any_element()
    }

    /// Selects an item of the transcript, for the menu that a right click opens.
    fn select_item(&mut self, at: usize, cx: &mut Context<Self>) {
        if let Some(open) = &mut self.open {
            open.selected = Some(at);
            cx.notify();
        }
    }

    /// A row that expands and collapses an item.
    pub(super) fn disclosure_row(
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
            .disclosure_row(("agent-context", at), title.clone(), is_open, cx)
            .child(Icon::Layers.color(muted))
            .child(Label::new(title).small().muted());
        with_body(
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
        let title = if is_live {
            "Thinking\u{2026}"
        } else {
            "Thought"
        };
        let line = self
            .disclosure_row(("agent-thought", at), title.to_owned(), is_open, cx)
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
        let body = div()
            .text_color(colors.muted)
            .child(multi_line(text.to_owned()));
        with_body(line, is_open, [body.into_any_element()])
    }

    fn render_call(
        &self,
        at: usize,
        call: &CallItem,
        is_open: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let (mark, color) = call_icon(call, cx);
        let result = result_text(call);
        let name = format!("{}, {result}", call.title);
        let line = self
            .disclosure_row(("agent-call", at), name, is_open, cx)
            .child(mark.color(color))
            .child(
                div().min_w_0().flex_1().child(
                    Label::new(call.title.clone())
                        .small()
                        .mono()
                        .elide(Elide::Middle(48)),
                ),
            )
            .child(Label::new(result).tiny().color(if call.has_failed() {
                colors.error
            } else {
                colors.muted
            }));
        // Diffs are expanded by default.
        let has_diff = call
            .shown
            .iter()
            .any(|it| matches!(it, ToolDisplay::Diff { .. }));
        let is_running = matches!(call.state, CallItemState::Running) && !call.output.is_empty();
        let is_shown = is_open != (has_diff || is_running);
        let body = if is_shown {
            call_body(call, cx)
        } else {
            Vec::new()
        };
        div()
            .child(with_body(line, is_shown, body))
            .children(self.terminal_button(at, &call.id, cx))
            .into_any_element()
    }
}

pub(super) fn with_body(
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

fn user_message(text: &str, is_steering: bool, cx: &Context<ComposerPanel>) -> Div {
    let colors = cx.theme().colors;
    div()
        .p(dp(8.0))
        .rounded(px(6.0))
        .bg(colors.sunken)
        .border_1()
        .border_color(colors.border)
        .when(is_steering, |this| {
            this.child(Label::new("sent while it was working").tiny().muted())
        })
        .child(multi_line(text.to_owned()))
}

/// The button that restores the files to a message.
fn restore_button(at: usize, cx: &Context<ComposerPanel>) -> AnyElement {
    let button = Button::new(("agent-restore", at), "Restore checkpoint")
        .style(ButtonStyle::Ghost)
        .on_click(cx.listener(move |this, _, _, cx| this.restore_item(at, cx)));
    div().flex().justify_end().child(button).into_any_element()
}

fn model_text(open: &OpenSession, at: usize, text: &str) -> AnyElement {
    match open.texts.get(&at) {
        Some(state) => div()
            .px(dp(4.0))
            .child(TextView::new(state).selectable(true))
            .into_any_element(),
        None => div().child(multi_line(text.to_owned())).into_any_element(),
    }
}

fn note(text: &str, is_bad: bool, cx: &Context<ComposerPanel>) -> AnyElement {
    let colors = cx.theme().colors;
    let (icon, color) = if is_bad {
        (Icon::CircleAlert, colors.error)
    } else {
        (Icon::Info, colors.muted)
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
                .child(multi_line(text.to_owned())),
        )
        .into_any_element()
}

/// Returns the icon of a call, which shows its kind, and the colour, which shows its state.
fn call_icon(call: &CallItem, cx: &Context<ComposerPanel>) -> (Icon, Hsla) {
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
        CallItemState::Writing(_) | CallItemState::Waiting => colors.disabled,
        CallItemState::NeedsApproval(_) => colors.warning,
        CallItemState::Running => colors.accent,
        CallItemState::Ended { .. } if call.has_failed() => colors.error,
        CallItemState::Ended { .. } => colors.muted,
    };
    (icon, color)
}

/// Describes the state or result of a call in a few words.
fn result_text(call: &CallItem) -> String {
    match &call.state {
        CallItemState::Writing(_) => "writing arguments".to_owned(),
        CallItemState::Waiting => "waits".to_owned(),
        CallItemState::NeedsApproval(_) => "waits for you".to_owned(),
        CallItemState::Running => "runs".to_owned(),
        CallItemState::Ended { outcome, detail } => {
            let word = outcome_word(*outcome, detail.as_ref());
            let code = call.code();
            let time = time(call.millis);
            match (word, code) {
                (Some(word), _) => word.to_owned(),
                (None, 0) => changed_lines(call).unwrap_or(time),
                (None, code) => format!("exit {code} \u{b7} {time}"),
            }
        }
    }
}

/// Returns the words for a call that did not succeed, from `detail` where it is more specific than
/// the outcome. Returns `None` for a successful call.
fn outcome_word(outcome: CallOutcome, detail: Option<&Detail>) -> Option<&'static str> {
    match (outcome, detail) {
        (CallOutcome::Ok, _) => None,
        (_, Some(Detail::Denied)) => Some("refused"),
        (_, Some(Detail::StaleEdit)) => Some("changed since it was read"),
        (_, Some(Detail::AmbiguousEdit)) => Some("matches several places"),
        (_, Some(Detail::SandboxDenied { .. })) => Some("blocked by the sandbox"),
        (_, Some(Detail::ToolOutcomeUnknown)) => Some("outcome unknown"),
        (CallOutcome::InvalidArguments, _) => Some("invalid arguments"),
        (CallOutcome::UnexpectedEnvironment, _) => Some("failed"),
        (CallOutcome::ProviderError, _) => Some("provider error"),
        (CallOutcome::UserAborted, _) => Some("stopped"),
        (CallOutcome::Timeout, _) => Some("timed out"),
        (CallOutcome::Unknown, _) => Some("failed, cause unknown"),
    }
}

/// Counts the changed lines of a call: `+3 −1`.
fn changed_lines(call: &CallItem) -> Option<String> {
    let (mut added, mut removed, mut any) = (0, 0, false);
    for shown in &call.shown {
        if let ToolDisplay::Diff { old, new, .. } = shown {
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
            ToolDisplay::Diff { path, old, new } => {
                body.push(diff(path, old.as_deref(), new.as_deref(), cx))
            }
            ToolDisplay::Command { output, .. } if !output.trim().is_empty() => {
                body.push(mono(output, cx))
            }
            ToolDisplay::Text(text) => body.push(mono(text, cx)),
            ToolDisplay::Places(places) => {
                let lines = places
                    .iter()
                    .map(|(path, line, text)| format!("{path}:{line}: {text}"));
                body.push(mono(&lines.collect::<Vec<_>>().join("\n"), cx));
            }
            ToolDisplay::Command { .. } | ToolDisplay::Plan(_) => {}
        }
    }
    if matches!(call.state, CallItemState::Running) && !call.output.is_empty() {
        body.push(mono(&call.output, cx));
    }
    if body.is_empty() && !call.answer.is_empty() {
        body.push(mono(&call.answer, cx));
    }
    body
}

/// Renders the last lines of a text in the code font.
fn mono(text: &str, cx: &Context<ComposerPanel>) -> AnyElement {
    let colors = cx.theme().colors;
    let rows: Vec<&str> = text.trim_end().lines().collect();
    let hidden = rows.len().saturating_sub(MAX_LINES);
    let shown = printable(&rows[hidden..].join("\n"), LineFeeds::Keep).into_owned();
    div()
        .p(dp(8.0))
        .rounded(px(4.0))
        .bg(colors.sunken)
        .font(cx.theme().code_font())
        .text_size(dp(12.0))
        .when(hidden > 0, |this| {
            this.child(
                Label::new(format!("{hidden} earlier lines hidden"))
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
    let row = |row: &ChangeRow| {
        let (number, sign, text, ground) = match row {
            ChangeRow::Same(number, text) => (Some(*number), " ", text.clone(), None),
            ChangeRow::Added(number, text) => {
                (Some(*number), "+", text.clone(), Some(colors.added_ground))
            }
            ChangeRow::Removed(number, text) => (
                Some(*number),
                "\u{2212}",
                text.clone(),
                Some(colors.removed_ground),
            ),
            ChangeRow::Gap(count) => (None, "\u{2026}", format!("{count} lines"), None),
        };
        let number = number.map_or_else(String::new, |number| number.to_string());
        let is_gap = matches!(row, ChangeRow::Gap(_));
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
                    .child(multi_line(text)),
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

/// Describes the end of a turn as a sentence.
pub(super) fn end_sentence(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Done => "Done.".to_owned(),
        TurnEnd::Stopped => "You stopped this turn.".to_owned(),
        TurnEnd::Refused => "The model declined to continue.".to_owned(),
        TurnEnd::Looped { what } | TurnEnd::OutOfBudget { what } => what.clone(),
        TurnEnd::Failed { what, .. } => what.clone(),
        TurnEnd::Interrupted => {
            "The program ended during this turn. The effect of its last action is \
             unknown."
                .to_owned()
        }
    }
}

/// Whether the end of a turn is shown as a failure: every end but completion and a stop by the
/// user.
fn is_bad_end(end: &TurnEnd) -> bool {
    !matches!(end, TurnEnd::Done | TurnEnd::Stopped)
}
