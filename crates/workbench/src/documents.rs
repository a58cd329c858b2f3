//! The documents open in any window, one per file however many views show it, and the recovery
//! journal that records them.
//!
//! Invariant: two views of a file share its document, and the journal covers every editable
//! document. Must not know: tabs, panes. Start at `Documents::open`.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use editor::{AnnotationSources, DocumentEnvironment, DocumentModel, ModelEvent};
use futures::FutureExt as _;
use futures::future::Shared;
use gpui_kit::{App, AppContext as _, Entity, EntityId, Global, Subscription, Task, WeakEntity};
use host::{Files, Stamp};
use project::{
    Binary, CloseRetention, Document, DocumentKey, JournalEvent, LoadError, Recovered,
    RecoveryJournal, finish_saves, load, recover, reopen,
};
use text::{Encoding, SelectionSet, Snapshot, Timestamp};

use crate::folder::OpenFolder;
use crate::server_annotations::ServerAnnotations;
use crate::server_code_lenses::ServerCodeLenses;
use crate::server_inlay_hints::ServerInlayHints;
use crate::server_semantic_tokens::ServerSemanticTokens;
use crate::services::Services;

/// The open documents of the whole process.
#[derive(Default)]
pub struct Documents {
    open: HashMap<EntityId, OpenDocument>,
    loading: HashMap<AbsPath, PendingLoad>,
    journal: Option<Rc<RecoveryJournal>>,
    /// Documents with unsaved edits whose window was closed, kept until they are shown again.
    waiting: Vec<Entity<DocumentModel>>,
    /// Documents whose edits the user discarded.
    discarded: HashSet<EntityId>,
    /// Documents recovered from earlier runs that no view has claimed yet.
    recovered: Vec<Recovered>,
}

struct OpenDocument {
    model: WeakEntity<DocumentModel>,
    _subscriptions: Vec<Subscription>,
}

impl Global for Documents {}

/// The file that a path leads to, however the path is spelled.
struct FileIdentity {
    real_path: AbsPath,
    stamp: Stamp,
    /// Path of the recovered document that belongs to the same file.
    recovered: Option<AbsPath>,
}

impl FileIdentity {
    /// Looks at the disk; `None` if the path leads to no file. `recovered` are the paths of all
    /// recovered documents.
    fn of(files: &dyn Files, path: &AbsPath, recovered: Vec<AbsPath>) -> Option<Self> {
        let real_path = files.canonicalize(path).ok()?;
        let is_own = |other: &AbsPath| {
            other == path
                || files
                    .canonicalize(other)
                    .is_ok_and(|real| real == real_path)
        };
        Some(Self {
            stamp: files.stat(&real_path).ok()?.stamp,
            recovered: recovered.into_iter().find(is_own),
            real_path,
        })
    }
}

/// Result of opening a file: its document or the load error.
pub(crate) type Opened = Result<Entity<DocumentModel>, Arc<LoadError>>;
type PendingLoad = Shared<Task<Opened>>;

impl Documents {
    /// Starts the journal and recovers the documents of crashed runs. Blocks on the disk, before
    /// the first window opens. Returns messages about failed recoveries, and the channel on which
    /// the journal reports problems.
    pub fn start(cx: &mut App) -> (Vec<String>, Option<async_channel::Receiver<JournalEvent>>) {
        let services = Services::of(cx);
        let (files, folder) = (services.files.clone(), services.dirs.journals());
        let recovery = recover(files.as_ref(), &folder, Timestamp(services.clock.wall_ms()));
        let mut problems = finish_saves(files.as_ref(), &services.dirs.recovery());
        problems.extend(recovery.problems);
        problems.extend(
            recovery
                .documents
                .iter()
                .flat_map(|found| found.problems.clone()),
        );
        let mut documents = Self {
            recovered: recovery.documents,
            ..Self::default()
        };
        let events = match RecoveryJournal::start(files, services.clock.as_ref(), &folder) {
            Ok((journal, events)) => {
                documents.journal = Some(Rc::new(journal));
                Some(events)
            }
            Err(error) => {
                problems.push(format!(
                    "unsaved text is not protected against a crash: {error}"
                ));
                None
            }
        };
        cx.set_global(documents);
        (problems, events)
    }

    /// Opens the document of a file: the open document, else the recovered one, else a new document
    /// that is read from disk in the background. Concurrent calls for a path share one load.
    /// `binary` indicates whether to refuse a binary file.
    pub fn open(path: AbsPath, binary: Binary, cx: &mut App) -> PendingLoad {
        if let Some(open) = Self::of_path(&path, cx) {
            return Task::ready(Ok(open)).shared();
        }
        if let Some(found) = Self::take_recovered(cx, |document| document.path() == Some(&path)) {
            return Task::ready(Ok(Self::adopt(found, cx))).shared();
        }
        if let Some(loading) = cx.default_global::<Self>().loading.get(&path) {
            return loading.clone();
        }
        let services = Services::of(cx);
        let key = path.clone();
        let loading = cx
            .spawn(async move |cx| {
                let (files, named) = (services.files.clone(), key.clone());
                let recovered = cx.update(Self::recovered_paths);
                let found = cx.background_spawn(async move {
                    FileIdentity::of(files.as_ref(), &named, recovered)
                });
                let found = found.await;
                // All paths and spellings of a file share one document.
                let open = |cx: &mut App| Self::of_identity(found.as_ref()?, cx);
                let known = cx.update(|cx| {
                    let known = open(cx)?;
                    cx.default_global::<Self>().loading.remove(&key);
                    Some(known)
                });
                if let Some(known) = known {
                    return Ok(known);
                }
                let named = key.clone();
                let read = cx.background_spawn(async move {
                    let files = services.files.as_ref();
                    let loaded = load(files, &named, binary, &AtomicBool::new(false))?;
                    Ok(reopen(files, &services.dirs.journals(), loaded))
                });
                let read: Result<Recovered, LoadError> = read.await;
                cx.update(|cx| {
                    cx.default_global::<Self>().loading.remove(&key);
                    match (read, open(cx)) {
                        (Ok(_), Some(open)) => Ok(open),
                        (Ok(recovered), None) => Ok(Self::adopt(recovered, cx)),
                        (Err(error), _) => Err(Arc::new(error)),
                    }
                })
            })
            .shared();
        cx.default_global::<Self>()
            .loading
            .insert(path, loading.clone());
        loading
    }

    fn recovered_paths(cx: &mut App) -> Vec<AbsPath> {
        let recovered = cx.default_global::<Self>().recovered.iter();
        recovered
            .filter_map(|found| found.document.path().cloned())
            .collect()
    }

    /// Returns the document of a file, open or recovered.
    fn of_identity(found: &FileIdentity, cx: &mut App) -> Option<Entity<DocumentModel>> {
        let is_own = |document: &Document| document.is_same_file(&found.real_path, &found.stamp);
        let open = Self::all(cx);
        let open = open
            .into_iter()
            .find(|model| is_own(model.read(cx).document()));
        if open.is_some() {
            return open;
        }
        let path = found.recovered.as_ref()?;
        let recovered = Self::take_recovered(cx, |document| document.path() == Some(path))?;
        Some(Self::adopt(recovered, cx))
    }

    /// Reads a small file synchronously, so that the first frame of a window shows it. Returns
    /// `None` if the file is large or unreadable; `open` then reports the cause.
    pub fn open_now(path: &AbsPath, cx: &mut App) -> Option<Entity<DocumentModel>> {
        /// Largest size for synchronous reading, in bytes: it takes a few milliseconds, less than a
        /// frame.
        const SMALL: u64 = 1 << 20;
        let services = Services::of(cx);
        let files = services.files.as_ref();
        if Self::of_path(path, cx).is_some() {
            return None;
        }
        let found = FileIdentity::of(files, path, Self::recovered_paths(cx))?;
        if found.recovered.is_some() || found.stamp.size > SMALL {
            return None;
        }
        // All paths and spellings of a file share one document.
        if let Some(open) = Self::of_identity(&found, cx) {
            return Some(open);
        }
        let loaded = load(files, path, Binary::Refuse, &AtomicBool::new(false)).ok()?;
        let recovered = reopen(files, &services.dirs.journals(), loaded);
        Some(Self::adopt(recovered, cx))
    }

    /// Creates an untitled, empty document without a file.
    pub fn untitled(cx: &mut App) -> Entity<DocumentModel> {
        Self::add(Document::untitled(), cx)
    }

    /// Creates an empty document for a file that does not exist yet. Saving the document creates
    /// the file.
    pub fn new_at(path: AbsPath, cx: &mut App) -> Entity<DocumentModel> {
        Self::add(Document::new_at(path), cx)
    }

    fn adopt(recovered: Recovered, cx: &mut App) -> Entity<DocumentModel> {
        let document = match cx.default_global::<Self>().journal.clone() {
            Some(journal) => journal.adopt(recovered).0,
            None => recovered.document,
        };
        Self::add(document, cx)
    }

    /// Registers an existing document in the journal and in the registry of unsaved texts.
    pub fn add(document: Document, cx: &mut App) -> Entity<DocumentModel> {
        let services = Services::of(cx);
        let environment = DocumentEnvironment {
            files: services.files.clone(),
            clock: services.clock.clone(),
            recovery_folder: services.dirs.recovery(),
        };
        let model = DocumentModel::open(document, environment, cx);
        record(&model, cx);
        note_for_search(&model, cx);
        let subscription = cx.subscribe(&model, |model, event: &ModelEvent, cx| match event {
            ModelEvent::Edited(_) => {
                record(&model, cx);
                forget_for_search(&model, cx);
            }
            ModelEvent::Saved | ModelEvent::StateChanged => {
                record(&model, cx);
                note_for_search(&model, cx);
            }
            ModelEvent::Rested => note_for_search(&model, cx),
            ModelEvent::SyntaxUpdated
            | ModelEvent::HunksUpdated
            | ModelEvent::DiagnosticsUpdated
            | ModelEvent::GutterMarksUpdated => {}
        });
        let id = model.entity_id();
        let released = cx.observe_release(&model, move |model, cx| released(id, model, cx));
        let open = OpenDocument {
            model: model.downgrade(),
            _subscriptions: vec![subscription, released],
        };
        cx.default_global::<Self>().open.insert(id, open);
        let hints = Rc::new(ServerInlayHints::new(model.downgrade()));
        let tokens = Rc::new(ServerSemanticTokens::new(model.downgrade()));
        let annotations = AnnotationSources {
            tokens: Some(tokens),
            links: Some(Rc::new(ServerAnnotations::links(model.downgrade()))),
            colors: Some(Rc::new(ServerAnnotations::colors(model.downgrade()))),
            lenses: Some(Rc::new(ServerCodeLenses::new(model.downgrade()))),
            folds: Some(Rc::new(ServerAnnotations::folds(model.downgrade()))),
        };
        model.update(cx, |model, _| {
            model.set_inlay_hint_source(Some(hints));
            model.set_annotation_sources(annotations);
        });
        OpenFolder::serve_document(&model, cx);
        model
    }

    /// Returns all open documents, in unspecified order. Returns an empty list before `start`.
    pub fn all(cx: &App) -> Vec<Entity<DocumentModel>> {
        let Some(documents) = cx.try_global::<Self>() else {
            return Vec::new();
        };
        documents
            .open
            .values()
            .filter_map(|open| open.model.upgrade())
            .collect()
    }

    /// Returns the open document of a file, by any path it was opened with or that links resolve
    /// to.
    pub fn of_path(path: &AbsPath, cx: &App) -> Option<Entity<DocumentModel>> {
        Self::all(cx)
            .into_iter()
            .find(|model| model.read(cx).document().is_of(path))
    }

    /// Gives the open documents of a moved file or folder their new paths.
    pub(crate) fn follow_move(from: &AbsPath, to: &AbsPath, cx: &mut App) {
        for document in Self::all(cx) {
            let moved = document.read(cx).path().and_then(|path| {
                let rest = path.relative_to(from)?;
                Some(if rest.as_os_str().is_empty() {
                    to.clone()
                } else {
                    to.join(rest)
                })
            });
            if let Some(path) = moved {
                document.update(cx, |document, cx| document.set_path(path, cx));
            }
        }
    }

    /// Returns the document with this journal key, which identifies documents without a file: the
    /// open document, or the recovered document, which this call opens. Returns `None` if there is
    /// neither.
    pub fn of_key(key: DocumentKey, cx: &mut App) -> Option<Entity<DocumentModel>> {
        let open = Self::all(cx)
            .into_iter()
            .find(|model| model.read(cx).document().key() == key);
        if open.is_some() {
            return open;
        }
        let found = Self::take_recovered(cx, |document| document.key() == key)?;
        Some(Self::adopt(found, cx))
    }

    /// Takes the recovered documents that have unsaved edits and belong to no window; the others go
    /// back to the journal, which keeps their undo trees. Tabs that are still loading and stored
    /// windows that are not open will request the claimed ones.
    pub fn take_unclaimed(
        claimed: &HashSet<AbsPath>,
        claimed_keys: &HashSet<DocumentKey>,
        cx: &mut App,
    ) -> Vec<Entity<DocumentModel>> {
        let is_claimed = |found: &Recovered| match found.document.path() {
            Some(path) => claimed.contains(path),
            None => claimed_keys.contains(&found.document.key()),
        };
        let recovered = std::mem::take(&mut cx.default_global::<Self>().recovered);
        let (claimed, recovered): (Vec<_>, Vec<_>) = recovered.into_iter().partition(is_claimed);
        cx.default_global::<Self>().recovered = claimed;
        let mut unsaved = Vec::new();
        for found in recovered {
            let is_worth_showing = found.document.is_dirty();
            if is_worth_showing {
                unsaved.push(Self::adopt(found, cx));
            } else if let Some(journal) = cx.default_global::<Self>().journal.clone() {
                let (document, _) = journal.adopt(found);
                journal.close(&document, CloseRetention::History);
            }
        }
        unsaved
    }

    /// Removes the first recovered document that is `wanted` and returns it; `None` if there is
    /// none.
    fn take_recovered(cx: &mut App, wanted: impl Fn(&Document) -> bool) -> Option<Recovered> {
        let recovered = &mut cx.default_global::<Self>().recovered;
        let index = recovered.iter().position(|found| wanted(&found.document))?;
        Some(recovered.remove(index))
    }

    /// Records the selections of the most recently used view, for recovery after a crash.
    pub fn note_selections(model: &Entity<DocumentModel>, selections: &SelectionSet, cx: &App) {
        if let Some(journal) = cx
            .try_global::<Self>()
            .and_then(|documents| documents.journal.as_ref())
        {
            journal.select(model.read(cx).document(), selections);
        }
    }

    /// Discards the unsaved edits of a document whose last view is about to close.
    pub fn discard(model: &Entity<DocumentModel>, cx: &mut App) {
        let id = model.entity_id();
        let documents = cx.default_global::<Self>();
        documents
            .waiting
            .retain(|waiting| waiting.entity_id() != id);
        documents.discarded.insert(id);
    }

    /// Keeps a document with unsaved edits open when its window closes, until a view shows it
    /// again.
    pub fn keep_waiting(model: Entity<DocumentModel>, cx: &mut App) {
        let waiting = &mut cx.default_global::<Self>().waiting;
        if !waiting
            .iter()
            .any(|known| known.entity_id() == model.entity_id())
        {
            waiting.push(model);
        }
    }

    /// Removes a document from the kept ones, because a view shows it again.
    pub fn stop_waiting(model: &Entity<DocumentModel>, cx: &mut App) {
        let id = model.entity_id();
        cx.default_global::<Self>()
            .waiting
            .retain(|waiting| waiting.entity_id() != id);
    }

    /// Returns the texts of open documents with unsaved edits, by path. Skips untitled documents.
    pub fn unsaved_texts(cx: &App) -> HashMap<AbsPath, Snapshot> {
        let unsaved = Self::all(cx).into_iter().filter_map(|document| {
            let document = document.read(cx).document();
            let path = document.path().filter(|_| document.is_dirty())?;
            Some((path.clone(), document.snapshot()))
        });
        unsaved.collect()
    }

    /// Returns the documents that a search must not read from disk: those with unsaved edits, and
    /// those whose encoding the user may have chosen.
    pub fn texts_beside_files(cx: &App) -> HashMap<AbsPath, Snapshot> {
        let open = Self::all(cx).into_iter().filter_map(|document| {
            let document = document.read(cx).document();
            let is_beside = document.is_dirty() || document.format().encoding != Encoding::UTF_8;
            let path = document.path().filter(|_| is_beside)?;
            Some((path.clone(), document.snapshot()))
        });
        open.collect()
    }

    /// Waits until the journal has written all edits to disk. Call this before the process exits.
    /// If writing fails, returns the cause.
    pub fn flush(cx: &App) -> Option<String> {
        let journal = cx.try_global::<Self>()?.journal.as_ref()?;
        journal.flush().err().map(|error| error.to_string())
    }

    /// Returns the file system, for opening a document without a window.
    pub fn files(cx: &App) -> Arc<dyn Files> {
        Services::of(cx).files
    }
}

/// Passes document events to the journal and to the listeners for unsaved texts.
fn record(model: &Entity<DocumentModel>, cx: &mut App) {
    let document = model.read(cx).document();
    Services::unsaved(cx).note(document);
    let Some(journal) = cx.default_global::<Documents>().journal.clone() else {
        return;
    };
    model.update(cx, |model, cx| {
        model.mutate(cx, |document| journal.record(document))
    });
}

/// Passes a text to the index of its folder: soon if it is newer than its file, and at once if the
/// file is current.
fn note_for_search(model: &Entity<DocumentModel>, cx: &mut App) {
    let document = model.read(cx).document();
    let Some(path) = document.path().cloned() else {
        return;
    };
    let newer = document.is_dirty().then(|| document.snapshot());
    OpenFolder::note_unsaved(&path, newer, cx);
}

/// Keeps a text that is being edited from the index: a pause in typing follows.
fn forget_for_search(model: &Entity<DocumentModel>, cx: &mut App) {
    if let Some(path) = model.read(cx).path().cloned() {
        OpenFolder::put_off_unsaved(&path, cx);
    }
}

fn released(id: EntityId, model: &mut DocumentModel, cx: &mut App) {
    Services::unsaved(cx).forget(model.document().key());
    if let Some(path) = model.document().path().cloned() {
        OpenFolder::note_unsaved(&path, None, cx);
    }
    let documents = cx.default_global::<Documents>();
    documents.open.remove(&id);
    let keep = if documents.discarded.remove(&id) {
        CloseRetention::Nothing
    } else if model.document().is_dirty() {
        CloseRetention::Everything
    } else {
        CloseRetention::History
    };
    if let Some(journal) = &documents.journal {
        journal.close(model.document(), keep);
    }
}
