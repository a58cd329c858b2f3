//! The thread that finds the servers of documents.
//!
//! Start at `Assigner::run`.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use base::AbsPath;

use super::changes::PendingChanges;
use super::state::{
    AssignedServers, FolderNumber, MissingServer, OpenText, ServedRoot, ServerState, StartRefusal,
};
use super::{Shared, supervisor};
use crate::error::Error;
use crate::selection::{DocumentServers, FolderServers};
use crate::table::ServerDefinition;

/// Finds the servers of a folder's documents.
pub(super) struct Assigner {
    pub(super) shared: Arc<Shared>,
    pub(super) folder: FolderNumber,
    pub(super) changes: Arc<PendingChanges>,
}

impl Assigner {
    /// Finds the servers of each document and starts those that do not run. Returns when the owner is gone. Blocks on
    /// the disk.
    pub(super) fn run(self, servers: FolderServers, documents: &Receiver<AbsPath>) {
        let refusal = match servers.ensure_may_start() {
            Ok(()) => None,
            Err(Error::Untrusted(_)) => Some(StartRefusal::Untrusted),
            Err(Error::Disabled) => Some(StartRefusal::Disabled),
            Err(error) => Some(StartRefusal::Failed(error.to_string())),
        };
        let servers = Arc::new(servers);
        if let Some(folder) = self.shared.state().folders.get_mut(&self.folder) {
            folder.problems = servers.problems().to_vec();
            folder.refusal = refusal.clone();
            folder.servers = Some(servers.clone());
        }
        self.changes.note_servers();
        for path in documents {
            if refusal.is_some() {
                continue;
            }
            if let Some(found) = servers.for_document(&path) {
                self.assign(&path, found, &servers);
            }
        }
    }

    /// Stores the servers of a document, opens it in those that run, and starts the others.
    fn assign(&self, path: &AbsPath, found: DocumentServers, folder: &Arc<FolderServers>) {
        let DocumentServers {
            language,
            servers,
            missing,
        } = found;
        let mut state = self.shared.state();
        // A folder that was closed has no documents.
        let is_open = |it: &OpenText| it.folder == self.folder;
        if !state.documents.get(path).is_some_and(is_open) {
            return;
        }
        let roots = servers.into_iter().map(|choice| ServedRoot {
            folder: self.folder,
            servers: folder.clone(),
            choice,
        });
        let numbers: Vec<_> = roots.map(|root| state.join(root)).collect();
        let missing: Vec<_> = missing
            .iter()
            .map(|server| missing_server(server, &language.name))
            .collect();
        let Some(document) = state.documents.get_mut(path) else {
            return;
        };
        document.assigned = Some(AssignedServers {
            servers: numbers.clone(),
            language: language.clone(),
            missing,
        });
        let text = document.text.clone();
        let mut to_start = Vec::new();
        for number in numbers {
            let Some(entry) = state.servers.get(&number) else {
                continue;
            };
            if let Some(connected) = &entry.connected {
                let connection = &connected.connection;
                connection.open_document(path, &language.id, &text);
                connected.pull(path);
            } else if entry.state == ServerState::Idle && entry.wake.is_none() {
                to_start.push(number);
            }
        }
        drop(state);
        for number in to_start {
            supervisor::spawn(&self.shared, number);
        }
        // A server may be missing, or the folder may have joined one that runs.
        self.changes.note_servers();
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
