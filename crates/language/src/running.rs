//! Runs the language servers of open folders and keeps their documents in sync with the buffers.
//!
//! A thread finds the servers of each document and starts them; each server has a thread that follows its process
//! (`supervisor`), one that asks for diagnostics (`pulls`), and one that asks for those of all files (`workspace_pulls`).
//! Invariant: no method of `RunningServers` waits for a server, a process or the disk.
//! Invariant: documents change under one lock with the servers that know them, so that every server receives all
//! changes of a text in order.
//! Start at `ServerPool::start`.

mod assignment;
mod changes;
mod pulls;
mod readiness;
mod sharing;
mod state;
mod supervisor;
mod workspace_pulls;

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
use assignment::Assigner;
use changes::PendingChanges;
pub use changes::{LanguageChanges, OutdatedAnswers, ServerMessage};
pub use readiness::DocumentReadiness;
use state::{FolderNumber, FolderState, OpenText, ServerEntry, ServerNumber, State, WantedState};
pub use state::{MissingServer, ServerKey, ServerState, ServerStatus, StartRefusal};

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

/// Language servers that several folders may share: one process works on all worktrees of a repository, if the server
/// keeps them apart. Cheap to clone.
#[derive(Clone, Default)]
pub struct ServerPool {
    shared: Arc<Shared>,
}

/// The language servers of an open folder. They start with the first document that they serve, and end when this is
/// dropped, unless another folder shares them.
pub struct RunningServers {
    shared: Arc<Shared>,
    folder: FolderNumber,
    changes: Arc<PendingChanges>,
    /// Documents for which servers are to be found.
    unassigned: Sender<AbsPath>,
}

/// The part that the threads share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
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

impl ServerPool {
    /// Prepares the servers of a folder; none starts yet. The receiver gets a message when
    /// `RunningServers::take_changes` has something new.
    pub fn start(&self, options: RunningOptions) -> (RunningServers, Receiver<()>) {
        let (changes, changed) = PendingChanges::new();
        let changes = Arc::new(changes);
        let shared = self.shared.clone();
        let folder = shared.state().open_folder(FolderState {
            refusal: None,
            problems: Vec::new(),
            servers: None,
            changes: changes.clone(),
            logs: options.logs,
            clock: options.clock,
        });
        let (unassigned, documents) = mpsc::channel();
        let assigner = Assigner {
            shared: shared.clone(),
            folder,
            changes: changes.clone(),
        };
        let open = options.open;
        let thread = thread::Builder::new().name("lsp-assign".to_owned());
        let started = thread.spawn(move || assigner.run(open(), &documents));
        if let (Err(error), Some(folder)) = (started, shared.state().folders.get_mut(&folder)) {
            folder.refusal = Some(StartRefusal::Failed(error.to_string()));
        }
        let running = RunningServers {
            shared,
            folder,
            changes,
            unassigned,
        };
        (running, changed)
    }
}

impl RunningServers {
    /// Prepares the servers of a folder that shares them with no other; see `ServerPool::start`.
    pub fn start(options: RunningOptions) -> (Self, Receiver<()>) {
        ServerPool::default().start(options)
    }

    /// Opens a document below the folder, or opens it anew under its name.
    pub fn open_document(&self, path: &AbsPath, text: &Snapshot) {
        let mut state = self.shared.state();
        state.close(path);
        let document = OpenText::new(self.folder, text);
        state.documents.insert(path.clone(), document);
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
        let servers = self.shared.state().connections(self.folder);
        servers.iter().any(|(_, server)| server.watches_files())
    }

    /// Passes changes of files on disk to the servers that want them, one message for each. Open documents are not
    /// exempt. Takes time for many events, so do not call it on a thread that must not wait.
    pub fn files_changed(&self, events: &[FileEvent]) {
        let servers = self.shared.state().connections(self.folder);
        for (_, server) in servers {
            server.files_changed(events);
        }
        self.shared.state().pull_workspace(self.folder);
    }

    /// Pulls the diagnostics of all open documents of the folder again from the servers that offer pulling, for example
    /// after other files changed. Blocks until they answer, for about `time` at most.
    pub fn pull_diagnostics(&self, time: Duration) {
        let state = self.shared.state();
        let Some(folder) = state.folders.get(&self.folder) else {
            return;
        };
        let clock = folder.clock.clone();
        let until = clock.elapsed() + time;
        let documents = state.documents.iter();
        let documents = documents.filter(|(_, document)| document.folder == self.folder);
        let pulls = documents.flat_map(|(path, _)| {
            let servers = state.connected(path);
            servers.map(|server| (server.connection.clone(), path.clone()))
        });
        let pulls: Vec<(LanguageServer, AbsPath)> = pulls.collect();
        drop(state);
        let requests = pulls
            .into_iter()
            .filter_map(|(server, path)| server.pull_diagnostics(&path));
        for request in requests.collect::<Vec<_>>() {
            let left = until.saturating_sub(clock.elapsed());
            if left.is_zero() {
                return;
            }
            if let Err(error) = request.wait(left) {
                log::debug!("no diagnostics after a change of files: {error}");
            }
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

    /// Returns the diagnostics of servers about a document that is not open, with the ids of the servers. The time grows
    /// with their number, so call it in the background.
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
        let state = self.shared.state();
        let root = state.root_of(self.folder);
        let connections = state.connections(self.folder).into_iter();
        let connections = connections.map(|(id, server)| match &root {
            Some(root) => (id, server.for_folder(root)),
            None => (id, server),
        });
        connections.collect()
    }

    /// Returns the connected servers of an open document, the primary one first.
    pub fn servers_of(&self, path: &AbsPath) -> Vec<DocumentServer> {
        let state = self.shared.state();
        let root = state.root_of(self.folder);
        let servers = state.connected(path);
        servers
            .map(|server| DocumentServer {
                id: server.id.clone(),
                role: server.role,
                connection: match &root {
                    Some(root) => server.connection.for_folder(root),
                    None => server.connection.clone(),
                },
            })
            .collect()
    }

    /// Returns the state of every server, sorted by id and root.
    pub fn statuses(&self) -> Vec<ServerStatus> {
        self.shared.state().statuses(self.folder)
    }

    /// Measures the memory of every server, which `statuses` then returns. Blocks while it reads the process table.
    pub fn measure_memory(&self) {
        let state = self.shared.state();
        let servers = state.servers.iter();
        let servers = servers.filter(|(_, entry)| entry.key(self.folder).is_some());
        let probes = servers.filter_map(|(number, entry)| {
            Some((*number, entry.connected.as_ref()?.memory_probe.clone()))
        });
        let probes: Vec<_> = probes.collect();
        drop(state);
        for (number, probe) in probes {
            let memory = probe();
            let mut state = self.shared.state();
            let entry = state.servers.get_mut(&number);
            if let Some(connected) = entry.and_then(|entry| entry.connected.as_mut()) {
                connected.memory = memory;
            }
        }
    }

    /// Returns the servers of open documents that are not installed, sorted by id.
    pub fn missing(&self) -> Vec<MissingServer> {
        self.shared.state().missing(self.folder)
    }

    /// Returns why no server starts in the folder; `None` if they may start, and until the folder was read.
    pub fn refusal(&self) -> Option<StartRefusal> {
        let state = self.shared.state();
        state.folders.get(&self.folder)?.refusal.clone()
    }

    /// Returns a sentence for each setting and tool that could not be used.
    pub fn problems(&self) -> Vec<String> {
        let state = self.shared.state();
        let folder = state.folders.get(&self.folder);
        folder.map_or_else(Vec::new, |folder| folder.problems.clone())
    }

    /// Returns the known servers of the folder; `None` until the folder was read.
    pub fn folder(&self) -> Option<Arc<FolderServers>> {
        let state = self.shared.state();
        state.folders.get(&self.folder)?.servers.clone()
    }

    /// Finds the servers of all open documents again, such as after one was installed.
    pub fn find_servers(&self) {
        let state = self.shared.state();
        let documents = state.documents.iter();
        for (path, _) in documents.filter(|(_, it)| it.folder == self.folder) {
            // As in `open_document`.
            self.unassigned.send(path.clone()).ok();
        }
    }

    /// Takes the changes since the last call.
    pub fn take_changes(&self) -> LanguageChanges {
        self.changes.take()
    }

    /// Ends a server until it is restarted, in all folders that share it.
    pub fn stop(&self, key: &ServerKey) {
        let number = self.shared.state().server_of(self.folder, key);
        if let Some(number) = number {
            self.shared.end(number, WantedState::Stopped);
        }
    }

    /// Returns the capabilities of a server as `LanguageServer::capabilities` does; `None` if it is not connected.
    pub fn capabilities(&self, key: &ServerKey) -> Option<serde_json::Value> {
        let state = self.shared.state();
        let entry = state.servers.get(&state.server_of(self.folder, key)?)?;
        Some(entry.connected.as_ref()?.connection.capabilities())
    }

    /// Ends a server and starts it again, or starts a stopped or failed one.
    pub fn restart(&self, key: &ServerKey) {
        let number = self.shared.state().server_of(self.folder, key);
        let Some(number) = number else {
            return;
        };
        if !self.shared.end(number, WantedState::Restarted) {
            supervisor::spawn(&self.shared, number);
        }
    }

    /// Restarts the servers that other folders share with this one. They outlive it, the others do not.
    pub fn restart_shared(&self) {
        let shared = self.shared.state().shared_servers(self.folder);
        for number in shared {
            if !self.shared.end(number, WantedState::Restarted) {
                supervisor::spawn(&self.shared, number);
            }
        }
    }
}

impl Drop for RunningServers {
    fn drop(&mut self) {
        let closed = self.shared.state().close_folder(self.folder);
        for entry in closed.ended {
            entry.shut_down();
        }
        for number in closed.outgrown {
            self.shared.end(number, WantedState::Restarted);
        }
        self.shared.note_servers();
    }
}

impl ServerEntry {
    /// Ends the process, if there is one; its thread then ends as well. Returns whether there is a thread.
    fn shut_down(&self) -> bool {
        let Some(wake) = &self.wake else {
            return false;
        };
        // Ends a pause before a restart. The thread may be about to end by itself.
        wake.send(()).ok();
        if let Some(connected) = &self.connected {
            let connection = connected.connection.clone();
            thread::spawn(move || shut_down(&connection));
        }
        true
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shuts a server down; `wanted` is the state that its supervisor thread enters afterwards. Returns `false` if the server
    /// has no supervisor thread.
    fn end(&self, number: ServerNumber, wanted: WantedState) -> bool {
        let mut state = self.state();
        let entry = state.servers.get_mut(&number);
        let Some(entry) = entry.filter(|entry| entry.wake.is_some()) else {
            return false;
        };
        entry.wanted = wanted;
        entry.shut_down()
    }

    /// Notes in every folder that the state of a server changed.
    fn note_servers(&self) {
        for changes in self.state().changes() {
            changes.note_servers();
        }
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
