//! The language servers of an open folder: passes its documents on, and shows in them what servers report.
//!
//! Must not know: how servers are found and started (`language`), how diagnostics are drawn (`editor`).
//! Invariant: nothing here blocks; a key costs one call of `RunningServers::change_document`.
//! Invariant: reports are read in the background, one round after the other, so that the latest wins.
//! Invariant: events about files are made in the background, one change after the other, so that servers get them in
//! the order in which they happened.
//! Start at `LanguageServers::add_document` and `apply`; events about files are in `file_events`.

mod file_events;
mod found_problems;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use base::{AbsPath, Revision};
use editor::{
    AnnotationKind, DiagnosticCounts, DiagnosticOrigin, DiagnosticSet, DocumentModel, ModelEvent,
};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EntityId, EventEmitter, Global, Subscription, Task,
    WeakEntity,
};
use host::Files;
use language::{
    DocumentServer, FolderServers, MissingServer, OutdatedAnswers, RunningServers, ServerKey,
    ServerMessage, ServerPool, ServerStatus, StartRefusal,
};
use lsp::{ConnectionId, EditRequest, LanguageServer, UnopenedDiagnostic};
use serde_json::Value;
use settings::LspSettings;
use ui::ActiveSettings as _;

use crate::folder_diagnostics::FolderDiagnostics;
use crate::language_servers::file_events::{DiskChange, ExistenceTracker};
use crate::services::Services;
pub(crate) use found_problems::{FindingSource, Findings};
use found_problems::{FoundProblems, ORIGINS};

/// The language servers of an open folder.
pub(crate) struct LanguageServers {
    root: AbsPath,
    /// `None` if this process has no language servers.
    running: Option<Arc<RunningServers>>,
    documents: HashMap<EntityId, ServedDocument>,
    diagnostics: FolderDiagnostics,
    found: FoundProblems,
    /// The settings with which the servers were found.
    settings: ServerSettings,
    /// Changes on disk that have not been passed on to the servers.
    disk_changes: Vec<DiskChange>,
    /// `None` while the background task has it.
    existence: Option<ExistenceTracker>,
    _changes: Option<Task<()>>,
    _file_events: Option<Task<()>>,
}

/// The servers of all windows: worktrees of one repository share them.
#[derive(Default)]
struct WindowServers(ServerPool);

impl Global for WindowServers {}

/// The settings that decide which servers there are.
#[derive(Clone, Debug, PartialEq)]
struct ServerSettings {
    lsp: LspSettings,
    /// The servers of each language that has its own.
    languages: Vec<(String, Vec<String>)>,
}

/// An event of a folder's servers, for the window.
pub(crate) enum LanguageServersEvent {
    /// The state, the progress or the list of missing servers changed.
    StatusChanged,
    /// The diagnostics of a document were replaced.
    DiagnosticsChanged,
    /// A server has a message for the user.
    Message(ServerMessage),
    /// A server asks for an edit of files. The first window takes it.
    EditRequested(Rc<RefCell<Option<EditRequest>>>),
}

impl EventEmitter<LanguageServersEvent> for LanguageServers {}

/// A document below the folder.
struct ServedDocument {
    model: WeakEntity<DocumentModel>,
    /// The path under which the servers know it.
    path: AbsPath,
    /// The initialized connections, whose answers it may show.
    connections: Vec<ConnectionId>,
    _subscriptions: [Subscription; 2],
}

/// The reports of all servers about one document.
struct ReadReport {
    path: AbsPath,
    /// The revision of an open document to which the diagnostics belong.
    revision: Option<Revision>,
    diagnostics: DiagnosticSet,
    /// The diagnostics of a document that is not open.
    closed: Vec<UnopenedDiagnostic>,
}

/// Changes of servers with the reports that they concern, read in the background.
struct ReadChanges {
    reports: Vec<ReadReport>,
    /// Whether the state or the progress of a server changed.
    servers: bool,
    /// The answers that servers may give otherwise for the same texts.
    outdated: OutdatedAnswers,
    messages: Vec<ServerMessage>,
    edits: Vec<EditRequest>,
}

impl LanguageServers {
    /// Creates the servers of a folder. A server starts when its first document is opened.
    pub(crate) fn open(root: &AbsPath, cx: &mut App) -> Entity<Self> {
        cx.new(|cx| {
            let mut this = Self {
                root: root.clone(),
                running: None,
                documents: HashMap::new(),
                diagnostics: FolderDiagnostics::new(root),
                found: FoundProblems::default(),
                settings: ServerSettings::now(cx),
                disk_changes: Vec::new(),
                existence: Some(ExistenceTracker::new(root.clone())),
                _changes: None,
                _file_events: None,
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

    /// Restarts all servers after a change of the settings or of the trust
    /// in the folder.
    pub(crate) fn reload(&mut self, cx: &mut Context<Self>) {
        let Some(running) = &self.running else {
            return;
        };
        running.restart_shared();
        self.diagnostics.clear();
        for document in self.documents.values() {
            let counts = document.set_diagnostics(None, DiagnosticSet::default(), cx);
            self.diagnostics.set_open(&document.path, counts);
            document.forget_answers(cx);
        }
        self.start(cx);
        for document in self.documents.values() {
            self.open_document(document, cx);
        }
        cx.emit(LanguageServersEvent::DiagnosticsChanged);
        cx.emit(LanguageServersEvent::StatusChanged);
    }

    fn start(&mut self, cx: &mut Context<Self>) {
        let Some(open) = Services::of(cx).language_servers else {
            return;
        };
        let pool = &cx.default_global::<WindowServers>().0;
        let (running, changed) = pool.start(open(&self.root));
        let running = Arc::new(running);
        self.running = Some(running.clone());
        let files = Services::of(cx).files;
        self._changes = Some(cx.spawn(async move |this, cx| {
            while changed.recv().await.is_ok() {
                let running = running.clone();
                let files = files.clone();
                let read = cx.background_spawn(async move { ReadChanges::take(&running, &*files) });
                let changes = read.await;
                if this.update(cx, |this, cx| this.apply(changes, cx)).is_err() {
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
            connections: Vec::new(),
            _subscriptions: subscriptions,
        };
        self.open_document(&document, cx);
        let path = document.path.clone();
        self.documents.insert(id, document);
        self.show_findings_again(path, cx);
    }

    /// Closes a document, if it was passed on.
    pub(crate) fn remove_document(&mut self, id: EntityId) {
        let removed = self.documents.remove(&id);
        if let Some(document) = &removed {
            self.note_closed(&document.path);
        }
        if let (Some(running), Some(document)) = (&self.running, removed) {
            running.close_document(&document.path);
        }
    }

    /// Shows the findings of tasks and tests in a file that was closed.
    fn note_closed(&mut self, path: &AbsPath) {
        let findings = self.found.of(path);
        if !findings.is_empty() {
            self.diagnostics.set_found(path, findings);
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
                    document.set_diagnostics(None, DiagnosticSet::default(), cx);
                    document.forget_answers(cx);
                    model.update(cx, |model, cx| {
                        let revision = model.snapshot().revision();
                        for origin in ORIGINS {
                            model.set_diagnostics(origin, revision, DiagnosticSet::default(), cx);
                        }
                    });
                    self.remove_document(model.entity_id());
                    self.add_document(&model, cx);
                }
            }
            ModelEvent::Rested
            | ModelEvent::SyntaxUpdated
            | ModelEvent::HunksUpdated
            | ModelEvent::DiagnosticsUpdated
            | ModelEvent::GutterMarksUpdated => {}
        }
    }

    fn apply(&mut self, changes: ReadChanges, cx: &mut Context<Self>) {
        let has_diagnostics = !changes.reports.is_empty();
        for report in changes.reports {
            let ReadReport { path, .. } = report;
            let mut documents = self.documents.values();
            match documents.find(|it| it.path == path) {
                Some(document) => {
                    let counts = document.set_diagnostics(report.revision, report.diagnostics, cx);
                    self.diagnostics.set_open(&path, counts);
                }
                None => self.diagnostics.set_closed(&path, report.closed),
            }
        }
        if has_diagnostics {
            cx.emit(LanguageServersEvent::DiagnosticsChanged);
        }
        if changes.servers {
            self.follow_connections(cx);
        }
        if changes.servers || changes.outdated != OutdatedAnswers::default() {
            self.refresh_answers(changes.outdated, cx);
        }
        for message in changes.messages {
            cx.emit(LanguageServersEvent::Message(message));
        }
        for edit in changes.edits {
            let edit = Rc::new(RefCell::new(Some(edit)));
            cx.emit(LanguageServersEvent::EditRequested(edit));
        }
        if changes.servers {
            cx.emit(LanguageServersEvent::StatusChanged);
        }
    }

    /// Passes paths that changed on disk on to the servers that watch them. `known` is the list of files before.
    pub(crate) fn paths_changed(
        &mut self,
        paths: Vec<AbsPath>,
        known: Arc<Vec<String>>,
        cx: &mut Context<Self>,
    ) {
        self.disk_changed(DiskChange::Paths { paths, known }, cx);
    }

    /// Reports to the servers that any file may have changed. `before` and `after` are the lists of files.
    pub(crate) fn files_rescanned(
        &mut self,
        before: Arc<Vec<String>>,
        after: Arc<Vec<String>>,
        cx: &mut Context<Self>,
    ) {
        self.disk_changed(DiskChange::Anything { before, after }, cx);
    }

    fn disk_changed(&mut self, change: DiskChange, cx: &mut Context<Self>) {
        let is_wanted = |running: &Arc<RunningServers>| running.watches_files();
        if !self.running.as_ref().is_some_and(is_wanted) {
            return;
        }
        self.disk_changes.push(change);
        let Some(mut existence) = self.existence.take() else {
            return;
        };
        let files = Services::of(cx).files;
        self._file_events = Some(cx.spawn(async move |this, cx| {
            loop {
                let next = this.update(cx, |this, _| {
                    let running = this.running.clone();
                    running.map(|running| (running, std::mem::take(&mut this.disk_changes)))
                });
                let Ok(Some((running, changes))) = next else {
                    return;
                };
                if changes.is_empty() {
                    break;
                }
                let files = files.clone();
                let passed_on = cx.background_spawn(async move {
                    for change in changes {
                        running.files_changed(&existence.events(&change, files.as_ref()));
                    }
                    existence
                });
                existence = passed_on.await;
            }
            // Nothing was added since the list was empty: both happen on this thread.
            let put_back = this.update(cx, |this, _| this.existence = Some(existence));
            put_back.ok();
        }));
    }

    /// Removes the answers of servers whose connection ended from the documents that show them, and requests the answers
    /// again if a further server can give some.
    fn follow_connections(&mut self, cx: &mut Context<Self>) {
        let Some(running) = self.running.clone() else {
            return;
        };
        for document in self.documents.values_mut() {
            let servers = running.servers_of(&document.path).into_iter();
            let servers = servers.filter(|it| it.connection.is_running());
            let now: Vec<_> = servers.map(|it| it.connection.connection_id()).collect();
            let before = std::mem::replace(&mut document.connections, now);
            if before.iter().any(|it| !document.connections.contains(it)) {
                document.forget_answers(cx);
            } else if !before.is_empty() && document.connections.len() > before.len() {
                document.refresh_answers(cx);
            }
        }
    }

    /// Requests answers again: those that are outdated, and those that no server could give.
    fn refresh_answers(&self, outdated: OutdatedAnswers, cx: &mut Context<Self>) {
        let models = self.documents.values();
        for model in models.filter_map(|document| document.model.upgrade()) {
            model.update(cx, |model, cx| {
                if outdated.inlay_hints {
                    model.refresh_inlay_hints(cx);
                } else {
                    model.retry_inlay_hints(cx);
                }
                if outdated.semantic_tokens {
                    model.refresh_annotations(AnnotationKind::Tokens, cx);
                }
                if outdated.code_lenses {
                    model.refresh_annotations(AnnotationKind::Lenses, cx);
                }
                model.retry_annotations(cx);
            });
        }
    }

    /// Takes a report as if a server had sent it: about the present text of an open document, or about another file.
    #[cfg(test)]
    pub(crate) fn receive(
        &mut self,
        path: &AbsPath,
        open: Vec<lsp::Diagnostic>,
        closed: Vec<UnopenedDiagnostic>,
        cx: &mut Context<Self>,
    ) {
        let report = ReadReport {
            path: path.clone(),
            revision: None,
            diagnostics: DiagnosticSet::new(open),
            closed,
        };
        let changes = ReadChanges {
            reports: vec![report],
            servers: false,
            outdated: OutdatedAnswers::default(),
            messages: Vec::new(),
            edits: Vec::new(),
        };
        self.apply(changes, cx);
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

    /// Returns the connections to all running servers.
    pub(crate) fn connections(&self) -> Vec<LanguageServer> {
        let running = self.running.as_deref();
        let connections = running.map_or_else(Vec::new, RunningServers::connections);
        connections.into_iter().map(|(_, server)| server).collect()
    }

    /// Returns the diagnostics of the folder by file and folder.
    pub(crate) fn diagnostics(&self) -> &FolderDiagnostics {
        &self.diagnostics
    }

    /// Returns the state of every server.
    pub(crate) fn statuses(&self) -> Vec<ServerStatus> {
        let running = self.running.as_deref();
        running.map_or_else(Vec::new, RunningServers::statuses)
    }

    /// Measures the memory of every server in the background, which `statuses` then returns.
    pub(crate) fn measure_memory(&self, cx: &App) -> Task<()> {
        let running = self.running.clone();
        cx.background_spawn(async move {
            if let Some(running) = running {
                running.measure_memory();
            }
        })
    }

    /// Returns the servers of open documents that are not installed.
    pub(crate) fn missing(&self) -> Vec<MissingServer> {
        let running = self.running.as_deref();
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

    /// Returns the capabilities of a server as JSON; `None` if it is not connected.
    pub(crate) fn capabilities(&self, key: &ServerKey) -> Option<Value> {
        self.running.as_ref()?.capabilities(key)
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

impl ReadChanges {
    /// Takes the changes of the servers and reads the reports that they concern.
    fn take(running: &RunningServers, files: &dyn Files) -> Self {
        let changes = running.take_changes();
        let reports = changes.diagnostics.into_iter().map(|path| {
            let reports = running.diagnostics(&path);
            // All servers have the same text.
            let revision = reports.first().map(|(_, report)| report.text.revision());
            let items = reports.into_iter().flat_map(|(_, report)| report.items);
            let closed = running.closed_diagnostics(&path);
            // A server may not have noticed that the file is gone.
            let closed = closed.into_iter().filter(|_| files.exists(&path));
            ReadReport {
                revision,
                diagnostics: DiagnosticSet::new(items.collect()),
                closed: closed.map(|(_, item)| item).collect(),
                path,
            }
        });
        Self {
            reports: reports.collect(),
            servers: changes.servers,
            outdated: changes.outdated,
            messages: changes.messages.into(),
            edits: changes.edits,
        }
    }
}

impl ServedDocument {
    /// Removes what servers answered about the text: their next answers are about another state.
    fn forget_answers(&self, cx: &mut App) {
        if let Some(model) = self.model.upgrade() {
            model.update(cx, |model, cx| {
                model.forget_inlay_hints(cx);
                model.forget_annotations(cx);
            });
        }
    }

    /// Requests the answers again that are joined from those of all servers.
    fn refresh_answers(&self, cx: &mut App) {
        let Some(model) = self.model.upgrade() else {
            return;
        };
        model.update(cx, |model, cx| {
            model.refresh_inlay_hints(cx);
            for kind in AnnotationKind::ALL {
                model.refresh_annotations(*kind, cx);
            }
        });
    }

    /// Replaces the diagnostics, and returns their numbers; without a revision, there is no report and the set is empty.
    fn set_diagnostics(
        &self,
        revision: Option<Revision>,
        diagnostics: DiagnosticSet,
        cx: &mut App,
    ) -> DiagnosticCounts {
        let Some(model) = self.model.upgrade() else {
            return DiagnosticCounts::default();
        };
        model.update(cx, |model, cx| {
            let revision = revision.unwrap_or_else(|| model.snapshot().revision());
            model.set_diagnostics(DiagnosticOrigin::Servers, revision, diagnostics, cx);
            model.diagnostic_counts()
        })
    }
}
