//! The thread that keeps the trigram index up to date, so that text search can skip files.
//!
//! It starts once the semantic index is complete, and receives the same change reports. Searches
//! are correct without it, only slower.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use base::AbsPath;

use crate::trigram::Trigrams;

/// The trigram index and its pending updates. Dropping it ends its thread.
pub(crate) struct TrigramUpdater {
    pub(crate) trigrams: Trigrams,
    news: Arc<UpdateQueue>,
}

#[derive(Default)]
struct UpdateQueue {
    waiting: Mutex<PendingUpdates>,
    wake: Condvar,
    is_ended: AtomicBool,
}

#[derive(Default)]
struct PendingUpdates {
    touched: Vec<AbsPath>,
    wants_refresh: bool,
}

impl TrigramUpdater {
    /// Opens the index in `store` and starts to update it.
    pub(crate) fn start(root: AbsPath, store: AbsPath) -> Self {
        let sieve = Self {
            trigrams: Trigrams::open(root, store),
            news: Arc::default(),
        };
        sieve.refresh();
        let (trigrams, news) = (sieve.trigrams.clone(), sieve.news.clone());
        let thread = std::thread::Builder::new().name("trigrams".to_owned());
        if let Err(error) = thread.spawn(move || run(&trigrams, &news)) {
            log::warn!(
                "text search reads every file, because the thread for its index cannot be started: {error}"
            );
        }
        sieve
    }

    /// Reports that these paths may have changed.
    pub(crate) fn touch(&self, paths: &[AbsPath]) {
        self.news
            .add(|waiting| waiting.touched.extend_from_slice(paths));
    }

    /// Reports that any path may have changed.
    pub(crate) fn refresh(&self) {
        self.news.add(|waiting| waiting.wants_refresh = true);
    }
}

impl Drop for TrigramUpdater {
    fn drop(&mut self) {
        self.news.is_ended.store(true, Ordering::Relaxed);
        self.news.add(|_| ());
    }
}

impl UpdateQueue {
    fn add(&self, add: impl FnOnce(&mut PendingUpdates)) {
        add(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }

    /// Waits for updates and takes them; returns `None` when the index closes.
    fn next(&self) -> Option<PendingUpdates> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.is_ended.load(Ordering::Relaxed) {
                return None;
            }
            if waiting.wants_refresh || !waiting.touched.is_empty() {
                return Some(std::mem::take(&mut waiting));
            }
            waiting = self
                .wake
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn run(trigrams: &Trigrams, news: &UpdateQueue) {
    host::lower_priority();
    while let Some(waiting) = news.next() {
        trigrams.touch(&waiting.touched);
        if waiting.wants_refresh
            && let Err(error) = trigrams.refresh(&news.is_ended)
        {
            log::warn!("cannot update the index for text search: {error}");
        }
    }
    if let Err(error) = trigrams.persist() {
        log::warn!("cannot save the index for text search: {error}");
    }
}
