//! The plan of this module as the loop asks for it.

use super::{Around, Item, ItemKind, Limits, Summary, plan};
use crate::engine::{Compaction, Compactor, Room, SummaryWanted};
use crate::record::Origin;
use crate::transcript::{View, ViewItem, ViewKind};

/// Makes conversations shorter by `plan`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlannedCompactor;

impl Compactor for PlannedCompactor {
    fn plan(&self, view: &View<'_>, room: Room<'_>) -> Option<Compaction> {
        let items: Vec<Item> = view.items.iter().map(item).collect();
        let mut limits = Limits::of(room.profile, room.fixed_bytes);
        if room.is_for_another {
            // Nothing is short enough then: all but the latest is summarised.
            limits.room = 1_000;
        }
        let planned = plan(&items, &limits, room.estimator, true)?;
        let around = Around {
            todos: room.todos.to_vec(),
            ..Around::default()
        };
        let summary = planned.summarise.map(|summarise| {
            let asked = summarise.clone();
            SummaryWanted {
                through: summarise.through,
                question: Box::new(move |model| asked.request(model, false)),
                beginning: Box::new(move |said| {
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

fn item(item: &ViewItem<'_>) -> Item {
    let call = item.call.unwrap_or_default();
    let kind = match &item.kind {
        ViewKind::Said(Origin::Person) => ItemKind::Person,
        ViewKind::Said(Origin::Summary) => ItemKind::Summary,
        ViewKind::Said(origin) => ItemKind::Joined((*origin).clone()),
        ViewKind::Model | ViewKind::Thought => ItemKind::Model,
        ViewKind::Call { tool, .. } => ItemKind::Call {
            id: call.to_owned(),
            tool: (*tool).to_owned(),
            input: serde_json::from_str(item.text).unwrap_or_default(),
        },
        ViewKind::Result { outcome, .. } => ItemKind::Result {
            call: call.to_owned(),
            is_error: outcome.is_error(),
        },
    };
    Item {
        seq: item.seq,
        step: item.step,
        kind,
        text: item.text.to_owned(),
        bytes: item.bytes,
    }
}
