//! The trigram index: which files a text search need not look into.
//!
//! For each file of a folder it keeps which trigrams the file holds; a pattern becomes a condition on trigrams
//! (`plan`), and files that do not satisfy it are passed over. The trigrams lie in segments (`segment`), what there is in
//! one `Known`, both on the disk too (`catalog`).
//!
//! Invariant: nobody has to tell it of changes. Each search looks whether the folders and every file that the plan would
//! pass over still are what was read, or asks the kernel (`trust`); what is not is listed or looked into anew. `touch` and
//! `refresh` only make it fast.
//! Invariant: whatever lies in its store can be lost or damaged; then it is made again.
//! Start at `Trigrams`.

mod bits;
mod catalog;
mod gram;
mod known;
mod listing;
mod plan;
mod reading;
mod segment;
mod sift;
mod trust;
mod upkeep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use base::{AbsPath, LogErr};
use host::{Files, Lock, RealFiles, Survey};

use catalog::Unusable;
use known::{Content, Known};
use trust::Trust;

/// The trigram index of one folder. Cheap to clone; may be used from any thread.
#[derive(Clone)]
pub struct Trigrams(Arc<Inner>);

struct Inner {
    root: AbsPath,
    store: AbsPath,
    /// Held open for as long as this lives; none where the folder cannot be opened.
    survey: Option<Survey>,
    /// What searches go by.
    known: Mutex<Arc<Known>>,
    /// What of it need not be looked at.
    trust: Mutex<Option<Arc<Trust>>>,
    /// Held by whoever makes the next `known`.
    upkeep: Mutex<Upkeep>,
    notes: Mutex<Vec<String>>,
    /// Whether changes are read and kept, or this is for one search.
    is_lasting: bool,
    /// Whether a refresh of its own is under way.
    is_refreshing: AtomicBool,
}

/// What only the writer of the store needs.
struct Upkeep {
    /// Of the store; none where another process has it, or nothing is to be written.
    lock: Option<Lock>,
    /// For the next segment.
    next_number: u64,
    /// Whether `known` is not what the store holds.
    is_unsaved: bool,
}

/// Why an index cannot be brought up to date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrigramError {
    /// The folder cannot be looked at.
    #[error(
        "cannot index the text of {0}: it cannot be opened; text search reads every file instead"
    )]
    Unreadable(AbsPath),
    /// The store does not take it.
    #[error("cannot keep the text index: {0}; free some space or remove the folder")]
    Unwritten(String),
    /// It was told to stop.
    #[error("indexing was stopped")]
    Cancelled,
}

/// What a refresh did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Files there are.
    pub files: usize,
    /// Files that were read.
    pub read: usize,
}

/// How large it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Files that are known.
    pub files: usize,
    /// Files that every search looks into, for now or for good.
    pub unread: usize,
    /// Segments, in memory and on the disk.
    pub segments: usize,
    /// Bytes of all segments.
    pub bytes: u64,
    /// Bytes in memory.
    pub bytes_in_memory: u64,
    /// Whether it was ever listed whole.
    pub is_complete: bool,
}

impl Trigrams {
    /// Takes what `store` holds of `root`, and reads nothing of `root` yet. Where there is nothing, or nothing that can be
    /// used, it begins empty; `notes` then says why. `store` is a folder for this alone; one process writes to it.
    pub fn open(root: AbsPath, store: AbsPath) -> Self {
        RealFiles.create_folder(&store).log_err();
        let lock = RealFiles.lock(&store.join("lock"));
        let lock = lock.log_err().flatten();
        let kept = catalog::read(&store, &root);
        let index = Self::new(root, store, lock, true);
        match kept {
            Ok(known) => index.0.publish(known),
            Err(Unusable::Absent) => {}
            Err(Unusable::Wrong(why)) => index.0.note(format!(
                "the text index in {} is made anew: {why}",
                index.0.store
            )),
        }
        index.0.begin_numbers();
        index
    }

    /// Takes what `store` holds, for a program that searches once: nothing is written. `None` where there is nothing that
    /// can be used.
    pub fn open_kept(root: AbsPath, store: AbsPath) -> Option<Self> {
        // The writer may have put another catalog down between the two reads.
        let kept = catalog::read(&store, &root).or_else(|_| catalog::read(&store, &root));
        let known = kept.ok()?;
        let index = Self::new(root, store, None, false);
        index.0.publish(known);
        Some(index)
    }

    fn new(root: AbsPath, store: AbsPath, lock: Option<Lock>, is_lasting: bool) -> Self {
        Self(Arc::new(Inner {
            survey: Survey::open(&root).ok(),
            root,
            store,
            known: Mutex::default(),
            trust: Mutex::default(),
            upkeep: Mutex::new(Upkeep {
                lock,
                next_number: 1,
                is_unsaved: false,
            }),
            notes: Mutex::default(),
            is_lasting,
            is_refreshing: AtomicBool::new(false),
        }))
    }

    /// Lists the folder, reads what is new or changed, and keeps it. Blocks, for seconds where much is to be read; at most
    /// about 130 MB of memory meanwhile. Searches go on beside it.
    pub fn refresh(&self, cancel: &AtomicBool) -> Result<Refreshed, TrigramError> {
        self.0.refresh(cancel)
    }

    /// These may have changed, come or gone: looks at them and reads them. Blocks for about as long as reading them takes.
    pub fn touch(&self, paths: &[AbsPath]) {
        self.0.touch(paths);
    }

    /// Writes down what was read since the last time. What is not written is read again by the next program.
    pub fn keep(&self) -> Result<(), TrigramError> {
        self.0.keep()
    }

    /// How large it is.
    pub fn stats(&self) -> Stats {
        let known = self.0.known();
        let unread = known.files.iter();
        Stats {
            files: known.files.len(),
            unread: unread
                .filter(|file| matches!(file.content, Content::Unread | Content::Opaque(_)))
                .count(),
            segments: known.segments.len(),
            bytes: known.segments.iter().map(|held| held.segment.bytes()).sum(),
            bytes_in_memory: known.bytes_held(),
            is_complete: !known.folders.is_empty(),
        }
    }

    /// What was out of the ordinary, as sentences.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.0.notes).clone()
    }
}

impl Inner {
    fn known(&self) -> Arc<Known> {
        Arc::clone(&lock(&self.known))
    }

    /// What searches go by from now on. Called by whoever holds `upkeep`.
    fn publish(&self, known: Known) {
        let mut current = lock(&self.known);
        if !known.has_folders_of(&current) {
            // First, so that nobody trusts in folders that nobody watches.
            lock(&self.trust).take();
        }
        *current = Arc::new(known);
    }

    fn note(&self, sentence: String) {
        log::warn!("{sentence}");
        lock(&self.notes).push(sentence);
    }

    /// Brings it up to date in a thread of its own, unless one does so already.
    fn wake(self: &Arc<Self>) {
        if !self.is_lasting || self.is_refreshing.swap(true, Ordering::AcqRel) {
            return;
        }
        let inner = Arc::clone(self);
        let thread = thread::Builder::new().name("trigrams".to_owned());
        let started = thread.spawn(move || {
            inner.refresh(&AtomicBool::new(false)).log_err();
            inner.is_refreshing.store(false, Ordering::Release);
        });
        if started.is_err() {
            self.is_refreshing.store(false, Ordering::Release);
        }
    }
}

/// A panic elsewhere leaves whole values behind: they are replaced, never changed in place.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
