//! The trigram index: rules out files before a text search reads them.
//!
//! For each file of a folder it stores the trigrams that the file contains; a pattern becomes a
//! condition on trigrams (`plan`), and files that do not satisfy it are skipped. The trigrams are
//! stored in segments (`segment`), the list of files in one `Known`; both are also kept on disk
//! (`catalog`).
//!
//! Invariant: correctness does not depend on change reports. Each search checks that the folders,
//! and every file that the plan would skip, are unchanged since they were read, or asks the kernel
//! (`trust`); changed ones are listed or read again. `touch` and `refresh` only make searches
//! faster.
//! Invariant: anything in its store may be lost or damaged; it is then rebuilt.
//! Start at `Trigrams`.

mod catalog;
mod file_set;
mod file_table;
mod freshness;
mod gram;
mod listing;
mod maintenance;
mod plan;
mod prefilter;
mod read_files;
mod segment;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use base::{AbsPath, LogErr};
use host::{BulkStat, FileLock, Files, RealFiles};

use catalog::Unusable;
use file_table::{ContentState, FileTable};
use freshness::Freshness;

/// The trigram index of one folder. Cheap to clone; usable from any thread.
#[derive(Clone)]
pub struct Trigrams(Arc<TrigramState>);

struct TrigramState {
    root: AbsPath,
    store: AbsPath,
    /// Kept open; `None` if the folder cannot be opened.
    bulk_stat: Option<BulkStat>,
    /// The data that searches use.
    known: Mutex<Arc<FileTable>>,
    /// The parts of it that need no check.
    freshness: Mutex<Option<Arc<Freshness>>>,
    /// Held while the next `known` is made.
    upkeep: Mutex<Upkeep>,
    notes: Mutex<Vec<String>>,
    /// Whether changes are read and stored, or the index serves one search only.
    is_lasting: bool,
    /// Whether a background refresh is running.
    is_refreshing: AtomicBool,
}

/// The data that only the writer of the store needs.
struct Upkeep {
    /// The store's lock; `None` if another process holds it, or nothing is to be written.
    lock: Option<FileLock>,
    /// The number of the next segment.
    next_number: u64,
    /// Whether `known` differs from the store.
    is_unsaved: bool,
}

/// The reason that an index cannot be updated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrigramError {
    /// The folder cannot be read.
    #[error(
        "cannot index the text of {0}: it cannot be opened; text search reads every file instead"
    )]
    Unreadable(AbsPath),
    /// The store cannot be written.
    #[error("cannot keep the text index: {0}; free some space or remove the folder")]
    Unwritten(String),
    /// The update was cancelled.
    #[error("indexing was cancelled")]
    Cancelled,
}

/// The result of a refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Number of files below the root.
    pub files: usize,
    /// Number of files that were read.
    pub read: usize,
}

/// The size of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrigramStats {
    /// Number of known files.
    pub files: usize,
    /// Number of files that every search reads, temporarily or permanently.
    pub unread: usize,
    /// Number of segments in memory and on disk.
    pub segments: usize,
    /// Total size of all segments in bytes.
    pub bytes: u64,
    /// Memory use in bytes.
    pub bytes_in_memory: u64,
    /// Whether the folder was ever listed completely.
    pub is_complete: bool,
}

impl Trigrams {
    /// Opens the index of `root` in `store` without reading anything of `root`. If `store` is
    /// missing or unusable, the index starts empty, and `notes` gives the reason. `store` must be a
    /// folder of its own; one process writes to it.
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
                "the text index in {} is rebuilt: {why}",
                index.0.store
            )),
        }
        index.0.begin_numbers();
        index
    }

    /// Opens the index read-only, for a program that searches once. Returns `None` if `store` is
    /// missing or unusable.
    pub fn open_kept(root: AbsPath, store: AbsPath) -> Option<Self> {
        // The writer may have replaced the catalog between the two reads.
        let kept = catalog::read(&store, &root).or_else(|_| catalog::read(&store, &root));
        let known = kept.ok()?;
        let index = Self::new(root, store, None, false);
        index.0.publish(known);
        Some(index)
    }

    fn new(root: AbsPath, store: AbsPath, lock: Option<FileLock>, is_lasting: bool) -> Self {
        Self(Arc::new(TrigramState {
            bulk_stat: BulkStat::open(&root).ok(),
            root,
            store,
            known: Mutex::default(),
            freshness: Mutex::default(),
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

    /// Lists the folder, reads new and changed files, and stores the result. Blocks, for seconds if
    /// much has to be read; uses at most about 130 MB of memory meanwhile. Searches can run
    /// concurrently.
    pub fn refresh(&self, cancel: &AtomicBool) -> Result<Refreshed, TrigramError> {
        self.0.refresh(cancel)
    }

    /// Checks and reads paths that may have been changed, created or removed. Blocks for about as
    /// long as reading them takes.
    pub fn touch(&self, paths: &[AbsPath]) {
        self.0.touch(paths);
    }

    /// Writes the updates since the last call to disk. Anything not written is read again by the
    /// next program.
    pub fn persist(&self) -> Result<(), TrigramError> {
        self.0.persist()
    }

    /// Returns the size of the index.
    pub fn stats(&self) -> TrigramStats {
        let known = self.0.current();
        let unread = known.files.iter();
        TrigramStats {
            files: known.files.len(),
            unread: unread
                .filter(|file| {
                    matches!(file.content, ContentState::Unread | ContentState::Opaque(_))
                })
                .count(),
            segments: known.segments.len(),
            bytes: known.segments.iter().map(|held| held.segment.bytes()).sum(),
            bytes_in_memory: known.bytes_held(),
            is_complete: !known.folders.is_empty(),
        }
    }

    /// Returns notes about unusual events, as sentences.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.0.notes).clone()
    }
}

impl TrigramState {
    fn current(&self) -> Arc<FileTable> {
        Arc::clone(&lock(&self.known))
    }

    /// Replaces the data that searches use. The caller must hold `upkeep`.
    fn publish(&self, known: FileTable) {
        let mut current = lock(&self.known);
        if !known.has_folders_of(&current) {
            // Done first, so that no search relies on folders that are not watched.
            lock(&self.freshness).take();
        }
        *current = Arc::new(known);
    }

    fn note(&self, sentence: String) {
        log::warn!("{sentence}");
        lock(&self.notes).push(sentence);
    }

    /// Starts a refresh in the background, unless one is running.
    fn refresh_in_background(self: &Arc<Self>) {
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

/// Locks a mutex. A panic elsewhere leaves complete values behind: they are replaced, never
/// modified in place.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
