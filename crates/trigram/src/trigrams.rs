//! The trigram index of one folder, as its users see it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::{AbsPath, LogErr};
use host::{FileLock, Files, RealFiles};

use crate::catalog::{self, Unusable};
use crate::file_table::ContentState;
use crate::maintenance::Refreshed;
use crate::state::{TrigramError, TrigramState, lock};

/// The trigram index of one folder, a prefilter for text search: it rules out files that cannot
/// match. Cheap to clone, and usable from any thread.
#[derive(Clone)]
pub struct Trigrams(pub(crate) Arc<TrigramState>);

/// The size of a trigram index, for display.
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
            Ok(table) => index.0.publish(table),
            Err(Unusable::Absent) => {}
            Err(Unusable::Wrong(why)) => index.0.note(format!(
                "the text index in {} is rebuilt: {why}",
                index.0.store
            )),
        }
        index.0.begin_numbers();
        index
    }

    /// Opens the stored index read-only, for a program that searches once. Returns `None` if
    /// `store` is missing or unusable.
    pub fn open_kept(root: AbsPath, store: AbsPath) -> Option<Self> {
        // The writer may have replaced the catalog between the two reads.
        let kept = catalog::read(&store, &root).or_else(|_| catalog::read(&store, &root));
        let table = kept.ok()?;
        let index = Self::new(root, store, None, false);
        index.0.publish(table);
        Some(index)
    }

    fn new(root: AbsPath, store: AbsPath, lock: Option<FileLock>, is_lasting: bool) -> Self {
        Self(Arc::new(TrigramState::new(root, store, lock, is_lasting)))
    }

    /// Lists the folder, reads new and changed files, and stores the result. Blocks, for seconds if
    /// much has to be read; uses at most about 130 MB of memory meanwhile. Searches can run
    /// concurrently.
    pub fn refresh(&self, cancel: &AtomicBool) -> Result<Refreshed, TrigramError> {
        self.0.refresh(cancel)
    }

    /// Checks paths that may have been changed, created or removed, and reads the changed files.
    /// Blocks for about as long as reading these files takes. Does nothing before the first
    /// refresh.
    pub fn touch(&self, paths: &[AbsPath]) {
        self.0.touch(paths);
    }

    /// Reads pending files and writes the updates since the last call to disk. Blocks until the
    /// updates are written. The next program that opens the index reads files again whose updates
    /// were not written.
    pub fn persist(&self) -> Result<(), TrigramError> {
        self.0.persist()
    }

    /// Returns the size of the index.
    pub fn stats(&self) -> TrigramStats {
        let table = self.0.current();
        let unread = table.files.iter();
        TrigramStats {
            files: table.files.len(),
            unread: unread
                .filter(|file| {
                    matches!(file.content, ContentState::Unread | ContentState::Opaque(_))
                })
                .count(),
            segments: table.segments.len(),
            bytes: table.segments.iter().map(|held| held.segment.bytes()).sum(),
            bytes_in_memory: table.bytes_held(),
            is_complete: !table.folders.is_empty(),
        }
    }

    /// Returns notes about unusual events, as sentences.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.0.notes).clone()
    }
}
