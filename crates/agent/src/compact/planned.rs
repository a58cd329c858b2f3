//! The `Compactor` of the turn engine, implemented with this module's plan.

use super::{
    CompactItem, CompactItemKind, CompactLimits, ConversationSummary, SummaryContext, plan,
};
use crate::engine::{CompactionChanges, Compactor, ContextBudget, SummaryRequest};
use crate::record::PromptOrigin;
use crate::transcript::{ConversationView, ViewItem, ViewKind};

/// Shortens conversations by `plan`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlannedCompactor;

impl Compactor for PlannedCompactor {
    fn plan(
        &self,
        view: &ConversationView<'_>,
        budget: ContextBudget<'_>,
    ) -> Option<CompactionChanges> {
        let items: Vec<CompactItem> = view.items.iter().map(item).collect();
        let mut limits = CompactLimits::of(budget.profile, budget.fixed_bytes);
        if budget.is_for_another {
            // With so small a limit, everything but the latest steps is summarised.
            limits.context_tokens = 1_000;
        }
        let planned = plan(&items, &limits, budget.estimator, true)?;
        let around = SummaryContext {
            todos: budget.todos.to_vec(),
            ..SummaryContext::default()
        };
        let summary = planned.summary.map(|summarise| {
            let asked = summarise.clone();
            SummaryRequest {
                through: summarise.through,
                build_request: Box::new(move |model| asked.request(model, false)),
                render: Box::new(move |said| {
                    let summary = said.and_then(ConversationSummary::read);
                    let summary = summary.unwrap_or_else(|| summarise.by_hand());
                    summarise.summary_text(&summary, &around).0
                }),
            }
        });
        Some(CompactionChanges {
            reduced: planned.reduced,
            dropped: planned.dropped,
            summary,
        })
    }
}

fn item(item: &ViewItem<'_>) -> CompactItem {
    let call = item.call.unwrap_or_default();
    let kind = match &item.kind {
        ViewKind::Said(PromptOrigin::Person) => CompactItemKind::User,
        ViewKind::Said(PromptOrigin::Summary) => CompactItemKind::Summary,
        ViewKind::Said(origin) => CompactItemKind::Joined((*origin).clone()),
        ViewKind::Model | ViewKind::Thought => CompactItemKind::Model,
        ViewKind::Call { tool, .. } => CompactItemKind::Call {
            id: call.to_owned(),
            tool: (*tool).to_owned(),
            input: serde_json::from_str(item.text).unwrap_or_default(),
        },
        ViewKind::Result { outcome, .. } => CompactItemKind::Result {
            call: call.to_owned(),
            is_error: outcome.is_error(),
        },
    };
    CompactItem {
        seq: item.seq,
        step: item.step,
        kind,
        text: item.text.to_owned(),
        bytes: item.bytes,
    }
}
