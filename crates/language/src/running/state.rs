//! The documents and servers of a folder.
//!
//! Must not know: threads, processes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use base::AbsPath;
use lsp::{LanguageServer, Progress};
use text::Snapshot;

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

/// The documents and servers.
#[derive(Default)]
pub(super) struct State {
    /// Whether the folder was closed: nothing starts any more.
    pub(super) is_closed: bool,
    /// Why no server may start.
    pub(super) refusal: Option<StartRefusal>,
    pub(super) problems: Vec<String>,
    /// The known servers; `None` until the folder was read.
    pub(super) folder: Option<Arc<FolderServers>>,
    pub(super) documents: HashMap<AbsPath, OpenText>,
    pub(super) servers: BTreeMap<ServerKey, ServerEntry>,
}

/// An open document.
pub(super) struct OpenText {
    pub(super) text: Snapshot,
    /// `None` until its servers are known.
    pub(super) assigned: Option<AssignedServers>,
}

/// The servers of a document.
pub(super) struct AssignedServers {
    pub(super) language: DocumentLanguage,
    pub(super) servers: Vec<ServerKey>,
    pub(super) missing: Vec<MissingServer>,
}

/// A server of the folder.
pub(super) struct ServerEntry {
    pub(super) choice: ServerChoice,
    pub(super) state: ServerState,
    pub(super) wanted: WantedState,
    /// The connection of the process that lives.
    pub(super) connected: Option<ConnectedServer>,
    /// Wakes the thread of the server; `None` if it has none.
    pub(super) wake: Option<Sender<()>>,
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
    /// Measures the memory of its processes. Blocks on the system.
    pub(super) memory_probe: MemoryProbe,
    /// The result of the last measurement, in bytes.
    pub(super) memory: Option<u64>,
    /// Documents whose diagnostics are to be asked for.
    pub(super) pulls: Sender<AbsPath>,
    /// Documents with diagnostics that are not open.
    pub(super) reported: BTreeSet<AbsPath>,
}

impl OpenText {
    pub(super) fn new(text: &Snapshot) -> Self {
        Self {
            text: text.clone(),
            assigned: None,
        }
    }

    fn servers(&self) -> &[ServerKey] {
        let assigned = self.assigned.as_ref();
        assigned.map_or(&[], |assigned| &assigned.servers)
    }
}

impl ConnectedServer {
    /// Schedules a pull of a document's diagnostics.
    pub(super) fn pull(&self, path: &AbsPath) {
        // The thread ends with the connection.
        self.pulls.send(path.clone()).ok();
    }
}

impl State {
    /// Returns the connections to the servers of a document.
    pub(super) fn connected(&self, path: &AbsPath) -> impl Iterator<Item = &ConnectedServer> {
        let document = self.documents.get(path);
        let keys = document.map_or(&[][..], OpenText::servers);
        keys.iter()
            .filter_map(|key| self.servers.get(key)?.connected.as_ref())
    }

    /// Returns the connections to all servers with their ids.
    pub(super) fn connections(&self) -> Vec<(String, LanguageServer)> {
        let connected = self.servers.values();
        let connected = connected.filter_map(|entry| entry.connected.as_ref());
        connected
            .map(|server| (server.id.clone(), server.connection.clone()))
            .collect()
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
        }
        self.documents.remove(path);
    }

    /// Returns the documents of a server.
    pub(super) fn documents_of(
        &self,
        key: &ServerKey,
    ) -> impl Iterator<Item = (&AbsPath, &OpenText)> {
        let documents = self.documents.iter();
        documents.filter(move |(_, document)| document.servers().contains(key))
    }

    /// Returns the state of every server.
    pub(super) fn statuses(&self) -> Vec<ServerStatus> {
        let servers = self.servers.iter();
        servers
            .map(|(key, entry)| {
                let connected = entry.connected.as_ref();
                let connection = connected.map(|it| &it.connection);
                ServerStatus {
                    key: key.clone(),
                    program: entry.choice.program.path.clone(),
                    state: entry.state.clone(),
                    name: connected.and_then(|it| it.name.clone()),
                    is_responding: connected.is_none_or(|it| it.is_responding),
                    memory: connected.and_then(|it| it.memory),
                    documents: self.documents_of(key).count(),
                    progress: connection.map_or_else(Vec::new, LanguageServer::progress),
                    violations: connection.map_or_else(Vec::new, LanguageServer::violations),
                }
            })
            .collect()
    }

    /// Returns the missing servers of all documents, each once.
    pub(super) fn missing(&self) -> Vec<MissingServer> {
        let assigned = self
            .documents
            .values()
            .filter_map(|it| it.assigned.as_ref());
        let missing = assigned.flat_map(|assigned| &assigned.missing);
        let by_id: BTreeMap<&str, &MissingServer> =
            missing.map(|server| (server.id.as_str(), server)).collect();
        by_id.into_values().cloned().collect()
    }
}
