//! Runs the language servers of an open folder and keeps their documents in sync with the buffers.
//!
//! A thread finds the servers of each document and starts them; each server has a thread that follows its process
//! (`supervisor`) and one that asks for diagnostics (`pulls`).
//! Invariant: no method of `RunningServers` waits for a server, a process or the disk.
//! Invariant: documents change under one lock with the servers that know them, so that every server receives all
//! changes of a text in order.
//! Start at `RunningServers::start`.

mod assignment;
mod changes;
mod pulls;
mod readiness;
mod state;
mod supervisor;

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use async_channel::Receiver;
use base::AbsPath;
use host::Clock;
use lsp::{DocumentDiagnostics, FileEvent, LanguageServer, UnopenedDiagnostic};
use text::{Change, Snapshot};

use crate::selection::FolderServers;
use crate::table::ServerRole;
use changes::PendingChanges;
pub use changes::{LanguageChanges, ServerMessage};
pub use readiness::DocumentReadiness;
pub use state::{MissingServer, ServerKey, ServerState, ServerStatus, StartRefusal};
use state::{OpenText, State, WantedState};

/// Time for the answer to `shutdown`.
const SHUTDOWN_TIME: Duration = Duration::from_secs(2);

/// The options with which the servers of a folder start.
pub struct RunningOptions {
    /// Finds the servers of the folder; called once, on a thread, because it blocks on the disk and on tools.
    pub open: Box<dyn FnOnce() -> FolderServers + Send>,
    /// The folder for the logs of the servers.
    pub logs: AbsPath,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
}

/// The language servers of an open folder. They start with the first document that they serve, and end when this is
/// dropped.
pub struct RunningServers {
    shared: Arc<Shared>,
    /// Documents for which servers are to be found.
    unassigned: Sender<AbsPath>,
}

/// The part that the threads share.
struct Shared {
    state: Mutex<State>,
    changes: PendingChanges,
    logs: AbsPath,
    clock: Arc<dyn Clock>,
}

/// A server that serves a document, for requests about it.
#[derive(Clone)]
pub struct DocumentServer {
    /// Id of the server.
    pub id: String,
    /// Its role beside the other servers of the document.
    pub role: ServerRole,
    /// The connection.
    pub connection: LanguageServer,
}

impl RunningServers {
    /// Prepares the servers of a folder; none starts yet. The receiver gets a message when `take_changes` has
    /// something new.
    pub fn start(options: RunningOptions) -> (Self, Receiver<()>) {
        let (changes, changed) = PendingChanges::new();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changes,
            logs: options.logs,
            clock: options.clock,
        });
        let (unassigned, documents) = mpsc::channel();
        let assigning = shared.clone();
        let open = options.open;
        let thread = thread::Builder::new().name("lsp-assign".to_owned());
        if let Err(error) = thread.spawn(move || assignment::run(&assigning, open(), &documents)) {
            shared.state().refusal = Some(StartRefusal::Failed(error.to_string()));
        }
        (Self { shared, unassigned }, changed)
    }

    /// Opens a document below the folder, or opens it anew under its name.
    pub fn open_document(&self, path: &AbsPath, text: &Snapshot) {
        let mut state = self.shared.state();
        state.close(path);
        state.documents.insert(path.clone(), OpenText::new(text));
        drop(state);
        // The thread is gone if it could not start; the refusal says so.
        self.unassigned.send(path.clone()).ok();
    }

    /// Passes an edit of an open document on. `change` leads from the text of the previous call to `text`.
    pub fn change_document(&self, path: &AbsPath, change: &Change, text: &Snapshot) {
        let mut state = self.shared.state();
        for server in state.set_text(path, text) {
            server.connection.change_document(path, change, text);
            server.pull(path);
        }
    }

    /// Announces that a document was saved.
    pub fn save_document(&self, path: &AbsPath) {
        let state = self.shared.state();
        for server in state.connected(path) {
            server.connection.save_document(path);
            server.pull(path);
        }
    }

    /// Closes a document. A server without documents ends after ten minutes.
    pub fn close_document(&self, path: &AbsPath) {
        self.shared.state().close(path);
    }

    /// Returns whether a server wants events about files.
    pub fn watches_files(&self) -> bool {
        let servers = self.shared.state().connections();
        servers.iter().any(|(_, server)| server.watches_files())
    }

    /// Passes changes of files on disk to the servers that want them, one message for each. Open documents are not
    /// exempt. Takes time for many events, so do not call it on a thread that must not wait.
    pub fn files_changed(&self, events: &[FileEvent]) {
        let servers = self.shared.state().connections();
        for (_, server) in servers {
            server.files_changed(events);
        }
    }

    /// Returns the diagnostics of an open document with the ids of their servers, in the order of the servers.
    pub fn diagnostics(&self, path: &AbsPath) -> Vec<(String, DocumentDiagnostics)> {
        let state = self.shared.state();
        let servers = state.connected(path);
        servers
            .filter_map(|server| Some((server.id.clone(), server.connection.diagnostics(path)?)))
            .collect()
    }

    /// Returns the diagnostics that servers pushed about a document that is not open, with the ids of the servers. The
    /// time grows with their number, so call it in the background.
    pub fn closed_diagnostics(&self, path: &AbsPath) -> Vec<(String, UnopenedDiagnostic)> {
        let connections = self.shared.state().connections_about(path);
        let found = connections.into_iter().flat_map(|(id, connection)| {
            let items = connection.unopened_diagnostics(path).into_iter();
            items.map(move |item| (id.clone(), item))
        });
        found.collect()
    }

    /// Returns the connections to all running servers of the folder, each with the id of its server, for requests that
    /// concern no document.
    pub fn connections(&self) -> Vec<(String, LanguageServer)> {
        self.shared.state().connections()
    }

    /// Returns the connected servers of an open document, the primary one first.
    pub fn servers_of(&self, path: &AbsPath) -> Vec<DocumentServer> {
        let state = self.shared.state();
        let servers = state.connected(path);
        servers
            .map(|server| DocumentServer {
                id: server.id.clone(),
                role: server.role,
                connection: server.connection.clone(),
            })
            .collect()
    }

    /// Returns the state of every server, sorted by id and root.
    pub fn statuses(&self) -> Vec<ServerStatus> {
        self.shared.state().statuses()
    }

    /// Measures the memory of every server, which `statuses` then returns. Blocks on the system.
    pub fn measure_memory(&self) {
        let state = self.shared.state();
        let probes: Vec<_> = state
            .servers
            .iter()
            .filter_map(|(key, it)| {
                Some((key.clone(), it.connected.as_ref()?.memory_probe.clone()))
            })
            .collect();
        drop(state);
        for (key, probe) in probes {
            let memory = probe();
            let mut state = self.shared.state();
            let entry = state.servers.get_mut(&key);
            if let Some(connected) = entry.and_then(|entry| entry.connected.as_mut()) {
                connected.memory = memory;
            }
        }
    }

    /// Returns the servers of open documents that are not installed, sorted by id.
    pub fn missing(&self) -> Vec<MissingServer> {
        self.shared.state().missing()
    }

    /// Returns why no server starts in the folder; `None` if they may start, and until the folder was read.
    pub fn refusal(&self) -> Option<StartRefusal> {
        self.shared.state().refusal.clone()
    }

    /// Returns a sentence for each setting and tool that could not be used.
    pub fn problems(&self) -> Vec<String> {
        self.shared.state().problems.clone()
    }

    /// Returns the known servers of the folder; `None` until the folder was read.
    pub fn folder(&self) -> Option<Arc<FolderServers>> {
        self.shared.state().folder.clone()
    }

    /// Finds the servers of all open documents again, such as after one was installed.
    pub fn find_servers(&self) {
        for path in self.shared.state().documents.keys() {
            // As in `open_document`.
            self.unassigned.send(path.clone()).ok();
        }
    }

    /// Takes the changes since the last call.
    pub fn take_changes(&self) -> LanguageChanges {
        self.shared.changes.take()
    }

    /// Ends a server until it is restarted.
    pub fn stop(&self, key: &ServerKey) {
        self.shared.end(key, WantedState::Stopped);
    }

    /// Ends a server and starts it again, or starts a stopped or failed one.
    pub fn restart(&self, key: &ServerKey) {
        if self.shared.end(key, WantedState::Restarted) {
            return;
        }
        supervisor::spawn(&self.shared, key);
    }
}

impl Drop for RunningServers {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.is_closed = true;
        let keys: Vec<ServerKey> = state.servers.keys().cloned().collect();
        drop(state);
        for key in keys {
            self.shared.end(&key, WantedState::Stopped);
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shuts a server down; `wanted` is the state that its supervisor thread enters afterwards. Returns `false` if the server
    /// has no supervisor thread.
    fn end(&self, key: &ServerKey, wanted: WantedState) -> bool {
        let mut state = self.state();
        let Some(entry) = state.servers.get_mut(key) else {
            return false;
        };
        let Some(wake) = &entry.wake else {
            return false;
        };
        entry.wanted = wanted;
        // Ends a pause before a restart. The thread may be about to end by itself.
        wake.send(()).ok();
        if let Some(connected) = &entry.connected {
            let connection = connected.connection.clone();
            thread::spawn(move || shut_down(&connection));
        }
        true
    }
}

/// Ends a connection, whether the server agrees or not. Blocks for at most `SHUTDOWN_TIME`. The thread of the server
/// then ends the process.
fn shut_down(connection: &LanguageServer) {
    // A server that refuses or does not answer is ended all the same.
    connection.shutdown(SHUTDOWN_TIME).ok();
    connection.disconnect();
}

#[cfg(test)]
mod tests;
