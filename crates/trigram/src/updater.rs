//! The thread that keeps the trigram index up to date, so that text search can skip files.
//!
//! Searches are correct without it, only slower.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use base::AbsPath;
use project::search::Prefilter;

use crate::trigrams::Trigrams;

/// A trigram index with a thread that keeps the index up to date. Dropping this value ends the
/// thread.
pub struct TrigramUpdater {
    trigrams: Trigrams,
    queue: Arc<UpdateQueue>,
}

#[derive(Default)]
struct UpdateQueue {
    pending: Mutex<PendingUpdates>,
    wake: Condvar,
    is_ended: AtomicBool,
}

#[derive(Default)]
struct PendingUpdates {
    touched: Vec<AbsPath>,
    wants_refresh: bool,
}

impl TrigramUpdater {
    /// Opens the index in `store`, creating it if necessary, and starts to refresh it on a thread.
    /// If the thread cannot be started, searches read every file.
    pub fn start(root: AbsPath, store: AbsPath) -> Self {
        let updater = Self {
            trigrams: Trigrams::open(root, store),
            queue: Arc::default(),
        };
        updater.refresh();
        let (trigrams, queue) = (updater.trigrams.clone(), updater.queue.clone());
        let thread = std::thread::Builder::new().name("trigrams".to_owned());
        if let Err(error) = thread.spawn(move || run(&trigrams, &queue)) {
            log::warn!(
                "text search reads every file, because the thread for its index cannot be started: {error}"
            );
        }
        updater
    }

    /// Returns the index as a prefilter for text searches.
    pub fn prefilter(&self) -> Arc<dyn Prefilter> {
        Arc::new(self.trigrams.clone())
    }

    /// Reports that these paths may have changed. Returns at once, and the thread checks the paths.
    pub fn touch(&self, paths: &[AbsPath]) {
        self.queue
            .add(|pending| pending.touched.extend_from_slice(paths));
    }

    /// Reports that any path may have changed. Returns at once, and the thread checks all files.
    pub fn refresh(&self) {
        self.queue.add(|pending| pending.wants_refresh = true);
    }
}

impl Drop for TrigramUpdater {
    fn drop(&mut self) {
        self.queue.is_ended.store(true, Ordering::Relaxed);
        self.queue.add(|_| ());
    }
}

impl UpdateQueue {
    fn add(&self, add: impl FnOnce(&mut PendingUpdates)) {
        add(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }

    /// Waits for updates and takes them; returns `None` when the index closes.
    fn next(&self) -> Option<PendingUpdates> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.is_ended.load(Ordering::Relaxed) {
                return None;
            }
            if pending.wants_refresh || !pending.touched.is_empty() {
                return Some(std::mem::take(&mut pending));
            }
            pending = self
                .wake
                .wait(pending)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn run(trigrams: &Trigrams, queue: &UpdateQueue) {
    host::lower_priority();
    while let Some(pending) = queue.next() {
        trigrams.touch(&pending.touched);
        if pending.wants_refresh
            && let Err(error) = trigrams.refresh(&queue.is_ended)
        {
            log::warn!("cannot update the index for text search: {error}");
        }
    }
    if let Err(error) = trigrams.persist() {
        log::warn!("cannot save the index for text search: {error}");
    }
}
