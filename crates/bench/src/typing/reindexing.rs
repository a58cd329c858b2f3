//! A thread that indexes a large folder again and again, as the window does with a folder that it opens.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ::index::{Index, IndexOptions, IndexPhase};
use tempfile::TempDir;

use crate::index::place;

/// Interval at which the index is inspected.
const INTERVAL: Duration = Duration::from_millis(200);

pub(super) struct Reindexing {
    is_over: Arc<AtomicBool>,
    /// Returns the number of files.
    thread: JoinHandle<Result<usize, String>>,
}

impl Reindexing {
    /// Starts indexing a folder.
    pub(super) fn start(root: &Path) -> Result<Self, String> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (root, over) = (root.to_owned(), is_over.clone());
        let thread = std::thread::Builder::new()
            .spawn(move || index_again_and_again(&root, &over))
            .map_err(|error| error.to_string())?;
        Ok(Self { is_over, thread })
    }

    /// Ends it, and returns the number of files that were indexed meanwhile. Fails if there were none.
    pub(super) fn stop(self) -> Result<usize, String> {
        self.is_over.store(true, Ordering::Relaxed);
        let files = self.thread.join();
        let files = files.map_err(|_| "the thread of the index ended early")??;
        if files == 0 {
            return Err("no file was indexed meanwhile".to_owned());
        }
        Ok(files)
    }
}

fn index_again_and_again(root: &Path, is_over: &AtomicBool) -> Result<usize, String> {
    let mut files = 0;
    while !is_over.load(Ordering::Relaxed) {
        let cache = TempDir::new().map_err(|error| error.to_string())?;
        let index = Index::open(place(root)?, IndexOptions::kept_in(&place(cache.path())?));
        loop {
            std::thread::sleep(INTERVAL);
            let status = index.status();
            if let IndexPhase::Off(why) = &status.phase {
                return Err(format!("{} cannot be indexed: {why}", root.display()));
            }
            if status.is_ready() || is_over.load(Ordering::Relaxed) {
                files += status.done;
                break;
            }
        }
    }
    Ok(files)
}
