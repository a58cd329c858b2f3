//! The recovery journal: typed text reaches the disk within a quarter of a second.
//!
//! Each edited document has an append-only file in the folder of this run of the program, which a
//! lock marks as alive. `record` only queues; a separate thread batches for a few milliseconds,
//! writes and syncs. The file holds the start text and every operation since, so that text, undo
//! tree and selections can be restored: see `recovery`.
//!
//! Invariant: the queue is bounded: if the disk is too slow, a document's queued operations are
//! replaced by its whole text, and the journal loses the undo tree.
//! Invariant: a failing disk is reported (`JournalEvent`) and retried until it works.
//! Start at `RecoveryJournal::record`; the format is in `journal_entry`, the thread in `writer`.

mod tracked;
mod writer;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use base::{AbsPath, LogErr, Revision};
use host::{Clock, Error, FileLock, Files};
use text::{BufferOperation, Change, Edit, SelectionSet, Snapshot};

pub(crate) use self::tracked::history_file;

use crate::document::{Document, DocumentId};
use crate::journal_entry::{Meta, SavedAt, operation};
use crate::recovered::{JournalSeed, Recovered};

/// File extension of a journal.
pub(crate) const EXTENSION: &str = "journal";
/// Lock file that marks a run of the program as alive.
pub(crate) const LOCK_FILE: &str = "lock";
/// Folder for the journals of closed documents.
pub(crate) const HISTORY_FOLDER: &str = "history";
/// Maximum bytes queued per document; beyond that its whole text replaces the queue.
const MAX_PENDING_BYTES: usize = 8 << 20;
/// Only the newest events matter; new ones are dropped while the channel is full.
const EVENT_CAPACITY: usize = 16;

/// The recovery journal of this run of the program: a folder, a lock and a writer thread. `record`
/// queues changes; the thread writes them within milliseconds. Dropping it writes the rest of the
/// queue and blocks until then.
pub struct RecoveryJournal {
    shared: Arc<JournalQueue>,
    thread: Option<JoinHandle<()>>,
}

/// An event that the user should know about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalEvent {
    /// Typed text does not reach the disk, for this reason. Writes are retried.
    Failing(String),
    /// Writes to the disk succeed again.
    Healthy,
}

/// The data to keep of a closed document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseRetention {
    /// Keeps nothing: its edits were discarded.
    Nothing,
    /// Keeps the undo tree for when its file is opened again; keeps nothing if it has unsaved
    /// edits.
    History,
    /// Keeps everything, to be restored at the next start.
    Everything,
}

/// The queue between the window's thread and the writer thread.
pub(crate) struct JournalQueue {
    state: Mutex<JournalState>,
    /// Wakes the writer thread.
    wake: Condvar,
    /// Wakes the callers of `flush`.
    done: Condvar,
}

#[derive(Default)]
struct JournalState {
    pending: HashMap<DocumentId, Pending>,
    known: HashMap<DocumentId, QueuedState>,
    /// Something other than selections is queued.
    is_urgent: bool,
    has_selections: bool,
    /// Number of `flush` calls so far, and how many of them are done.
    asked: u64,
    answered: u64,
    failure: Option<Error>,
    is_stopping: bool,
}

/// The state of a document last queued for the writer.
struct QueuedState {
    meta: Meta,
    revision: Revision,
}

/// Queued work for a document, in order.
#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) begin: Option<JournalBase>,
    pub(crate) work: Vec<JournalWork>,
    pub(crate) selections: Option<SelectionSet>,
    weight: usize,
}

/// The state from which the journal of a document starts: a text of this run, or an older journal.
pub(crate) enum JournalBase {
    /// A document whose whole history starts here, or whose earlier history is unknown.
    Fresh {
        start: DocumentStatus,
        has_history: bool,
    },
    /// A document that continues an older journal.
    Adopted {
        seed: Box<JournalSeed>,
        now: DocumentStatus,
    },
}

/// The state of a document at one moment.
#[derive(Clone)]
pub(crate) struct DocumentStatus {
    pub(crate) snapshot: Snapshot,
    pub(crate) meta: Meta,
    /// Whether the text equals the file's.
    pub(crate) is_saved: bool,
}

/// One queued change of a document's journal: operations, new metadata, the whole text, or its end.
pub(crate) enum JournalWork {
    Operations {
        operations: Vec<BufferOperation>,
        /// The same changes as plain edits, if some of the operations refer to the undo tree.
        plain: PlainEdits,
        /// State of the document after them.
        now: DocumentStatus,
    },
    Meta(DocumentStatus),
    /// The whole text, in place of operations dropped from the queue.
    Whole(DocumentStatus),
    Close(CloseRetention),
}

/// The effect of recorded operations as plain edits, for a journal that lacks the undo tree: the
/// operations as they are, these edits instead, or unknown.
pub(crate) enum PlainEdits {
    Same,
    Edits(Vec<Edit>),
    Unknown,
}

static SESSIONS: AtomicU64 = AtomicU64::new(0);

impl RecoveryJournal {
    /// Starts a journal for this run in a new folder below `folder`, with a lock and a writer
    /// thread. Returns it with the events meant for display.
    ///
    /// # Errors
    ///
    /// Fails if the folder, its lock or the thread cannot be created.
    pub fn start(
        files: Arc<dyn Files>,
        clock: &dyn Clock,
        folder: &AbsPath,
    ) -> Result<(Self, async_channel::Receiver<JournalEvent>), Error> {
        let (session, lock) = create_session(&*files, clock, folder)?;
        let shared = Arc::new(JournalQueue {
            state: Mutex::default(),
            wake: Condvar::new(),
            done: Condvar::new(),
        });
        let (sender, events) = async_channel::bounded(EVENT_CAPACITY);
        let writer = writer::JournalWriter::new(
            shared.clone(),
            files,
            folder.join(HISTORY_FOLDER),
            session,
            lock,
            sender,
        );
        let now_ms = clock.wall_ms();
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || writer.run(now_ms))
            .map_err(|error| {
                Error::new(
                    folder,
                    "start the thread of the journal in",
                    host::ErrorReason::Other(error.to_string()),
                )
            })?;
        let journal = Self {
            shared,
            thread: Some(thread),
        };
        Ok((journal, events))
    }

    /// Queues the changes of a document since the last call: edits, saves, a new name. Call it once
    /// for a new document and then after every change. Never waits for the disk.
    pub fn record(&self, document: &mut Document) {
        let id = document.id();
        let mut state = self.shared.lock();
        if !state.known.contains_key(&id) {
            state.track(document);
        }
        let operations = document.buffer_mut().take_operations();
        let meta = Meta::of(document);
        let Some(known) = state.known.get_mut(&id) else {
            return;
        };
        let is_new_meta = known.meta != meta;
        if operations.is_empty() && !is_new_meta {
            return;
        }
        let since = known.revision;
        known.revision = document.buffer().revision();
        known.meta = meta;
        let pending = state.pending.entry(id).or_default();
        if !operations.is_empty() {
            pending.push_operations(operations, document, since);
        }
        if is_new_meta {
            pending
                .work
                .push(JournalWork::Meta(DocumentStatus::of(document)));
        }
        if pending.weight > MAX_PENDING_BYTES {
            pending.work = vec![JournalWork::Whole(DocumentStatus::of(document))];
            pending.weight = 0;
        }
        state.is_urgent = true;
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Queues the selections of the view used last, in place of earlier ones. They may be written
    /// later than text. Without effect for a document that was never recorded.
    pub fn select(&self, document: &Document, selections: &SelectionSet) {
        let mut state = self.shared.lock();
        if !state.known.contains_key(&document.id()) {
            return;
        }
        let pending = state.pending.entry(document.id()).or_default();
        pending.selections = Some(selections.clone());
        if !state.has_selections {
            state.has_selections = true;
            drop(state);
            self.shared.wake.notify_one();
        }
    }

    /// Takes over a recovered or reopened document: later changes continue its old journal in this
    /// run's folder. Returns the document and the selections of its last view.
    pub fn adopt(&self, recovered: Recovered) -> (Document, Option<SelectionSet>) {
        let Recovered {
            mut document,
            selections,
            seed,
            ..
        } = recovered;
        if let Some(seed) = seed {
            let mut state = self.shared.lock();
            let now = DocumentStatus {
                // Changes made after the replay follow as an operation.
                snapshot: seed.snapshot.clone(),
                ..DocumentStatus::of(&document)
            };
            let known = QueuedState {
                meta: seed.meta.clone(),
                revision: seed.snapshot.revision(),
            };
            state.known.insert(document.id(), known);
            let pending = state.pending.entry(document.id()).or_default();
            pending.begin = Some(JournalBase::Adopted {
                seed: Box::new(seed),
                now,
            });
            state.is_urgent = true;
        }
        self.record(&mut document);
        self.shared.wake.notify_one();
        (document, selections)
    }

    /// Deletes a recovered document that the user does not want, with its journal.
    pub fn discard(&self, recovered: Recovered) {
        let (document, _) = self.adopt(recovered);
        self.close(&document, CloseRetention::Nothing);
    }

    /// Ends the journal of a closed document, and keeps of it what `keep` says. Only queues;
    /// without effect for a document that was never recorded.
    pub fn close(&self, document: &Document, keep: CloseRetention) {
        let mut state = self.shared.lock();
        if state.known.remove(&document.id()).is_none() {
            return;
        }
        let keep = match keep {
            CloseRetention::History if document.is_dirty() => CloseRetention::Nothing,
            other => other,
        };
        let pending = state.pending.entry(document.id()).or_default();
        pending.work.push(JournalWork::Close(keep));
        state.is_urgent = true;
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Waits until everything queued so far is on the disk. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the error of a write that failed; it is tried again later.
    pub fn flush(&self) -> Result<(), Error> {
        let mut state = self.shared.lock();
        state.asked += 1;
        let ticket = state.asked;
        self.shared.wake.notify_one();
        let state = self
            .shared
            .done
            .wait_while(state, |state| state.answered < ticket)
            .unwrap_or_else(PoisonError::into_inner);
        state.failure.clone().map_or(Ok(()), Err)
    }
}

impl Drop for RecoveryJournal {
    fn drop(&mut self) {
        self.shared.lock().is_stopping = true;
        self.shared.wake.notify_one();
        if self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err())
        {
            base::report("the thread of the journal panicked");
        }
    }
}

impl JournalQueue {
    fn lock(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JournalState {
    fn track(&mut self, document: &mut Document) {
        let has_history = document.buffer().history().steps().next().is_none();
        document.buffer_mut().set_recording(true);
        let start = DocumentStatus::of(document);
        let known = QueuedState {
            meta: start.meta.clone(),
            revision: start.snapshot.revision(),
        };
        self.known.insert(document.id(), known);
        let pending = self.pending.entry(document.id()).or_default();
        let is_edited = !has_history && document.is_dirty();
        if is_edited {
            // Edits made before the journal knew the document are only in its text.
            pending.work.push(JournalWork::Whole(start.clone()));
            self.is_urgent = true;
        }
        pending.begin = Some(JournalBase::Fresh { start, has_history });
    }
}

impl Pending {
    fn push_operations(
        &mut self,
        operations: Vec<BufferOperation>,
        document: &Document,
        since: Revision,
    ) {
        let now = DocumentStatus::of(document);
        let plain = if !operations.iter().any(operation::needs_history) {
            PlainEdits::Same
        } else {
            match document.buffer().changes_since(since) {
                Some(change) => PlainEdits::Edits(plain_edits(&change, &now.snapshot)),
                None => PlainEdits::Unknown,
            }
        };
        self.weight += operations.iter().map(operation::weight).sum::<usize>();
        self.work.push(JournalWork::Operations {
            operations,
            plain,
            now,
        });
    }
}

impl DocumentStatus {
    fn of(document: &Document) -> Self {
        Self {
            snapshot: document.snapshot(),
            meta: Meta::of(document),
            is_saved: document.is_at_saved_node(),
        }
    }
}

impl Meta {
    fn of(document: &Document) -> Self {
        Self {
            key: document.key(),
            path: document.path().cloned(),
            format: document.format(),
            saved: document
                .saved_node()
                .map(|(node, on_disk)| (on_disk, SavedAt::Node(node))),
        }
    }
}

fn plain_edits(change: &Change, after: &Snapshot) -> Vec<Edit> {
    let edits = change.splices.iter();
    edits
        .map(|splice| Edit::new(splice.old, after.text(splice.new)))
        .collect()
}

/// Creates the folder for the journals of this run, with the folder for histories beside it, and
/// locks it. Returns an error if a folder or the lock cannot be created, or if the lock is held.
fn create_session(
    files: &dyn Files,
    clock: &dyn Clock,
    folder: &AbsPath,
) -> Result<(AbsPath, FileLock), Error> {
    let count = SESSIONS.fetch_add(1, Ordering::Relaxed);
    let name = format!("{:013}-{}-{count}", clock.wall_ms(), std::process::id());
    let session = folder.join(name);
    files.create_folder(&folder.join(HISTORY_FOLDER))?;
    files.create_folder(&session)?;
    let lock = files.lock(&session.join(LOCK_FILE))?;
    let lock = lock.ok_or_else(|| Error::new(&session, "lock", host::ErrorReason::Busy))?;
    Ok((session, lock))
}

/// Removes a journal of a dead run, and the run's folder if it was the last one. Errors are only
/// logged.
pub(crate) fn remove_with_session(files: &dyn Files, journal: &AbsPath) {
    files.remove(journal).log_err();
    let Some(session) = journal.parent() else {
        return;
    };
    remove_empty_session(files, &session);
}

/// Removes a run's folder if it holds no more journals; never the history folder. Errors are only
/// logged.
pub(crate) fn remove_empty_session(files: &dyn Files, session: &AbsPath) {
    if session.name() == HISTORY_FOLDER {
        return;
    }
    let is_empty = files
        .list(session)
        .is_ok_and(|listing| !listing.entries.iter().any(|entry| is_journal(&entry.path)));
    if is_empty {
        files.remove(session).log_err();
    }
}

/// Returns whether a path has the file extension of a journal. Does not access the disk.
pub(crate) fn is_journal(path: &AbsPath) -> bool {
    path.as_path()
        .extension()
        .is_some_and(|ending| ending == EXTENSION)
}

#[cfg(test)]
mod tests;
