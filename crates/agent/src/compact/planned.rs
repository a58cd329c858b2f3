//! The plan of this module as the loop asks for it.

use std::collections::HashMap;
use std::sync::Arc;

use model::policy::TokenEstimator;
use model::{Content, ModelId};

use super::{Around, Item, ItemKind, Limits, Summary, plan};
use crate::engine::{CompactLimits, Compaction, Compactor, SummaryWanted};
use crate::record::Origin;
use crate::transcript::{View, ViewItem, ViewKind};

/// Makes conversations shorter by `plan`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlannedCompactor;

/// What a plan aims at, in percent of the room.
const AIM: u64 = super::AIM;

impl Compactor for PlannedCompactor {
    fn plan(&self, view: &View<'_>, limits: CompactLimits) -> Option<Compaction> {
        let items = items(view);
        let sent: u64 = items.iter().map(|item| item.bytes).sum();
        let estimator = TokenEstimator::default();
        let room = estimator.estimate(limits.target).0.saturating_mul(100) / AIM;
        let limits = Limits {
            room: room.max(1_000),
            fixed_bytes: limits.bytes.saturating_sub(sent),
            steps: 6,
        };
        let planned = plan(&items, &limits, &estimator, true)?;
        let around = Around {
            todos: view.todos.to_vec(),
            ..Around::default()
        };
        let summary = planned.summarise.map(|summarise| {
            let request = summarise.request(unknown(), false);
            let system = request.system.iter().map(|block| block.text.as_str());
            let said = request.messages.iter().flat_map(|message| &message.parts);
            let said = said.filter_map(|part| match &part.content {
                Content::Text(text) => Some(text.as_str()),
                _ => None,
            });
            let question = system.chain(said).collect::<Vec<_>>().join("\n\n");
            SummaryWanted {
                through: summarise.through,
                question,
                beginning: Arc::new(move |said| {
                    let summary = said.and_then(Summary::read);
                    let summary = summary.unwrap_or_else(|| summarise.by_hand());
                    summarise.beginning(&summary, &around).0
                }),
            }
        });
        Some(Compaction {
            reduced: planned.reduced,
            dropped: planned.dropped,
            summary,
        })
    }
}

/// The loop knows whom to ask.
fn unknown() -> ModelId {
    ModelId {
        provider: String::new(),
        model: String::new(),
    }
}

fn items(view: &View<'_>) -> Vec<Item> {
    let mut own: HashMap<&str, &str> = HashMap::new();
    for item in &view.items {
        if let (ViewKind::Result { tool, .. }, Some(call)) = (&item.kind, item.call) {
            own.insert(call, tool);
        }
    }
    let (mut items, mut step, mut answer) = (Vec::new(), 0, None);
    for item in &view.items {
        let is_answer = matches!(
            item.kind,
            ViewKind::Model | ViewKind::Thought | ViewKind::Call { .. }
        );
        if is_answer {
            answer = Some(item.seq);
        } else if answer.is_some() && !matches!(item.kind, ViewKind::Result { .. }) {
            // What comes between answers belongs to the next.
            step += 1;
            answer = None;
        }
        if is_answer
            && items
                .last()
                .is_some_and(|last: &Item| matches!(last.kind, ItemKind::Result { .. }))
        {
            step += 1;
        }
        items.push(Item {
            seq: item.seq,
            step,
            kind: kind(item, &own),
            text: item.text.to_owned(),
            bytes: item.bytes,
        });
    }
    items
}

fn kind(item: &ViewItem<'_>, own: &HashMap<&str, &str>) -> ItemKind {
    let call = item.call.unwrap_or_default();
    match &item.kind {
        ViewKind::Said(Origin::Person) => ItemKind::Person,
        ViewKind::Said(Origin::Summary) => ItemKind::Summary,
        ViewKind::Said(origin) => ItemKind::Joined((*origin).clone()),
        ViewKind::Model | ViewKind::Thought => ItemKind::Model,
        ViewKind::Call { name } => ItemKind::Call {
            id: call.to_owned(),
            tool: own.get(call).unwrap_or(name).to_string(),
            input: serde_json::from_str(item.text).unwrap_or_default(),
        },
        ViewKind::Result { outcome, .. } => ItemKind::Result {
            call: call.to_owned(),
            is_error: outcome.is_error(),
        },
    }
}
