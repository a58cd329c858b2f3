//! Tracks the files and folders that need no check, because the kernel would have reported a
//! change.
//!
//! The change queue is started first, then everything is checked once; from then on a file that no
//! event named is unchanged. Changes that the queue does not report (another hard link of a file,
//! another disk, an open memory mapping) are covered by checking such files each time, or by a full
//! check after a while.
//! Invariant: the information belongs to one set of folders; publishing another set ends it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::AbsPath;
use host::{BulkStat, ChangeQueue, PolledChange, WallTime};

use super::file_table::{FileTable, IndexedFolder};
use super::version_check::{except, is_unchanged};

/// Interval after which everything is checked again.
const MAX_AGE: Duration = Duration::from_secs(60);
/// Maximum number of paths to check each time; above it everything is checked again.
const MAX_DOUBTS: usize = 500;
/// During a search the kernel is queried once per this many files.
pub(super) const CATCH_UP_INTERVAL: u32 = 64;

/// A change queue over all folders of a `FileTable`, and the changes it reported.
pub(super) struct Freshness {
    changes: ChangeQueue,
    began: WallTime,
    doubts: Mutex<Doubts>,
    /// Whether any file is in doubt: most searches need not look at the set.
    is_doubting: AtomicBool,
    is_over: AtomicBool,
    /// The number of files checked.
    asked: AtomicU32,
}

/// The paths to check each time.
#[derive(Default)]
struct Doubts {
    files: HashSet<PathBuf>,
    folders: HashSet<PathBuf>,
}

impl Freshness {
    /// Starts the change queue and checks everything once. Returns `None` if the system does not
    /// support it.
    pub(super) fn start(root: &AbsPath, bulk_stat: &BulkStat, table: &FileTable) -> Option<Self> {
        let began = bulk_stat.now();
        let mut folders = table.folders.iter().map(|folder| table.path(folder.name));
        let change_queue = ChangeQueue::watch(root, &mut folders)?;
        let device = bulk_stat.version(Path::new(""))?.device;
        let is_elsewhere = |ix: &usize| {
            let mark = table.folders[*ix].mark;
            mark.is_some_and(|mark| mark.device != device)
        };
        if (0..table.folders.len()).any(|ix| is_elsewhere(&ix)) {
            return None;
        }
        let folders = except(table.folders.len(), |ix| {
            let folder = &table.folders[ix];
            is_unchanged(bulk_stat, table.path(folder.name), folder.mark)
        });
        let files = except(table.files.len(), |ix| {
            let file = &table.files[ix];
            let mark = bulk_stat.version_if_single_link(table.path(file.name));
            mark == file.content.mark() && mark.is_some_and(|mark| mark.device == device)
        });
        let doubts = Doubts {
            files: paths(files.iter().map(|ix| table.path(table.files[*ix].name))),
            folders: paths(folders.iter().map(|ix| table.path(table.folders[*ix].name))),
        };
        Some(Self {
            changes: change_queue,
            began,
            is_doubting: AtomicBool::new(!doubts.files.is_empty()),
            doubts: Mutex::new(doubts),
            is_over: AtomicBool::new(false),
            asked: AtomicU32::new(0),
        })
    }

    /// Processes all changes so far. Returns whether the information is still valid.
    pub(super) fn catch_up(&self) -> bool {
        // Taking and recording happen under one lock, so that no thread sees the queue empty and
        // the change missing.
        let mut doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.changes.is_empty() {
            self.changes.drain(&mut |news| match news {
                PolledChange::Changed(path) => {
                    doubts.files.insert(path);
                }
                PolledChange::Moved(path) => {
                    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
                    doubts.folders.insert(folder);
                    doubts.files.insert(path);
                }
                PolledChange::Lost => self.is_over.store(true, Ordering::Release),
            });
            self.is_doubting.store(true, Ordering::Release);
        }
        !self.is_over.load(Ordering::Acquire)
    }

    /// Returns whether the file is unchanged since it was read. A search catches up before it
    /// begins, which suffices for correctness; later changes are queried only now and then, since a
    /// query costs more than everything else done for a file.
    pub(super) fn is_unchanged(&self, file: &Path) -> bool {
        let holds = match self.asked.fetch_add(1, Ordering::Relaxed) % CATCH_UP_INTERVAL {
            0 => self.catch_up(),
            _ => !self.is_over.load(Ordering::Acquire),
        };
        holds && !(self.is_doubting.load(Ordering::Acquire) && self.doubts(file))
    }

    /// Whether the file must be checked: it had changed at the start, or an event named it since.
    fn doubts(&self, file: &Path) -> bool {
        let doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        doubts.files.contains(file)
    }

    /// Returns the folders to check.
    pub(super) fn doubtful_folders(&self, table: &FileTable) -> Vec<usize> {
        let doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        let folders = table.folders.iter().enumerate();
        let is_doubtful = |folder: &IndexedFolder| {
            let is_named = || doubts.folders.contains(table.path(folder.name));
            folder.mark.is_none() || !doubts.folders.is_empty() && is_named()
        };
        folders
            .filter(|(_, folder)| is_doubtful(folder))
            .map(|(ix, _)| ix)
            .collect()
    }

    /// Returns whether everything should be checked again.
    pub(super) fn is_due(&self, now: WallTime) -> bool {
        let doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        now.since(self.began) > MAX_AGE || doubts.files.len() + doubts.folders.len() > MAX_DOUBTS
    }
}

fn paths<'a>(paths: impl Iterator<Item = &'a Path>) -> HashSet<PathBuf> {
    paths.map(Path::to_path_buf).collect()
}
