//! The state of one connection, without threads and pipes.
//!
//! Invariant: messages to send and events are collected in order; the connection takes them under the
//! same lock, so that the server sees every change before the requests that follow it.
//! Start at `ServerSession::initialized`; requests of the server are in `requests`, its notifications in
//! `notifications`, reports of diagnostics in `reports`.

mod notifications;
mod questions;
mod reports;
mod requests;
mod unopened;
mod workspace_reports;

use std::collections::HashMap;

use base::AbsPath;
use gen_lsp_types::{
    CancelNotification, CancelParams, DidChangeConfigurationNotification,
    DidChangeConfigurationParams, DidChangeTextDocumentNotification, DidChangeTextDocumentParams,
    DidChangeWorkspaceFoldersNotification, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentNotification, DidCloseTextDocumentParams, DidOpenTextDocumentNotification,
    DidOpenTextDocumentParams, DidSaveTextDocumentNotification, DidSaveTextDocumentParams,
    InitializedNotification, InitializedParams, Notification, TextDocumentContentChangeEvent,
    TextDocumentIdentifier, TextDocumentItem, VersionedTextDocumentIdentifier, WorkspaceFolder,
    WorkspaceFoldersChangeEvent,
};
use serde_json::{Map, Value};
use text::{Change, Snapshot};

use crate::capabilities::{SaveText, ServerCapabilities, SyncOptions};
use crate::document::OpenDocument;
use crate::edit_request::EditRequest;
use crate::events::ServerEvent;
use crate::life::{OutgoingKind, Phase};
use crate::message;
use crate::progress::ProgressTable;
use crate::uri::file_uri;
use crate::violations::Violations;
use crate::watched_files::FileWatchers;

pub(crate) use reports::{PullIdentity, PulledReport};
pub(crate) use requests::RequestAnswer;
pub(crate) use unopened::{UnopenedReports, read_unopened};
pub(crate) use workspace_reports::{MAX_REPORTS, WorkspaceQuestion, WorkspaceReport};

/// The state of one connection.
#[derive(Default)]
pub(crate) struct ServerSession {
    pub(crate) phase: Phase,
    pub(crate) violations: Violations,
    folders: Vec<AbsPath>,
    /// The workspace folders that were announced to the server.
    announced_folders: Vec<AbsPath>,
    /// Answers `workspace/configuration`.
    configuration: Map<String, Value>,
    capabilities: ServerCapabilities,
    /// The method of the latest request to the server.
    pub(crate) last_request: Option<&'static str>,
    file_watchers: FileWatchers,
    documents: HashMap<AbsPath, OpenDocument>,
    unopened: UnopenedReports,
    progress: ProgressTable,
    /// The version given last, to any document: a version names one text of one document only.
    last_version: i32,
    /// Messages to send.
    outgoing: Vec<String>,
    events: Vec<ServerEvent>,
}

impl ServerSession {
    /// Creates the state before the first message.
    pub(crate) fn new(folders: Vec<AbsPath>, configuration: Map<String, Value>) -> Self {
        Self {
            folders,
            configuration,
            ..Self::default()
        }
    }

    /// Takes the messages to send.
    pub(crate) fn take_outgoing(&mut self) -> Vec<String> {
        std::mem::take(&mut self.outgoing)
    }

    /// Takes the events.
    pub(crate) fn take_events(&mut self) -> Vec<ServerEvent> {
        std::mem::take(&mut self.events)
    }

    /// Returns the capabilities of the server for display.
    pub(crate) fn capabilities_json(&self) -> Value {
        self.capabilities.to_json()
    }

    /// Enters the phase after a message of `kind`; returns false if it may not be sent now.
    pub(crate) fn begin(&mut self, kind: OutgoingKind) -> bool {
        let is_allowed = self.phase.allows(kind);
        if is_allowed {
            self.phase = self.phase.after(kind);
        }
        is_allowed
    }

    /// Sends a message as text; the caller has checked the phase.
    pub(crate) fn push(&mut self, text: serde_json::Result<String>) {
        match text {
            Ok(text) => self.outgoing.push(text),
            Err(error) => base::never!("a message has no JSON form: {error}"),
        }
    }

    /// Takes the answer to `initialize` and sends what follows: `initialized`, the configuration, and
    /// the documents that were opened meanwhile.
    pub(crate) fn initialized(&mut self, capabilities: Map<String, Value>) {
        if self.phase != Phase::Initializing {
            return;
        }
        self.phase = Phase::Running;
        self.capabilities.set_statics(capabilities);
        self.notify::<InitializedNotification>(&InitializedParams {});
        // Some servers take an empty configuration for one that turns everything off.
        if !self.configuration.is_empty() {
            let settings = Value::Object(self.configuration.clone());
            let params = DidChangeConfigurationParams { settings };
            self.notify::<DidChangeConfigurationNotification>(&params);
        }
        self.announce_folders();
        self.announce_documents();
    }

    /// Returns the folders that the server works on, which `initialize` announces.
    pub(crate) fn announce_first_folders(&mut self) -> Vec<AbsPath> {
        self.announced_folders.clone_from(&self.folders);
        self.folders.clone()
    }

    /// Returns the folders that the server works on.
    pub(crate) fn folders(&self) -> &[AbsPath] {
        &self.folders
    }

    /// Adds a folder, unless it is known.
    pub(crate) fn add_folder(&mut self, folder: &AbsPath) {
        if !self.folders.contains(folder) {
            self.folders.push(folder.clone());
            self.announce_folders();
        }
    }

    /// Removes a folder.
    pub(crate) fn remove_folder(&mut self, folder: &AbsPath) {
        self.folders.retain(|known| known != folder);
        self.announce_folders();
    }

    /// Announces the folders that were added and removed, if the server wants to know.
    pub(crate) fn announce_folders(&mut self) {
        if self.phase != Phase::Running || !self.capabilities.wants_folder_changes() {
            return;
        }
        let without = |folders: &[AbsPath], others: &[AbsPath]| {
            let folders = folders.iter().filter(|folder| !others.contains(folder));
            folders.map(workspace_folder).collect::<Vec<_>>()
        };
        let event = WorkspaceFoldersChangeEvent {
            added: without(&self.folders, &self.announced_folders),
            removed: without(&self.announced_folders, &self.folders),
        };
        if event.added.is_empty() && event.removed.is_empty() {
            return;
        }
        self.announced_folders.clone_from(&self.folders);
        let params = DidChangeWorkspaceFoldersParams { event };
        self.notify::<DidChangeWorkspaceFoldersNotification>(&params);
    }

    /// Cancels a request that was sent. The server may answer it all the same.
    pub(crate) fn cancel(&mut self, id: u64) {
        // Numbers beyond 2^31 are never reached.
        if let Ok(id) = i32::try_from(id) {
            self.notify::<CancelNotification>(&CancelParams { id: id.into() });
        }
    }

    /// Passes an edit that the server asks for on to the owner.
    pub(crate) fn ask_owner(&mut self, edit: EditRequest) {
        self.events.push(ServerEvent::EditRequested(edit));
    }

    /// Notes that a request was sent while no other awaited its answer.
    pub(crate) fn note_request(&mut self) {
        self.events.push(ServerEvent::RequestSent);
    }

    /// Forgets everything that the server reported, after its end.
    pub(crate) fn end(&mut self) {
        self.phase = Phase::Exited;
        self.file_watchers = FileWatchers::default();
        self.documents.clear();
        self.unopened = UnopenedReports::default();
        self.progress.clear();
    }

    /// Returns the watchers of the server with the folders that it works on; `None` while it wants no file events.
    pub(crate) fn file_watchers(&self) -> Option<(FileWatchers, Vec<AbsPath>)> {
        let has_watchers = self.phase == Phase::Running && !self.file_watchers.is_empty();
        has_watchers.then(|| (self.file_watchers.clone(), self.folders.clone()))
    }

    /// Returns the work under way.
    pub(crate) fn progress(&self) -> Vec<crate::Progress> {
        self.progress.works()
    }

    /// Returns whether any work was reported.
    pub(crate) fn has_progressed(&self) -> bool {
        self.progress.has_begun()
    }

    /// Opens a document, or opens it anew.
    pub(crate) fn open(&mut self, path: &AbsPath, language_id: &str, text: &Snapshot) {
        if self.phase == Phase::Exited {
            return;
        }
        self.close(path);
        let version = self.next_version();
        let document = OpenDocument::new(path.clone(), language_id, text.clone(), version);
        self.documents.insert(path.clone(), document);
        self.announce(path);
        self.convert_unopened(path);
    }

    /// Moves a document along with an edit.
    pub(crate) fn change(&mut self, path: &AbsPath, change: &Change, text: &Snapshot) {
        if !change.is_empty() {
            let encoding = self.capabilities.encoding();
            self.update(path, |document, version, sync| {
                document.change(change, text, version, (sync.change, encoding))
            });
        }
    }

    /// Moves a document to a text whose differences are not known.
    pub(crate) fn replace(&mut self, path: &AbsPath, text: &Snapshot) {
        self.update(path, |document, version, sync| {
            document.replace(text, version, sync.change)
        });
    }

    fn update(
        &mut self,
        path: &AbsPath,
        update: impl FnOnce(&mut OpenDocument, i32, SyncOptions) -> Vec<TextDocumentContentChangeEvent>,
    ) {
        let version = self.next_version();
        let Some(document) = self.documents.get_mut(path) else {
            return;
        };
        let sync = self.capabilities.sync(document.identity());
        let content_changes = update(document, version, sync);
        if !document.is_announced || content_changes.is_empty() {
            return;
        }
        self.notify::<DidChangeTextDocumentNotification>(&DidChangeTextDocumentParams {
            text_document: VersionedTextDocumentIdentifier {
                version,
                text_document_identifier: identifier(path),
            },
            content_changes,
        });
    }

    /// Announces that a document was saved.
    pub(crate) fn save(&mut self, path: &AbsPath) {
        let Some(document) = self.documents.get(path) else {
            return;
        };
        let save = self.capabilities.sync(document.identity()).save;
        let Some(save) = save.filter(|_| document.is_announced) else {
            return;
        };
        let text = match save {
            SaveText::Included => Some(document.text.to_string()),
            SaveText::Omitted => None,
        };
        self.notify::<DidSaveTextDocumentNotification>(&DidSaveTextDocumentParams {
            text_document: identifier(path),
            text,
        });
    }

    /// Closes a document and forgets its diagnostics.
    pub(crate) fn close(&mut self, path: &AbsPath) {
        let closed = self.documents.remove(path);
        if closed.is_some_and(|document| document.is_announced) {
            self.notify::<DidCloseTextDocumentNotification>(&DidCloseTextDocumentParams {
                text_document: identifier(path),
            });
        }
    }

    /// Returns whether the server offers `method` for an open document now.
    pub(crate) fn offers(&self, method: &str, path: &AbsPath) -> bool {
        self.provider_options(method, path).next().is_some()
    }

    /// Returns the options with which the server offers `method` for an open document now, one for each
    /// provider.
    fn provider_options<'a>(
        &'a self,
        method: &'a str,
        path: &AbsPath,
    ) -> impl Iterator<Item = &'a Value> {
        let document = self.documents.get(path);
        let document = document.filter(|it| it.is_announced && self.phase == Phase::Running);
        let options = document.map(|it| self.capabilities.options(method, it.identity()));
        options.into_iter().flatten()
    }

    /// Announces the documents that the server wants and does not know yet.
    fn announce_documents(&mut self) {
        let mut paths: Vec<AbsPath> = self.documents.keys().cloned().collect();
        paths.sort();
        for path in paths {
            self.announce(&path);
        }
    }

    fn announce(&mut self, path: &AbsPath) {
        let Some(document) = self.documents.get_mut(path) else {
            return;
        };
        let is_wanted = self.capabilities.sync(document.identity()).open_close;
        if document.is_announced || !is_wanted || self.phase != Phase::Running {
            return;
        }
        document.is_announced = true;
        let text_document = TextDocumentItem {
            uri: file_uri(path).into(),
            language_id: document.language_id.clone().into(),
            version: document.version,
            text: document.text.to_string(),
        };
        let params = DidOpenTextDocumentParams { text_document };
        self.notify::<DidOpenTextDocumentNotification>(&params);
    }

    /// Sends a notification if the phase allows it.
    fn notify<N: Notification>(&mut self, params: &N::Params) {
        if self.phase.allows(OutgoingKind::Other) {
            self.push(message::notification(N::METHOD.as_str(), params));
        }
    }

    fn next_version(&mut self) -> i32 {
        self.last_version = self.last_version.saturating_add(1);
        self.last_version
    }
}

/// Returns a folder in the form of the protocol.
pub(crate) fn workspace_folder(path: &AbsPath) -> WorkspaceFolder {
    WorkspaceFolder {
        uri: file_uri(path).into(),
        name: path.name(),
    }
}

/// Returns the identifier of a document.
pub(crate) fn identifier(path: &AbsPath) -> TextDocumentIdentifier {
    TextDocumentIdentifier {
        uri: file_uri(path).into(),
    }
}
