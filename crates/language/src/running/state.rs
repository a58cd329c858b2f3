//! The folders of a pool with their documents and servers.
//!
//! Must not know: threads, processes.
//! Invariant: a server has at least one root; one without is taken out.
//! Start at `State`; which folders share a server is decided in `sharing`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::mpsc::{Sender, SyncSender};

use base::AbsPath;
use host::Clock;
use lsp::{LanguageServer, Progress};
use text::Snapshot;

use super::changes::PendingChanges;
use crate::process::MemoryProbe;
use crate::selection::{FolderServers, ServerChoice};
use crate::table::{DocumentLanguage, ServerRole};

/// The identity of a server process among those of a folder: the id of the server and the root of its project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerKey {
    /// Id of the server.
    pub id: String,
    /// The root folder of the project that it works on.
    pub root: AbsPath,
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Its process is being started.
    Starting,
    /// It answers requests.
    Running {
        /// The version that the server gave.
        version: Option<String>,
    },
    /// It crashed for this reason, a sentence, and starts again after a pause.
    Restarting(String),
    /// It does not start again by itself, for this reason, a sentence.
    Failed(String),
    /// The user stopped it, or the folder was closed.
    Stopped,
    /// It ended because it had no document; it starts with the next one.
    Idle,
}

/// The reason for which no server starts in a folder. Its text is a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartRefusal {
    /// The user does not trust the folder.
    #[error("This folder is not trusted, so no language server starts in it")]
    Untrusted,
    /// The settings turn language servers off.
    #[error("Language servers are off: the setting \"lsp.enabled\" is false")]
    Disabled,
    /// The thread that finds servers cannot start.
    #[error("Language servers cannot start: {0}")]
    Failed(String),
}

/// The description of a server for the user.
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// Its identity.
    pub key: ServerKey,
    /// Its program.
    pub program: AbsPath,
    /// Its state.
    pub state: ServerState,
    /// The name that it gave; `None` if it gave none or is not connected.
    pub name: Option<String>,
    /// Whether it answers: false once a request waited for 30 s without any message, until the next message.
    pub is_responding: bool,
    /// Memory of its processes in bytes at the last `RunningServers::measure_memory`.
    pub memory: Option<u64>,
    /// Number of open documents that it serves.
    pub documents: usize,
    /// Its work under way.
    pub progress: Vec<Progress>,
    /// Its tolerated violations of the protocol, one phrase for each kind.
    pub violations: Vec<String>,
    /// The method of the latest request to it; `None` if it is not connected.
    pub last_request: Option<&'static str>,
}

/// A server that is not installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingServer {
    /// Id of the server.
    pub id: String,
    /// Name of a language that it would serve.
    pub language: String,
    /// Whether Burin can install it.
    pub is_installable: bool,
    /// A sentence on its installation.
    pub advice: String,
}

/// Identifies an open folder in its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FolderNumber(u64);

/// Identifies a server in its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ServerNumber(u64);

/// The folders, documents and servers of a pool.
#[derive(Default)]
pub(super) struct State {
    /// The number given last, to a folder or a server.
    last_number: u64,
    pub(super) folders: BTreeMap<FolderNumber, FolderState>,
    pub(super) documents: HashMap<AbsPath, OpenText>,
    pub(super) servers: BTreeMap<ServerNumber, ServerEntry>,
    /// Servers that are ending, with the changes of a folder that was closed: its channel closes after their end.
    pub(super) ending: Vec<(ServerNumber, Arc<PendingChanges>)>,
}

/// An open folder.
pub(super) struct FolderState {
    /// Why no server may start.
    pub(super) refusal: Option<StartRefusal>,
    pub(super) problems: Vec<String>,
    /// The known servers; `None` until the folder was read.
    pub(super) servers: Option<Arc<FolderServers>>,
    pub(super) changes: Arc<PendingChanges>,
    pub(super) logs: AbsPath,
    pub(super) clock: Arc<dyn Clock>,
}

/// An open document.
pub(super) struct OpenText {
    pub(super) folder: FolderNumber,
    pub(super) text: Snapshot,
    /// `None` until its servers are known.
    pub(super) assigned: Option<AssignedServers>,
}

/// The servers of a document.
pub(super) struct AssignedServers {
    pub(super) language: DocumentLanguage,
    pub(super) servers: Vec<ServerNumber>,
    pub(super) missing: Vec<MissingServer>,
}

/// A server, which several folders may share.
pub(super) struct ServerEntry {
    /// The roots that it works on; its process starts in the first.
    pub(super) roots: Vec<ServedRoot>,
    /// Number of roots that were removed since its process started. Servers do not free their memory.
    pub(super) removed: usize,
    pub(super) state: ServerState,
    pub(super) wanted: WantedState,
    /// The connection of the process that lives.
    pub(super) connected: Option<ConnectedServer>,
    /// Wakes the thread of the server; `None` if it has none.
    pub(super) wake: Option<Sender<()>>,
}

/// A root of a project that a server works on.
#[derive(Clone)]
pub(super) struct ServedRoot {
    pub(super) folder: FolderNumber,
    /// The servers of that folder.
    pub(super) servers: Arc<FolderServers>,
    pub(super) choice: ServerChoice,
}

/// The state that a supervisor enters after its process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedState {
    Running,
    Restarted,
    Stopped,
    Idle,
}

/// A connection to a process.
pub(super) struct ConnectedServer {
    pub(super) id: String,
    pub(super) role: ServerRole,
    pub(super) connection: LanguageServer,
    /// The name that it gave.
    pub(super) name: Option<String>,
    pub(super) is_responding: bool,
    /// Measures the memory of its processes. Blocks while it reads the process table.
    pub(super) memory_probe: MemoryProbe,
    /// The result of the last measurement, in bytes.
    pub(super) memory: Option<u64>,
    /// Documents whose diagnostics are to be asked for.
    pub(super) pulls: Sender<AbsPath>,
    /// Schedules a pull of the diagnostics of all files.
    pub(super) workspace_pulls: SyncSender<()>,
    /// Documents with diagnostics that are not open.
    pub(super) reported: BTreeSet<AbsPath>,
}

impl OpenText {
    pub(super) fn new(folder: FolderNumber, text: &Snapshot) -> Self {
        Self {
            folder,
            text: text.clone(),
            assigned: None,
        }
    }

    fn servers(&self) -> &[ServerNumber] {
        let assigned = self.assigned.as_ref();
        assigned.map_or(&[], |assigned| &assigned.servers)
    }
}

impl ConnectedServer {
    /// Schedules a pull of a document's diagnostics, and of those of all files once the documents rest.
    pub(super) fn pull(&self, path: &AbsPath) {
        // The thread ends with the connection.
        self.pulls.send(path.clone()).ok();
        self.pull_workspace();
    }

    /// Schedules a pull of the diagnostics of all files.
    pub(super) fn pull_workspace(&self) {
        // A full channel means that the server will be asked anyway.
        self.workspace_pulls.try_send(()).ok();
    }
}

impl ServerEntry {
    /// Returns its key for a folder; `None` if it has no root there.
    pub(super) fn key(&self, folder: FolderNumber) -> Option<ServerKey> {
        let root = self.roots.iter().find(|root| root.folder == folder)?;
        Some(ServerKey {
            id: root.choice.definition.id.clone(),
            root: root.choice.root.clone(),
        })
    }

    fn status(&self, key: ServerKey, documents: usize) -> Option<ServerStatus> {
        let connected = self.connected.as_ref();
        let connection = connected.map(|it| &it.connection);
        Some(ServerStatus {
            key,
            program: self.roots.first()?.choice.program.path.clone(),
            state: self.state.clone(),
            name: connected.and_then(|it| it.name.clone()),
            is_responding: connected.is_none_or(|it| it.is_responding),
            memory: connected.and_then(|it| it.memory),
            documents,
            progress: connection.map_or_else(Vec::new, LanguageServer::progress),
            violations: connection.map_or_else(Vec::new, LanguageServer::violations),
            last_request: connection.and_then(LanguageServer::last_request),
        })
    }
}

impl State {
    /// Adds a folder.
    pub(super) fn open_folder(&mut self, folder: FolderState) -> FolderNumber {
        let number = FolderNumber(self.next_number());
        self.folders.insert(number, folder);
        number
    }

    /// Adds a server that does not run.
    pub(super) fn add_server(&mut self, root: ServedRoot) -> ServerNumber {
        let number = ServerNumber(self.next_number());
        self.servers.insert(
            number,
            ServerEntry {
                roots: vec![root],
                removed: 0,
                state: ServerState::Idle,
                wanted: WantedState::Running,
                connected: None,
                wake: None,
            },
        );
        number
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Returns the server with this key in a folder.
    pub(super) fn server_of(&self, folder: FolderNumber, key: &ServerKey) -> Option<ServerNumber> {
        let mut servers = self.servers.iter();
        let is_wanted = |root: &ServedRoot| {
            let choice = &root.choice;
            root.folder == folder && choice.definition.id == key.id && choice.root == key.root
        };
        let found = servers.find(|(_, entry)| entry.roots.iter().any(is_wanted));
        found.map(|(number, _)| *number)
    }

    /// Returns the servers that a folder shares with others.
    pub(super) fn shared_servers(&self, folder: FolderNumber) -> Vec<ServerNumber> {
        let is_shared = |entry: &ServerEntry| {
            let is_own = |root: &ServedRoot| root.folder == folder;
            entry.roots.iter().any(is_own) && !entry.roots.iter().all(is_own)
        };
        let servers = self.servers.iter();
        let shared = servers.filter(|(_, entry)| is_shared(entry));
        shared.map(|(number, _)| *number).collect()
    }

    /// Returns the changes of all folders.
    pub(super) fn changes(&self) -> Vec<Arc<PendingChanges>> {
        self.folders.values().map(|it| it.changes.clone()).collect()
    }

    /// Returns the changes of the folders that a server works on, without duplicates.
    pub(super) fn changes_of(&self, server: ServerNumber) -> Vec<Arc<PendingChanges>> {
        let roots = self.servers.get(&server).map(|entry| &entry.roots[..]);
        let folders: BTreeSet<_> = roots
            .unwrap_or_default()
            .iter()
            .map(|it| it.folder)
            .collect();
        let folders = folders.iter().filter_map(|folder| self.folders.get(folder));
        folders.map(|it| it.changes.clone()).collect()
    }

    /// Returns the connections to the servers of a document.
    pub(super) fn connected(&self, path: &AbsPath) -> impl Iterator<Item = &ConnectedServer> {
        let document = self.documents.get(path);
        let keys = document.map_or(&[][..], OpenText::servers);
        keys.iter()
            .filter_map(|key| self.servers.get(key)?.connected.as_ref())
    }

    /// Returns the root of a folder; `None` until the folder was read.
    pub(super) fn root_of(&self, folder: FolderNumber) -> Option<AbsPath> {
        let servers = self.folders.get(&folder)?.servers.as_ref()?;
        Some(servers.root().clone())
    }

    /// Returns the changes of the folders that contain a path.
    pub(super) fn changes_about(&self, path: &AbsPath) -> Vec<Arc<PendingChanges>> {
        let contains = |folder: &&FolderState| {
            let servers = folder.servers.as_ref();
            servers.is_some_and(|servers| path.is_within(servers.root()))
        };
        let folders = self.folders.values().filter(contains);
        folders.map(|folder| folder.changes.clone()).collect()
    }

    /// Returns the connections to the servers of a folder with their ids.
    pub(super) fn connections(&self, folder: FolderNumber) -> Vec<(String, LanguageServer)> {
        let servers = self.servers.values().filter(|it| it.key(folder).is_some());
        let connected = servers.filter_map(|it| it.connected.as_ref());
        connected
            .map(|server| (server.id.clone(), server.connection.clone()))
            .collect()
    }

    /// Schedules a pull of the diagnostics of all files from the servers of a folder.
    pub(super) fn pull_workspace(&self, folder: FolderNumber) {
        let servers = self.servers.values().filter(|it| it.key(folder).is_some());
        let connected = servers.filter_map(|it| it.connected.as_ref());
        connected.for_each(ConnectedServer::pull_workspace);
    }

    /// Returns the connections to the servers that reported about a document, with their ids; none if it is open.
    pub(super) fn connections_about(&self, path: &AbsPath) -> Vec<(String, LanguageServer)> {
        if self.documents.contains_key(path) {
            return Vec::new();
        }
        let connected = self.servers.values();
        connected
            .filter_map(|entry| entry.connected.as_ref())
            .filter(|server| server.reported.contains(path))
            .map(|server| (server.id.clone(), server.connection.clone()))
            .collect()
    }

    /// Replaces the text of a document and returns the connections to its servers; none if it is not open.
    pub(super) fn set_text(
        &mut self,
        path: &AbsPath,
        text: &Snapshot,
    ) -> impl Iterator<Item = &ConnectedServer> {
        if let Some(document) = self.documents.get_mut(path) {
            document.text = text.clone();
        }
        self.connected(path)
    }

    /// Closes a document, and closes it at its servers.
    pub(super) fn close(&mut self, path: &AbsPath) {
        for server in self.connected(path) {
            server.connection.close_document(path);
            server.pull_workspace();
        }
        self.documents.remove(path);
    }

    /// Returns the documents of a server.
    pub(super) fn documents_of(
        &self,
        server: ServerNumber,
    ) -> impl Iterator<Item = (&AbsPath, &OpenText)> {
        let documents = self.documents.iter();
        documents.filter(move |(_, document)| document.servers().contains(&server))
    }

    /// Returns the state of every server of a folder, sorted by key. A shared server counts only the folder's documents.
    pub(super) fn statuses(&self, folder: FolderNumber) -> Vec<ServerStatus> {
        let statuses = self.servers.iter().filter_map(|(number, entry)| {
            let documents = self.documents_of(*number);
            let documents = documents.filter(|(_, document)| document.folder == folder);
            entry.status(entry.key(folder)?, documents.count())
        });
        let mut statuses: Vec<ServerStatus> = statuses.collect();
        statuses.sort_by(|a, b| a.key.cmp(&b.key));
        statuses
    }

    /// Returns the missing servers of a folder's documents, each once.
    pub(super) fn missing(&self, folder: FolderNumber) -> Vec<MissingServer> {
        let documents = self.documents.values().filter(|it| it.folder == folder);
        let assigned = documents.filter_map(|it| it.assigned.as_ref());
        let missing = assigned.flat_map(|assigned| &assigned.missing);
        let by_id: BTreeMap<&str, &MissingServer> =
            missing.map(|server| (server.id.as_str(), server)).collect();
        by_id.into_values().cloned().collect()
    }
}
