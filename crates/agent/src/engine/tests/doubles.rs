//! A context that adds one text, and a compactor with a fixed plan.

use futures::future::BoxFuture;
use model::{Message, ModelRequest, Role, TokenCount};

use super::super::{
    CompactionChanges, Compactor, ContextAdditions, ContextBudget, ContextProvider, ContextRequest,
    SessionContext, SummaryRequest,
};
use crate::record::{PromptOrigin, PromptPosition, SessionMode, SessionRecord};
use crate::transcript::{ConversationView, ViewKind};

/// Adds one system block and nothing else.
#[derive(Clone, Debug)]
pub(super) struct NoContext(pub(super) String);

impl ContextProvider for NoContext {
    fn open(
        &self,
        about: ContextRequest,
        records: Vec<SessionRecord>,
    ) -> BoxFuture<'static, (Box<dyn SessionContext>, ContextAdditions)> {
        let mut joining = ContextAdditions::default();
        if records.is_empty() {
            joining.records.push(SessionRecord::Joined {
                place: PromptPosition::System,
                origin: PromptOrigin::Pack {
                    name: "plain".to_owned(),
                },
                text: self.0.clone(),
            });
            let note = crate::permission::mode_note(about.mode, None);
            joining
                .records
                .extend(note.map(|text| SessionRecord::Joined {
                    place: PromptPosition::BeforePrompt,
                    origin: PromptOrigin::Harness,
                    text,
                }));
        }
        Box::pin(std::future::ready((
            Box::new(self.clone()) as Box<dyn SessionContext>,
            joining,
        )))
    }
}

impl SessionContext for NoContext {
    fn prompt<'a>(&'a mut self, _text: &'a str) -> BoxFuture<'a, ContextAdditions> {
        Box::pin(std::future::ready(ContextAdditions::default()))
    }

    fn touched(&mut self, _paths: Vec<String>) -> BoxFuture<'_, ContextAdditions> {
        Box::pin(std::future::ready(ContextAdditions::default()))
    }

    fn mode(&self, mode: SessionMode) -> Option<String> {
        crate::permission::mode_note(mode, Some(SessionMode::Build))
    }
}

/// Adds a rule to the first prompt.
#[derive(Clone, Debug)]
pub(super) struct RuleContext(pub(super) Option<String>);

impl ContextProvider for RuleContext {
    fn open(
        &self,
        _: ContextRequest,
        _: Vec<SessionRecord>,
    ) -> BoxFuture<'static, (Box<dyn SessionContext>, ContextAdditions)> {
        let context = Box::new(self.clone()) as Box<dyn SessionContext>;
        Box::pin(std::future::ready((context, ContextAdditions::default())))
    }
}

impl SessionContext for RuleContext {
    fn prompt<'a>(&'a mut self, _: &'a str) -> BoxFuture<'a, ContextAdditions> {
        let mut joining = ContextAdditions::default();
        joining
            .records
            .extend(self.0.take().map(|text| SessionRecord::Joined {
                place: PromptPosition::BeforePrompt,
                origin: PromptOrigin::Rules {
                    path: "RULES.md".to_owned(),
                },
                text,
            }));
        Box::pin(std::future::ready(joining))
    }

    fn touched(&mut self, _: Vec<String>) -> BoxFuture<'_, ContextAdditions> {
        Box::pin(std::future::ready(ContextAdditions::default()))
    }

    fn mode(&self, _: SessionMode) -> Option<String> {
        None
    }
}

/// Cuts old results to their ends, then requests a summary of the rest if that is not enough.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlainCompactor;

/// Bytes kept at each end of an old result.
const KEPT_END_BYTES: usize = 300;
/// Number of latest items that stay unchanged.
const KEPT_RECENT_ITEMS: usize = 8;
/// Maximum tokens of a summary.
const MAX_SUMMARY_TOKENS: TokenCount = TokenCount(4_096);

impl Compactor for PlainCompactor {
    fn plan(
        &self,
        view: &ConversationView<'_>,
        budget: ContextBudget<'_>,
    ) -> Option<CompactionChanges> {
        let recent = view.items.len().saturating_sub(KEPT_RECENT_ITEMS);
        let old = &view.items[..recent];
        let mut plan = CompactionChanges::default();
        let mut left = budget.bytes;
        for item in old {
            if let (ViewKind::Result { .. }, Some(call)) = (&item.kind, item.call)
                && item.text.len() > 3 * KEPT_END_BYTES
            {
                let short = head_and_tail(item.text);
                left = left.saturating_sub(item.bytes.saturating_sub(short.len() as u64));
                plan.reduced.push((call.to_owned(), short));
            }
        }
        if (left > budget.bytes / 2 || budget.is_for_another)
            && let Some(last) = old.last()
        {
            plan.reduced.clear();
            plan.summary = Some(summary(view, old.len(), last.seq));
        }
        let is_some = plan.summary.is_some() || !plan.reduced.is_empty();
        is_some.then_some(plan)
    }
}

fn summary(view: &ConversationView<'_>, old: usize, through: u64) -> SummaryRequest {
    let goal = view.items.iter().find(|item| {
        matches!(
            item.kind,
            ViewKind::Said(PromptOrigin::Person) | ViewKind::Said(PromptOrigin::Summary)
        )
    });
    let goal = goal.map_or("", |item| item.text).to_owned();
    let mut told = String::new();
    for item in &view.items[..old] {
        let who = match &item.kind {
            ViewKind::Said(_) => "told",
            ViewKind::Model => "model",
            ViewKind::Thought => continue,
            ViewKind::Call { name, .. } => name,
            ViewKind::Result { .. } => "result",
        };
        told.push_str(&format!("{who}: {}\n", head_and_tail(item.text)));
    }
    let question = format!(
        "Below is the beginning of a conversation between a person and a coding agent. Summarise for the agent that \
         goes on: what is wanted, what was found out, what was changed in which files, what is left to do. Name \
         files, commands and errors exactly.\n\n{told}"
    );
    SummaryRequest {
        through,
        build_request: Box::new(move |model| {
            let message = Message::text(Role::User, question.as_str());
            ModelRequest::new(model, vec![message], MAX_SUMMARY_TOKENS)
        }),
        render: Box::new(move |answer| {
            let said = answer.unwrap_or("What happened since cannot be told; look at the files.");
            format!(
                "The beginning of this conversation was summarised. It began with:\n{goal}\n\n{said}"
            )
        }),
    }
}

/// Returns both ends of a text, cut at character boundaries.
fn head_and_tail(text: &str) -> String {
    if text.len() <= 2 * KEPT_END_BYTES {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(KEPT_END_BYTES);
    let tail = text.ceil_char_boundary(text.len() - KEPT_END_BYTES);
    format!(
        "{}\n[{} bytes left out]\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}
