//! A session told again, from its records and those of its subagents.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::Stored;
use agent::record::Record;
use agent::session::Event;
use agent::spawn::SPAWN_AGENT;
use agent::store::{SessionLine, Store};
use connect::acp::words::Update;

use super::teller::Teller;

/// A session's past.
pub(super) struct Past {
    records: Vec<Stored>,
    /// What came of each call that started a subagent: the subagents' pasts, by the call.
    children: BTreeMap<String, Vec<(Arc<str>, Past)>>,
}

/// Reads a session and its subagents. Blocks on the disk. Fails with a sentence where there is no such session.
pub(super) fn read(store: &Store, id: &str) -> Result<Past, String> {
    let past = store.read(id)?;
    for problem in &past.problems {
        log::warn!("{problem}");
    }
    let children = match past.records.iter().any(starts_an_agent) {
        true => store.children(usize::MAX)?,
        false => BTreeMap::new(),
    };
    Ok(assemble(store, id, past.records, &children))
}

fn starts_an_agent(stored: &Stored) -> bool {
    matches!(&stored.record, Record::CallBegan { tool, .. } if tool == SPAWN_AGENT)
}

fn assemble(
    store: &Store,
    id: &str,
    records: Vec<Stored>,
    lines: &BTreeMap<String, Vec<SessionLine>>,
) -> Past {
    let mut children: BTreeMap<String, Vec<(Arc<str>, Past)>> = BTreeMap::new();
    for line in lines.get(id).into_iter().flatten() {
        let Some(parent) = &line.parent else {
            continue;
        };
        // What cannot be read of a subagent is missing, no more.
        let Ok(past) = store.read(&line.id) else {
            continue;
        };
        let past = assemble(store, &line.id, past.records, lines);
        let of_call = children.entry(parent.call.clone()).or_default();
        of_call.push((line.id.as_str().into(), past));
    }
    Past { records, children }
}

/// Everything that there is to tell, and the teller that goes on from there.
pub(super) fn told(past: &Past, mut teller: Teller) -> (Vec<Update>, Teller) {
    let mut updates = Vec::new();
    for stored in &past.records {
        updates.extend(teller.again(stored));
        if let Record::CallBegan { call, .. } = &stored.record {
            tell_children(past, call, &mut teller, &mut updates);
        }
    }
    // What is held is told with the end of its call; what has none is over.
    updates.extend(teller.held());
    (updates, teller)
}

fn tell_children(past: &Past, call: &str, teller: &mut Teller, updates: &mut Vec<Update>) {
    for (session, child) in past.children.get(call).into_iter().flatten() {
        for stored in &child.records {
            let event = Event::Recorded(Arc::new(stored.clone()));
            updates.extend(teller.child(session, &event));
            if let Record::CallBegan { call, .. } = &stored.record {
                tell_children(child, call, teller, updates);
            }
        }
    }
}
