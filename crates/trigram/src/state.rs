//! The state of a trigram index, shared by searches and maintenance.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::AbsPath;
use host::{BulkStat, FileLock};

use crate::file_table::FileTable;
use crate::freshness::Freshness;

/// The state of a trigram index, shared by searches and updates.
pub(crate) struct TrigramState {
    pub(crate) root: AbsPath,
    pub(crate) store: AbsPath,
    /// Kept open; `None` if the folder cannot be opened.
    pub(crate) bulk_stat: Option<BulkStat>,
    /// The data that searches use.
    pub(crate) table: Mutex<Arc<FileTable>>,
    /// The parts of it that need no check.
    pub(crate) freshness: Mutex<Option<Arc<Freshness>>>,
    /// Held while the next `table` is made.
    pub(crate) upkeep: Mutex<Upkeep>,
    pub(crate) notes: Mutex<Vec<String>>,
    /// Whether changes are read and stored, or the index serves one search only.
    pub(crate) is_lasting: bool,
    /// Whether a background refresh is running.
    pub(crate) is_refreshing: AtomicBool,
}

/// The data that only the updater of the store needs, guarded by one lock.
pub(crate) struct Upkeep {
    /// The store's lock; `None` if another process holds it, or nothing is to be written.
    pub(crate) lock: Option<FileLock>,
    /// The number of the next segment.
    pub(crate) next_number: u64,
    /// Whether `table` differs from the store.
    pub(crate) is_unsaved: bool,
}

/// The reason that an index cannot be updated. Its display form is a message for the user. Searches
/// then read every file.
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

impl TrigramState {
    /// Returns the state of an index of `root` that knows no file yet.
    pub(crate) fn new(
        root: AbsPath,
        store: AbsPath,
        lock: Option<FileLock>,
        is_lasting: bool,
    ) -> Self {
        Self {
            bulk_stat: BulkStat::open(&root).ok(),
            root,
            store,
            table: Mutex::default(),
            freshness: Mutex::default(),
            upkeep: Mutex::new(Upkeep {
                lock,
                next_number: 1,
                is_unsaved: false,
            }),
            notes: Mutex::default(),
            is_lasting,
            is_refreshing: AtomicBool::new(false),
        }
    }

    /// Returns the data that searches use now.
    pub(crate) fn current(&self) -> Arc<FileTable> {
        Arc::clone(&lock(&self.table))
    }

    /// Replaces the data that searches use. The caller must hold `upkeep`.
    pub(crate) fn publish(&self, table: FileTable) {
        let mut current = lock(&self.table);
        if !table.has_folders_of(&current) {
            // Done first, so that no search relies on folders that are not watched.
            lock(&self.freshness).take();
        }
        *current = Arc::new(table);
    }

    /// Logs a sentence and stores it to be shown to the user.
    pub(crate) fn note(&self, sentence: String) {
        log::warn!("{sentence}");
        lock(&self.notes).push(sentence);
    }
}

/// Locks a mutex. A panic elsewhere leaves complete values behind: they are replaced, never
/// modified in place.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
