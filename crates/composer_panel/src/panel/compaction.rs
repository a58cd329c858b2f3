//! The card of a compaction, and the field in which the user edits its summary.

use agent::SessionCommand;
use agent::compact::SummaryOutline;
use base::{LineFeeds, printable};
use gpui_kit::component::input::{Textarea, TextareaState};
use gpui_kit::{
    AnyElement, AppContext as _, Context, Entity, Focusable as _, InteractiveElement as _,
    IntoElement as _, ParentElement as _, Role, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, div, px,
};
use ui::foreign::multi_line;
use ui::{ActiveTheme as _, Button, ButtonStyle, Icon, Label, dp};

use super::ComposerPanel;
use super::card::card;
use super::item::with_body;
use crate::actions::{Cancel, EditSummary, SaveSummary};
use crate::transcript::{CompactionItem, TranscriptEntry};
use agent_service::token_text;

/// Maximum number of calls listed by their titles.
const MAX_TITLES: usize = 12;

/// A summary that the user edits.
pub(super) struct SummaryEdit {
    /// The number of the compaction's record.
    compaction: u64,
    field: Entity<TextareaState>,
}

impl ComposerPanel {
    /// Renders the card of a compaction.
    pub(super) fn render_compaction(
        &self,
        at: usize,
        item: &CompactionItem,
        is_open: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let title = title(item);
        let line = self
            .disclosure_row(("agent-compaction", at), title.clone(), is_open, cx)
            .child(Icon::Layers.color(cx.theme().colors.accent))
            .child(Label::new(title).small());
        let body = if is_open {
            card_body(at, item, cx)
        } else {
            Vec::new()
        };
        with_body(line, is_open, body)
    }

    pub(super) fn edit_summary_action(
        &mut self,
        _: &EditSummary,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(open) = &self.open else {
            return;
        };
        let items = open.transcript.items();
        let selected = open.selected.and_then(|at| items.get(at));
        let selected = match selected {
            Some(TranscriptEntry::Compacted(item)) if item.is_current => Some(&**item),
            _ => open.transcript.current_summary(),
        };
        match selected.map(|item| item.seq) {
            Some(compaction) => self.edit_summary(compaction, window, cx),
            None => self.report_session_problem(
                "There is no summary to edit: this conversation has none yet.",
                cx,
            ),
        }
    }

    /// Opens the field with the summary of a compaction that is still sent.
    fn edit_summary(&mut self, compaction: u64, window: &mut Window, cx: &mut Context<Self>) {
        let Some(open) = &mut self.open else {
            return;
        };
        let summary = open.transcript.items().iter().find_map(|item| match item {
            TranscriptEntry::Compacted(it) if it.seq == compaction => it.summary.as_ref(),
            _ => None,
        });
        let Some(SummaryOutline { memory, .. }) = summary else {
            return;
        };
        let memory = memory.clone();
        let field = cx.new(|cx| {
            TextareaState::new(window, cx)
                .auto_grow(4, 10)
                .default_value(memory)
        });
        field.read(cx).focus_handle(cx).focus(window, cx);
        open.summary_edit = Some(SummaryEdit { compaction, field });
        cx.notify();
    }

    fn save_summary(&mut self, _: &SaveSummary, window: &mut Window, cx: &mut Context<Self>) {
        let Some(open) = &mut self.open else {
            return;
        };
        let Some(edit) = open.summary_edit.take() else {
            return;
        };
        let memory = edit.field.read(cx).value().trim().to_owned();
        if !memory.is_empty() {
            (open.live.send)(SessionCommand::EditSummary {
                compaction: edit.compaction,
                memory,
            });
        }
        self.focus_prompt(window, cx);
        cx.notify();
    }

    fn cancel_summary_edit(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(open) = &mut self.open {
            open.summary_edit = None;
        }
        self.focus_prompt(window, cx);
        cx.notify();
    }

    /// Renders the field in which the user edits a summary. Returns `None` if none is edited.
    pub(super) fn render_summary_edit(&self, cx: &mut Context<Self>) -> Option<AnyElement> {
        let edit = self.addressed_session()?.summary_edit.as_ref()?;
        let colors = cx.theme().colors;
        let save = Button::new("agent-summary-save", "Save summary")
            .style(ButtonStyle::Primary)
            .action(Box::new(SaveSummary))
            .with_keys();
        let cancel = Button::new("agent-summary-cancel", "Cancel")
            .style(ButtonStyle::Ghost)
            .on_click(cx.listener(|this, _, window, cx| this.cancel_summary_edit(window, cx)));
        let field = div()
            .rounded(px(4.0))
            .bg(colors.sunken)
            .border_1()
            .border_color(colors.border_strong)
            .child(
                Textarea::new(&edit.field)
                    .appearance(false)
                    .bordered(false)
                    .aria_label("Summary of the conversation"),
            );
        let hint = "Later requests send this text. Your messages, the rules and the plan stay word for word.";
        Some(
            card(
                "agent-summary-edit",
                Role::Group,
                colors.accent,
                colors.raised,
            )
            .aria_label("Edit the summary")
            .key_context("Composer summary")
            .on_action(cx.listener(Self::save_summary))
            .on_action(cx.listener(|this, _: &Cancel, window, cx| {
                this.cancel_summary_edit(window, cx);
            }))
            .child(Label::new("Edit the summary").strong())
            .child(field)
            .child(
                div()
                    .text_size(dp(12.0))
                    .text_color(colors.muted)
                    .child(hint),
            )
            .child(div().flex().gap(dp(8.0)).child(save).child(cancel))
            .into_any_element(),
        )
    }
}

/// Describes a compaction in one line: `Compacted: 84k → 21k tokens`.
pub(super) fn title(item: &CompactionItem) -> String {
    let sizes = match item.tokens {
        Some((before, after)) => {
            let (before, after) = (token_text(before), token_text(after));
            format!("{before} \u{2192} about {after} tokens")
        }
        None => {
            let saved = item.bytes.0.saturating_sub(item.bytes.1) / 1024;
            format!("{saved} KB shorter")
        }
    };
    let summary = match (&item.summary, item.is_edited) {
        (None, _) => ", older results shortened",
        (Some(_), false) => ", with a summary",
        (Some(_), true) => ", with your summary",
    };
    format!("Compacted: {sizes}{summary}")
}

/// Returns the text to copy: the line and the summary.
pub(super) fn text(item: &CompactionItem) -> String {
    let memory = item.summary.as_ref().map_or("", |it| it.memory.as_str());
    format!("{}\n{memory}", title(item)).trim_end().to_owned()
}

fn card_body(at: usize, item: &CompactionItem, cx: &mut Context<ComposerPanel>) -> Vec<AnyElement> {
    let colors = cx.theme().colors;
    let mut body: Vec<AnyElement> = Vec::new();
    let line = |text: String| {
        div()
            .text_size(dp(12.0))
            .text_color(colors.muted)
            .child(multi_line(text))
            .into_any_element()
    };
    if !item.why.is_empty() {
        body.push(line(format!("Reason: {}.", item.why)));
    }
    body.extend(listed("Shortened results", &item.reduced).map(line));
    body.extend(listed("Dropped failed calls", &item.dropped).map(line));
    let Some(summary) = &item.summary else {
        return body;
    };
    body.push(line(kept_sentence(summary)));
    let memory = printable(&summary.memory, LineFeeds::Keep).into_owned();
    body.push(
        div()
            .id(("agent-summary", at))
            .role(Role::Document)
            .aria_label(memory.clone())
            .test_support()
            .p(dp(8.0))
            .rounded(px(4.0))
            .bg(colors.sunken)
            .child(memory)
            .into_any_element(),
    );
    let compaction = item.seq;
    body.push(if item.is_current {
        let edit = Button::new(("agent-summary-edit-button", at), "Edit summary")
            .style(ButtonStyle::Ghost)
            .on_click(cx.listener(move |this, _, window, cx| {
                this.edit_summary(compaction, window, cx);
            }));
        div().flex().child(edit).into_any_element()
    } else {
        line("A later compaction replaced this summary.".to_owned())
    });
    body
}

/// Lists calls by their titles; `None` without calls.
fn listed(what: &str, titles: &[String]) -> Option<String> {
    if titles.is_empty() {
        return None;
    }
    let mut text = format!("{what} ({}): ", titles.len());
    let shown: Vec<&str> = titles.iter().take(MAX_TITLES).map(String::as_str).collect();
    text.push_str(&shown.join("; "));
    if titles.len() > MAX_TITLES {
        text.push_str(&format!("; and {} more", titles.len() - MAX_TITLES));
    }
    Some(text)
}

fn kept_sentence(summary: &SummaryOutline) -> String {
    let messages = match summary.user_messages {
        0 => None,
        1 => Some("your message".to_owned()),
        count => Some(format!("{count} messages of yours")),
    };
    let kept: Vec<String> = messages
        .into_iter()
        .chain(summary.rules.iter().cloned())
        .collect();
    if kept.is_empty() {
        return "A summary replaces the older part of the conversation.".to_owned();
    }
    format!(
        "A summary replaces the older part of the conversation. Kept word for word: {}.",
        kept.join(", ")
    )
}
