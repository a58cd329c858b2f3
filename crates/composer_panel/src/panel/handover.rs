//! The history that another model gets in the middle of a conversation: all of it, a summary, or a
//! new session that begins with one.
//!
//! Invariant: the choice is made for one switch and kept for none.
//! Start at `ComposerPanel::choose_session_model`.

use agent::record::Handover;
use agent_service::token_text;
use gpui_kit::{Context, Window};
use model::{TokenCount, Usage};

use super::session_rows::dollars;
use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::agents::ModelEntry;

/// Size of a conversation, in tokens, from which a switch asks for the history. A smaller one is
/// sent whole.
const MIN_HISTORY: u64 = 4_000;
/// Maximum tokens of the text that a model writes for a summary.
const SUMMARY_OUTPUT: u64 = 2_500;

/// The history that the next model gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryChoice {
    /// All of it, in the same session.
    Full,
    /// A summary, in the same session.
    Summary,
    /// A summary, in a new session; the old one stays unchanged.
    NewSession,
}

/// A row of the list of histories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryOption {
    /// The history.
    pub choice: HistoryChoice,
    /// Its name.
    pub title: &'static str,
    /// Its effect and its price, where that is known.
    pub detail: String,
}

impl ComposerPanel {
    /// Sets the model for the next prompt. In a conversation of some size it lets the user choose the
    /// history first.
    pub fn choose_session_model(&mut self, model: String, cx: &mut Context<Self>) {
        if self.history_options(&model).is_empty() {
            self.set_model(model, cx);
        } else {
            cx.emit(PanelEvent::ChooseHistory(model));
        }
    }

    /// Returns the histories that the open session can pass to another model, the complete one
    /// first. Empty for a short conversation, and for the model in use.
    pub fn history_options(&self, model: &str) -> Vec<HistoryOption> {
        let Some(open) = self.addressed_session() else {
            return Vec::new();
        };
        let tokens = open.transcript.fill().map_or(0, |fill| fill.tokens);
        let now = open.transcript.model();
        if tokens < MIN_HISTORY || now == model || now.is_empty() {
            return Vec::new();
        }
        let next = self.model_name(model);
        let full = match self.model_entry(model).and_then(|it| self.resend_text(it)) {
            Some(text) => text,
            None => format!("sends {} tokens again", token_text(tokens)),
        };
        let summary = match self
            .model_entry(now)
            .and_then(|it| summary_nano(it, tokens))
        {
            Some(0) => " for free".to_owned(),
            Some(nano) => format!(" for at most {}", dollars(nano)),
            None => String::new(),
        };
        let writer = self.model_name(now);
        vec![
            HistoryOption {
                choice: HistoryChoice::Full,
                title: "Full history",
                detail: full,
            },
            HistoryOption {
                choice: HistoryChoice::Summary,
                title: "Summary",
                detail: format!(
                    "{writer} writes it{summary}; your messages, rules and plan stay whole"
                ),
            },
            HistoryOption {
                choice: HistoryChoice::NewSession,
                title: "New session from a summary",
                detail: format!(
                    "a copy goes on with {next}; {writer} writes its summary{summary}; this session stays"
                ),
            },
        ]
    }

    /// Switches the open session, or a copy of it, to a model with this history.
    pub fn switch_model(
        &mut self,
        model: String,
        choice: HistoryChoice,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match choice {
            HistoryChoice::Full => self.set_model_with(model, Handover::Full, cx),
            HistoryChoice::Summary => self.set_model_with(model, Handover::Summary, cx),
            HistoryChoice::NewSession => self.open_summarised_copy(model, window, cx),
        }
    }

    /// Opens a copy of the open session, up to its last turn, that another model continues from a
    /// summary.
    fn open_summarised_copy(&mut self, model: String, window: &mut Window, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        let Some(open) = self.addressed_session() else {
            return;
        };
        let Some(after) = open.transcript.last_turn_end() else {
            self.report_session_problem(
                "The first turn of this session has not ended: wait for it, or stop it, then copy the session.",
                cx,
            );
            return;
        };
        let id = open.live.id.clone();
        self.loads.opening = Some(cx.spawn_in(window, async move |this, cx| {
            let copied = agents.fork_session(root.clone(), id, after).await;
            let opened = match copied {
                Ok(copy) => agents.open(root, copy).await,
                Err(error) => Err(error),
            };
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| match opened {
                Ok(live) => {
                    this.page = PanelPage::Session;
                    this.show(live, window, cx);
                    this.set_model_with(model, Handover::Summary, cx);
                    this.focus_prompt(window, cx);
                }
                Err(error) => this.report_session_problem(&error.to_string(), cx),
            })
            .ok();
        }));
    }
}

/// Returns the cost of a summary of so many tokens that a model writes without its cache, in
/// billionths of a US dollar; `None` if its price is unknown.
fn summary_nano(model: &ModelEntry, tokens: u64) -> Option<u64> {
    let usage = Usage {
        input: TokenCount(tokens),
        output: TokenCount(SUMMARY_OUTPUT),
        ..Usage::default()
    };
    let price = model.traits.as_ref()?.price.as_ref()?;
    Some(price.cost(&usage)?.0)
}
