//! The language servers of an open folder: passes its documents on, and shows in them what servers report.
//!
//! Must not know: how servers are found and started (`language`), how diagnostics are drawn (`editor`).
//! Invariant: nothing here blocks; a key costs one call of `RunningServers::change_document`.
//! Start at `LanguageServers::add_document` and `take_changes`.

use std::collections::HashMap;
use std::sync::Arc;

use base::AbsPath;
use editor::{DocumentModel, ModelEvent};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EntityId, EventEmitter, Subscription, Task, WeakEntity,
};
use language::{
    DocumentServer, FolderServers, MissingServer, RunningServers, ServerKey, ServerMessage,
    ServerStatus, StartRefusal,
};

use settings::LspSettings;
use ui::ActiveSettings as _;

use crate::services::Services;

/// The language servers of an open folder.
pub(crate) struct LanguageServers {
    root: AbsPath,
    /// `None` if this process has no language servers.
    running: Option<RunningServers>,
    documents: HashMap<EntityId, ServedDocument>,
    /// The settings with which the servers were found.
    settings: ServerSettings,
    _changes: Option<Task<()>>,
}

/// The settings that decide which servers there are.
#[derive(Clone, Debug, PartialEq)]
struct ServerSettings {
    lsp: LspSettings,
    /// The servers of each language that has its own.
    languages: Vec<(String, Vec<String>)>,
}

/// An event of a folder's servers, for the window.
pub(crate) enum LanguageServersEvent {
    /// A server started, ended, is missing, or works on something else.
    StatusChanged,
    /// The diagnostics of an open document were replaced.
    DiagnosticsChanged,
    /// A server has a message for the user.
    Message(ServerMessage),
}

impl EventEmitter<LanguageServersEvent> for LanguageServers {}

/// A document below the folder.
struct ServedDocument {
    model: WeakEntity<DocumentModel>,
    /// The path under which the servers know it.
    path: AbsPath,
    _subscriptions: [Subscription; 2],
}

impl LanguageServers {
    /// Prepares the servers of a folder; none starts before a document needs it.
    pub(crate) fn open(root: &AbsPath, cx: &mut App) -> Entity<Self> {
        cx.new(|cx| {
            let mut this = Self {
                root: root.clone(),
                running: None,
                documents: HashMap::new(),
                settings: ServerSettings::now(cx),
                _changes: None,
            };
            this.start(cx);
            this
        })
    }

    /// Starts the servers anew if the settings about them changed.
    pub(crate) fn settings_changed(&mut self, cx: &mut Context<Self>) {
        let settings = ServerSettings::now(cx);
        if settings != self.settings {
            self.settings = settings;
            self.reload(cx);
        }
    }

    /// Ends all servers and starts them again: what decides about them has changed, such as the settings or the trust
    /// in the folder.
    pub(crate) fn reload(&mut self, cx: &mut Context<Self>) {
        if self.running.is_none() {
            return;
        }
        for document in self.documents.values() {
            document.clear_diagnostics(cx);
        }
        self.start(cx);
        for document in self.documents.values() {
            self.open_document(document, cx);
        }
        cx.emit(LanguageServersEvent::StatusChanged);
    }

    fn start(&mut self, cx: &mut Context<Self>) {
        let Some(open) = Services::of(cx).language_servers else {
            return;
        };
        let (running, changed) = RunningServers::start(open(&self.root));
        self.running = Some(running);
        self._changes = Some(cx.spawn(async move |this, cx| {
            while changed.recv().await.is_ok() {
                if this.update(cx, Self::take_changes).is_err() {
                    return;
                }
            }
        }));
    }

    /// Passes a document on, if it has a path below the folder, is not too large, and was not passed on before.
    pub(crate) fn add_document(&mut self, model: &Entity<DocumentModel>, cx: &mut Context<Self>) {
        let id = model.entity_id();
        let path = self.served_path(model.read(cx));
        let Some(path) = path.filter(|_| !self.documents.contains_key(&id)) else {
            return;
        };
        let subscriptions = [
            cx.subscribe(model, Self::document_event),
            cx.observe_release(model, move |this, _, _| this.remove_document(id)),
        ];
        let document = ServedDocument {
            model: model.downgrade(),
            path,
            _subscriptions: subscriptions,
        };
        self.open_document(&document, cx);
        self.documents.insert(id, document);
    }

    /// Closes a document, if it was passed on.
    pub(crate) fn remove_document(&mut self, id: EntityId) {
        let removed = self.documents.remove(&id);
        if let (Some(running), Some(document)) = (&self.running, removed) {
            running.close_document(&document.path);
        }
    }

    /// Returns the path under which servers know a document; `None` if none serves it.
    fn served_path(&self, model: &DocumentModel) -> Option<AbsPath> {
        let document = model.document();
        let path = document.path()?;
        (path.is_within(&self.root) && !document.is_large()).then(|| path.clone())
    }

    fn open_document(&self, document: &ServedDocument, cx: &App) {
        if let (Some(running), Some(model)) = (&self.running, document.model.upgrade()) {
            running.open_document(&document.path, &model.read(cx).snapshot());
        }
    }

    fn document_event(
        &mut self,
        model: Entity<DocumentModel>,
        event: &ModelEvent,
        cx: &mut Context<Self>,
    ) {
        let document = self.documents.get(&model.entity_id());
        let (Some(running), Some(document)) = (&self.running, document) else {
            return;
        };
        match event {
            ModelEvent::Edited(change) => {
                let text = model.read(cx).snapshot();
                running.change_document(&document.path, change, &text);
            }
            ModelEvent::Saved => running.save_document(&document.path),
            ModelEvent::StateChanged => {
                if self.served_path(model.read(cx)).as_ref() != Some(&document.path) {
                    document.clear_diagnostics(cx);
                    self.remove_document(model.entity_id());
                    self.add_document(&model, cx);
                }
            }
            ModelEvent::Rested
            | ModelEvent::SyntaxUpdated
            | ModelEvent::HunksUpdated
            | ModelEvent::DiagnosticsUpdated => {}
        }
    }

    fn take_changes(&mut self, cx: &mut Context<Self>) {
        let Some(running) = &self.running else {
            return;
        };
        let changes = running.take_changes();
        let is_changed = |document: &&ServedDocument| changes.diagnostics.contains(&document.path);
        for document in self.documents.values().filter(is_changed) {
            document.show_diagnostics(running, cx);
        }
        if !changes.diagnostics.is_empty() {
            cx.emit(LanguageServersEvent::DiagnosticsChanged);
        }
        for message in changes.messages {
            cx.emit(LanguageServersEvent::Message(message));
        }
        if changes.servers {
            cx.emit(LanguageServersEvent::StatusChanged);
        }
    }

    /// Returns the path under which the servers know a document; `None` if they do not serve it.
    pub(crate) fn path_of(&self, model: EntityId) -> Option<&AbsPath> {
        Some(&self.documents.get(&model)?.path)
    }

    /// Returns the connected servers of a document, the primary one first.
    pub(crate) fn servers_of(&self, path: &AbsPath) -> Vec<DocumentServer> {
        let running = self.running.as_ref();
        running.map_or_else(Vec::new, |running| running.servers_of(path))
    }

    /// Returns the state of every server.
    pub(crate) fn statuses(&self) -> Vec<ServerStatus> {
        let running = self.running.as_ref();
        running.map_or_else(Vec::new, RunningServers::statuses)
    }

    /// Returns the servers of open documents that are not installed.
    pub(crate) fn missing(&self) -> Vec<MissingServer> {
        let running = self.running.as_ref();
        running.map_or_else(Vec::new, RunningServers::missing)
    }

    /// Returns why no server starts in the folder.
    pub(crate) fn refusal(&self) -> Option<StartRefusal> {
        self.running.as_ref()?.refusal()
    }

    /// Returns the known servers of the folder; `None` until the folder was read.
    pub(crate) fn folder(&self) -> Option<Arc<FolderServers>> {
        self.running.as_ref()?.folder()
    }

    /// Finds the servers of all documents again.
    pub(crate) fn find_servers(&self) {
        if let Some(running) = &self.running {
            running.find_servers();
        }
    }

    /// Starts a server again.
    pub(crate) fn restart(&self, key: &ServerKey) {
        if let Some(running) = &self.running {
            running.restart(key);
        }
    }

    /// Ends a server until it is restarted.
    pub(crate) fn stop(&self, key: &ServerKey) {
        if let Some(running) = &self.running {
            running.stop(key);
        }
    }

    /// Returns the open documents below the folder, sorted by path.
    pub(crate) fn documents(&self) -> Vec<(AbsPath, Entity<DocumentModel>)> {
        let documents = self.documents.values();
        let mut open: Vec<_> = documents
            .filter_map(|document| Some((document.path.clone(), document.model.upgrade()?)))
            .collect();
        open.sort_by(|(a, _), (b, _)| a.cmp(b));
        open
    }
}

impl ServerSettings {
    fn now(cx: &App) -> Self {
        let settings = cx.settings();
        let languages = settings.languages.iter();
        Self {
            lsp: settings.lsp.clone(),
            languages: languages
                .map(|(name, editor)| (name.clone(), editor.language_servers.clone()))
                .collect(),
        }
    }
}

impl ServedDocument {
    /// Shows what the servers report about the document now.
    fn show_diagnostics(&self, running: &RunningServers, cx: &mut App) {
        let Some(model) = self.model.upgrade() else {
            return;
        };
        let reports = running.diagnostics(&self.path);
        // All servers have the same text.
        let revision = reports.first().map(|(_, report)| report.text.revision());
        let revision = revision.unwrap_or_else(|| model.read(cx).snapshot().revision());
        let mut items: Vec<_> = reports.into_iter().flat_map(|(_, it)| it.items).collect();
        items.sort_by_key(|item| (item.span, item.severity));
        model.update(cx, |model, cx| model.set_diagnostics(revision, items, cx));
    }

    fn clear_diagnostics(&self, cx: &mut App) {
        if let Some(model) = self.model.upgrade() {
            model.update(cx, |model, cx| {
                let revision = model.snapshot().revision();
                model.set_diagnostics(revision, Vec::new(), cx);
            });
        }
    }
}
