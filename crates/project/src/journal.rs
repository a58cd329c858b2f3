//! The recovery journal: what was typed is on the disk within a quarter of a second.
//!
//! Each document with edits has an append-only file in the folder of this run of the program, which
//! a lock marks as alive. `record` only queues; a thread of its own gathers for some milliseconds,
//! writes, and makes it last. The file holds the text the document started from and every
//! operation since, so that text, undo tree and selections come back: see `recovery`.
//!
//! Invariant: the queue is bounded: where the disk is too slow, the operations of a document give
//! way to its whole text, at the price of the undo tree in the journal.
//! Invariant: a failing disk is told (`JournalEvent`) and tried again until it works.
//! Start at `Journal::record`; the format is in `entry`, the thread in `writer`.

mod bytes;
pub(crate) mod entry;
mod operation;
mod tracked;
mod writer;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use base::{AbsPath, LogErr, Revision};
use host::{Clock, Error, Files, Lock};
use text::{Change, Edit, Operation, SelectionSet, Snapshot};

pub(crate) use self::tracked::history_file;

use self::entry::{Meta, SavedAt};
use crate::document::{Document, DocumentId};
use crate::recovery::{Recovered, Seed};

/// The ending of a journal's file name.
pub(crate) const ENDING: &str = "journal";
/// The file that marks a run of the program as alive.
pub(crate) const LOCK: &str = "lock";
/// The folder of the journals of closed documents.
pub(crate) const HISTORY: &str = "history";
/// How much may wait for the disk, in bytes per document, before its whole text takes its place.
const MOST_WAITING: usize = 8 << 20;
/// Nobody needs more than the newest few events; while the channel is full, new ones are dropped.
const EVENTS: usize = 16;

/// The recovery journal of this run of the program. Dropping it writes what is left.
pub struct Journal {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Something the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalEvent {
    /// Typed text does not reach the disk; a sentence that says why. Trying goes on.
    Failing(String),
    /// It does again.
    Healthy,
}

/// What to keep of a document that is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: its edits were thrown away.
    Nothing,
    /// Its undo tree, for when its file is opened again; nothing if it has unsaved edits.
    History,
    /// Everything, to come back at the next start.
    Everything,
}

pub(crate) struct Shared {
    state: Mutex<State>,
    /// Wakes the thread.
    wake: Condvar,
    /// Wakes those who wait in `flush`.
    done: Condvar,
}

#[derive(Default)]
struct State {
    pending: HashMap<DocumentId, Pending>,
    known: HashMap<DocumentId, Known>,
    /// Something other than selections waits.
    is_urgent: bool,
    has_selections: bool,
    /// How many calls of `flush` there were, and how many are answered.
    asked: u64,
    answered: u64,
    failure: Option<Error>,
    is_stopping: bool,
}

/// What was last told to the thread about a document.
struct Known {
    meta: Meta,
    revision: Revision,
}

/// What the thread is to do for a document, in order.
#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) begin: Option<Begin>,
    pub(crate) work: Vec<Work>,
    pub(crate) selections: Option<SelectionSet>,
    weight: usize,
}

pub(crate) enum Begin {
    /// A document whose whole history starts here, or one whose earlier history is not known.
    Fresh { start: Now, has_history: bool },
    /// A document that goes on from an older journal.
    Adopted { seed: Box<Seed>, now: Now },
}

/// How a document is at a moment.
#[derive(Clone)]
pub(crate) struct Now {
    pub(crate) snapshot: Snapshot,
    pub(crate) meta: Meta,
    /// Whether the text is the one in the file.
    pub(crate) is_saved: bool,
}

pub(crate) enum Work {
    Operations {
        operations: Vec<Operation>,
        /// The same as plain edits, when some of the operations mean the undo tree.
        plain: Plain,
        /// How the document is afterwards.
        now: Now,
    },
    Meta(Now),
    /// The whole text in place of what was dropped from the queue.
    Whole(Now),
    Close(Keep),
}

pub(crate) enum Plain {
    Same,
    Edits(Vec<Edit>),
    Unknown,
}

static SESSIONS: AtomicU64 = AtomicU64::new(0);

impl Journal {
    /// Starts a journal for this run below `folder`. Events are for the user's eyes.
    pub fn start(
        files: Arc<dyn Files>,
        clock: &dyn Clock,
        folder: &AbsPath,
    ) -> Result<(Self, async_channel::Receiver<JournalEvent>), Error> {
        let (session, lock) = create_session(&*files, clock, folder)?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
            done: Condvar::new(),
        });
        let (sender, events) = async_channel::bounded(EVENTS);
        let writer = writer::Writer::new(
            shared.clone(),
            files,
            folder.join(HISTORY),
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
                    host::Reason::Other(error.to_string()),
                )
            })?;
        let journal = Self {
            shared,
            thread: Some(thread),
        };
        Ok((journal, events))
    }

    /// Queues what happened to a document since the last call: edits, saves, a new name. Call it
    /// once for a new document and then after every change. Never waits for the disk.
    pub fn record(&self, document: &mut Document) {
        let id = document.id();
        let mut state = self.shared.lock();
        if !state.known.contains_key(&id) {
            state.begin(document);
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
            pending.work.push(Work::Meta(Now::of(document)));
        }
        if pending.weight > MOST_WAITING {
            pending.work = vec![Work::Whole(Now::of(document))];
            pending.weight = 0;
        }
        state.is_urgent = true;
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Queues the selections of the view that was used last. They may take longer than text.
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

    /// Takes over a document that was recovered or opened, with its journal.
    pub fn adopt(&self, recovered: Recovered) -> (Document, Option<SelectionSet>) {
        let Recovered {
            mut document,
            selections,
            seed,
            ..
        } = recovered;
        if let Some(seed) = seed {
            let mut state = self.shared.lock();
            let now = Now {
                // What came after the replay follows as an operation.
                snapshot: seed.snapshot.clone(),
                ..Now::of(&document)
            };
            let known = Known {
                meta: seed.meta.clone(),
                revision: seed.snapshot.revision(),
            };
            state.known.insert(document.id(), known);
            let pending = state.pending.entry(document.id()).or_default();
            pending.begin = Some(Begin::Adopted {
                seed: Box::new(seed),
                now,
            });
            state.is_urgent = true;
        }
        self.record(&mut document);
        self.shared.wake.notify_one();
        (document, selections)
    }

    /// Forgets a recovered document that the user does not want.
    pub fn discard(&self, recovered: Recovered) {
        let (document, _) = self.adopt(recovered);
        self.close(&document, Keep::Nothing);
    }

    /// Ends the journal of a document that is closed.
    pub fn close(&self, document: &Document, keep: Keep) {
        let mut state = self.shared.lock();
        if state.known.remove(&document.id()).is_none() {
            return;
        }
        let keep = match keep {
            Keep::History if document.is_dirty() => Keep::Nothing,
            other => other,
        };
        let pending = state.pending.entry(document.id()).or_default();
        pending.work.push(Work::Close(keep));
        state.is_urgent = true;
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Waits until everything queued before is on the disk, or fails to get there. Blocks.
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

impl Drop for Journal {
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

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self, document: &mut Document) {
        let has_history = document.buffer().history().steps().next().is_none();
        document.buffer_mut().set_recording(true);
        let start = Now::of(document);
        let known = Known {
            meta: start.meta.clone(),
            revision: start.snapshot.revision(),
        };
        self.known.insert(document.id(), known);
        let pending = self.pending.entry(document.id()).or_default();
        let is_edited = !has_history && document.is_dirty();
        if is_edited {
            // Edits made before the journal knew of the document are in its text alone.
            pending.work.push(Work::Whole(start.clone()));
            self.is_urgent = true;
        }
        pending.begin = Some(Begin::Fresh { start, has_history });
    }
}

impl Pending {
    fn push_operations(
        &mut self,
        operations: Vec<Operation>,
        document: &Document,
        since: Revision,
    ) {
        let now = Now::of(document);
        let plain = if !operations.iter().any(operation::needs_history) {
            Plain::Same
        } else {
            match document.buffer().changes_since(since) {
                Some(change) => Plain::Edits(plain_edits(&change, &now.snapshot)),
                None => Plain::Unknown,
            }
        };
        self.weight += operations.iter().map(operation::weight).sum::<usize>();
        self.work.push(Work::Operations {
            operations,
            plain,
            now,
        });
    }
}

impl Now {
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

fn create_session(
    files: &dyn Files,
    clock: &dyn Clock,
    folder: &AbsPath,
) -> Result<(AbsPath, Lock), Error> {
    let count = SESSIONS.fetch_add(1, Ordering::Relaxed);
    let name = format!("{:013}-{}-{count}", clock.wall_ms(), std::process::id());
    let session = folder.join(name);
    files.create_folder(&folder.join(HISTORY))?;
    files.create_folder(&session)?;
    let lock = files.lock(&session.join(LOCK))?;
    let lock = lock.ok_or_else(|| Error::new(&session, "lock", host::Reason::Busy))?;
    Ok((session, lock))
}

/// Removes a journal of a dead run, and that run's folder when it was the last.
pub(crate) fn remove_with_session(files: &dyn Files, journal: &AbsPath) {
    files.remove(journal).log_err();
    let Some(session) = journal.parent() else {
        return;
    };
    remove_empty_session(files, &session);
}

/// Removes a run's folder when it holds no journal any more.
pub(crate) fn remove_empty_session(files: &dyn Files, session: &AbsPath) {
    if session.name() == HISTORY {
        return;
    }
    let is_empty = files
        .list(session)
        .is_ok_and(|listing| !listing.entries.iter().any(|entry| is_journal(&entry.path)));
    if is_empty {
        files.remove(session).log_err();
    }
}

pub(crate) fn is_journal(path: &AbsPath) -> bool {
    path.as_path()
        .extension()
        .is_some_and(|ending| ending == ENDING)
}

#[cfg(test)]
mod tests;
