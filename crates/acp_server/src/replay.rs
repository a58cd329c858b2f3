//! Replays a session from its records and those of its subagents.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::Stored;
use agent::record::SessionRecord;
use agent::session::AgentEvent;
use agent::spawn::SPAWN_AGENT;
use agent::store::{SessionStore, SessionSummary};
use connect::acp::agent::RequestRefusal;
use connect::acp::protocol::Update;

use crate::error::failed;
use crate::update_mapper::UpdateMapper;

/// The stored records of a session and of its subagents.
pub(crate) struct SessionRecords {
    records: Vec<Stored>,
    /// The subagents' records, by the call that started them.
    children: BTreeMap<String, Vec<(Arc<str>, SessionRecords)>>,
}

/// Reads a session and its subagents; refuses if there is no such session. Blocks on the disk.
pub(crate) fn read(store: &SessionStore, id: &str) -> Result<SessionRecords, RequestRefusal> {
    let past = store.read(id).map_err(failed)?;
    for problem in &past.problems {
        log::warn!("{problem}");
    }
    let children = if past.records.iter().any(starts_an_agent) {
        store.children(usize::MAX).map_err(failed)?
    } else {
        BTreeMap::new()
    };
    Ok(assemble(store, id, past.records, &children))
}

/// Returns whether a record is the start of a call that spawns a subagent.
fn starts_an_agent(stored: &Stored) -> bool {
    matches!(&stored.record, SessionRecord::CallBegan { tool, .. } if tool == SPAWN_AGENT)
}

fn assemble(
    store: &SessionStore,
    id: &str,
    records: Vec<Stored>,
    lines: &BTreeMap<String, Vec<SessionSummary>>,
) -> SessionRecords {
    let mut children: BTreeMap<String, Vec<(Arc<str>, SessionRecords)>> = BTreeMap::new();
    for line in lines.get(id).into_iter().flatten() {
        let Some(parent) = &line.parent else {
            continue;
        };
        // Unreadable records of a subagent are skipped.
        let Ok(past) = store.read(&line.id) else {
            continue;
        };
        let past = assemble(store, &line.id, past.records, lines);
        let of_call = children.entry(parent.call.clone()).or_default();
        of_call.push((line.id.as_str().into(), past));
    }
    SessionRecords { records, children }
}

/// Returns all updates of the past, oldest first, and the mapper for the events that follow.
pub(crate) fn replay_updates(
    past: &SessionRecords,
    mut mapper: UpdateMapper,
) -> (Vec<Update>, UpdateMapper) {
    let mut updates = Vec::new();
    for stored in &past.records {
        updates.extend(mapper.again(stored));
        if let SessionRecord::CallBegan { call, .. } = &stored.record {
            replay_subagents(past, call, &mut mapper, &mut updates);
        }
    }
    // Pending output is sent with the end of its call; a call without an end is over.
    updates.extend(mapper.flush_output());
    (updates, mapper)
}

fn replay_subagents(
    past: &SessionRecords,
    call: &str,
    mapper: &mut UpdateMapper,
    updates: &mut Vec<Update>,
) {
    for (session, child) in past.children.get(call).into_iter().flatten() {
        for stored in &child.records {
            let event = AgentEvent::Recorded(Arc::new(stored.clone()));
            updates.extend(mapper.child(session, &event));
            if let SessionRecord::CallBegan { call, .. } = &stored.record {
                replay_subagents(child, call, mapper, updates);
            }
        }
    }
}
