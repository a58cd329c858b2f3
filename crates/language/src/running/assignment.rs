//! The thread that finds the servers of documents.
//!
//! Start at `run`.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use base::AbsPath;

use super::state::{
    AssignedServers, MissingServer, ServerEntry, ServerKey, ServerState, StartRefusal, WantedState,
};
use super::{Shared, supervisor};
use crate::error::Error;
use crate::selection::{DocumentServers, FolderServers, ServerChoice};
use crate::table::ServerDefinition;

/// Finds the servers of each document and starts those that do not run. Returns when the owner is gone. Blocks on the
/// disk.
pub(super) fn run(shared: &Arc<Shared>, servers: FolderServers, documents: &Receiver<AbsPath>) {
    let refusal = match servers.ensure_may_start() {
        Ok(()) => None,
        Err(Error::Untrusted(_)) => Some(StartRefusal::Untrusted),
        Err(Error::Disabled) => Some(StartRefusal::Disabled),
        Err(error) => Some(StartRefusal::Failed(error.to_string())),
    };
    let mut state = shared.state();
    state.problems = servers.problems().to_vec();
    state.refusal = refusal.clone();
    let servers = Arc::new(servers);
    state.folder = Some(servers.clone());
    drop(state);
    shared.changes.note_servers();
    for path in documents {
        if refusal.is_some() {
            continue;
        }
        if let Some(found) = servers.for_document(&path) {
            assign(shared, &path, found);
        }
    }
}

/// Stores the servers of a document, opens it in those that run, and starts the others.
fn assign(shared: &Arc<Shared>, path: &AbsPath, found: DocumentServers) {
    let DocumentServers {
        language,
        servers,
        missing,
    } = found;
    let mut state = shared.state();
    if state.is_closed {
        return;
    }
    let Some(document) = state.documents.get_mut(path) else {
        return;
    };
    let missing: Vec<_> = missing
        .iter()
        .map(|server| missing_server(server, &language.name))
        .collect();
    let has_missing = !missing.is_empty();
    document.assigned = Some(AssignedServers {
        servers: servers.iter().map(key_of).collect(),
        language: language.clone(),
        missing,
    });
    let text = document.text.clone();
    let mut to_start = Vec::new();
    for choice in servers {
        let key = key_of(&choice);
        let entry = state.servers.entry(key.clone());
        let entry = entry.or_insert_with(|| ServerEntry {
            choice,
            state: ServerState::Idle,
            wanted: WantedState::Running,
            connected: None,
            wake: None,
        });
        if let Some(connected) = &entry.connected {
            connected
                .connection
                .open_document(path, &language.id, &text);
            connected.pull(path);
        } else if entry.state == ServerState::Idle && entry.wake.is_none() {
            to_start.push(key);
        }
    }
    drop(state);
    for key in to_start {
        supervisor::spawn(shared, &key);
    }
    if has_missing {
        shared.changes.note_servers();
    }
}

fn key_of(choice: &ServerChoice) -> ServerKey {
    ServerKey {
        id: choice.definition.id.clone(),
        root: choice.root.clone(),
    }
}

fn missing_server(server: &ServerDefinition, language: &str) -> MissingServer {
    MissingServer {
        id: server.id.clone(),
        language: language.to_owned(),
        is_installable: server.install.is_some(),
        advice: server.install_advice(base::Platform::CURRENT),
    }
}
