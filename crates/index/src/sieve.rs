//! The thread that keeps the index of trigrams in step, so that text search passes over files.
//!
//! It begins when the rest is in, and is told what the rest is told. Searches are right without it, only slower.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use base::AbsPath;

use crate::trigram::Trigrams;

/// The index of trigrams and what it is still to be told. Ends its thread when dropped.
pub(crate) struct Sieve {
    pub(crate) trigrams: Trigrams,
    news: Arc<News>,
}

#[derive(Default)]
struct News {
    waiting: Mutex<Waiting>,
    wake: Condvar,
    is_ended: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    touched: Vec<AbsPath>,
    wants_refresh: bool,
}

impl Sieve {
    /// Opens what is kept in `store` and begins to bring it up to date.
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
                "text search reads every file, as there is no thread for its index: {error}"
            );
        }
        sieve
    }

    /// Says that these may have changed.
    pub(crate) fn touch(&self, paths: &[AbsPath]) {
        self.news
            .add(|waiting| waiting.touched.extend_from_slice(paths));
    }

    /// Says that anything may have changed.
    pub(crate) fn refresh(&self) {
        self.news.add(|waiting| waiting.wants_refresh = true);
    }
}

impl Drop for Sieve {
    fn drop(&mut self) {
        self.news.is_ended.store(true, Ordering::Relaxed);
        self.news.add(|_| ());
    }
}

impl News {
    fn add(&self, add: impl FnOnce(&mut Waiting)) {
        add(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }

    /// What is waiting, once something is; `None` at the end.
    fn next(&self) -> Option<Waiting> {
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

fn run(trigrams: &Trigrams, news: &News) {
    host::lower_priority();
    while let Some(waiting) = news.next() {
        trigrams.touch(&waiting.touched);
        if waiting.wants_refresh
            && let Err(error) = trigrams.refresh(&news.is_ended)
        {
            log::warn!("the index for text search is not up to date: {error}");
        }
    }
    if let Err(error) = trigrams.keep() {
        log::warn!("the index for text search was not kept: {error}");
    }
}
