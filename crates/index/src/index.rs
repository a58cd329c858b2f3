//! The running index of one root: a thread that keeps it in step, and questions that are answered at once.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use async_channel::Receiver;
use base::AbsPath;

use crate::hit::{Answer, Hit};
use crate::query::{Means, Query, Traits};
use crate::rank::Weights;
use crate::second_look::{LOOKED_AT, SecondLook};
use crate::shared::Shared;
use crate::status::Status;
use crate::worker;

/// How an index is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where what is known is kept, for all roots; without it everything is in memory.
    pub folder: Option<AbsPath>,
    /// Whether files are read while nobody asked to: without it the index begins paused.
    pub is_paused: bool,
    /// How much each signal counts.
    pub weights: Weights,
    /// Whether text search is helped too.
    pub text_search: TextSearch,
    /// What looks again at the best places, where somebody waits for that.
    pub second_look: Option<Arc<SecondLook>>,
}

/// Whether an index of trigrams is kept beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSearch {
    /// It is: for a root that stays open.
    Helped,
    /// It is not: for a question or two.
    Plain,
}

impl Options {
    /// Kept below Burin's own cache folder, for a root that stays open.
    pub fn kept_in(cache: &AbsPath) -> Self {
        Self {
            folder: Some(cache.join("index")),
            text_search: TextSearch::Helped,
            ..Self::in_memory()
        }
    }

    /// Kept nowhere.
    pub fn in_memory() -> Self {
        Self {
            folder: None,
            is_paused: false,
            weights: Weights::default(),
            text_search: TextSearch::Plain,
            second_look: None,
        }
    }
}

/// The index of one root. Cheap to clone; ends its thread with the last clone.
#[derive(Clone)]
pub struct Index(Arc<Handle>);

struct Handle(Arc<Shared>);

impl Index {
    /// Begins to index `root`, a real path without links. Returns at once.
    pub fn open(root: AbsPath, options: Options) -> Self {
        let shared = Arc::new(Shared::new(root, options));
        worker::start(shared.clone());
        Self(Arc::new(Handle(shared)))
    }

    /// The folder it is of.
    pub fn root(&self) -> &AbsPath {
        &self.0.0.root
    }

    /// How far it is. Never waits.
    pub fn status(&self) -> Status {
        let status = self.0.0.status.lock();
        status.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ticks when the status changed. Ticks that nobody took meanwhile are one.
    pub fn changed(&self) -> Receiver<()> {
        self.0.0.ticks.1.clone()
    }

    /// Lets it wait before the next file, or go on. What is in can be asked all the time.
    pub fn set_paused(&self, is_paused: bool) {
        self.0.0.set_paused(is_paused);
    }

    /// Says that files or folders may have changed, come or gone.
    pub fn touch(&self, paths: Vec<AbsPath>) {
        if let Some(sieve) = self.0.0.sieve.get() {
            sieve.touch(&paths);
        }
        self.0.0.enqueue(|queue| queue.touched.extend(paths));
    }

    /// Says that everything may have changed, as after events were missed.
    pub fn refresh(&self) {
        if let Some(sieve) = self.0.0.sieve.get() {
            sieve.refresh();
        }
        self.0.0.enqueue(|queue| queue.wants_walk = true);
    }

    /// Gives the text of an open file that is newer than the disk; `None` when the disk counts again.
    pub fn set_unsaved(&self, path: AbsPath, text: Option<text::Snapshot>) {
        self.0.0.enqueue(|queue| {
            queue.unsaved.insert(path, text);
        });
    }

    /// The best places for a question, from what is in now. Reads the few files that it shows; not for the thread
    /// that draws.
    pub fn search(&self, query: &Query) -> Answer {
        self.0.0.search(query, &self.0.0.options.weights)
    }

    /// As `search`, in the order that a second look gives, and why there was none where it failed. `None` where nothing
    /// looks again, or not at such a question: a name is found by its letters. May take seconds.
    pub fn search_twice(&self, query: &Query) -> Option<(Answer, Option<String>)> {
        let look = self.0.0.options.second_look.as_ref()?;
        let is_name = Traits::of(&query.text).symbol.is_some();
        if query.means != Means::Fused || is_name {
            return None;
        }
        let chosen = look.encoder().transpose()?;
        let wide = Query {
            limit: query.limit.max(LOOKED_AT),
            ..query.clone()
        };
        let mut answer = self.search(&wide);
        let rest = answer.hits.split_off(answer.hits.len().min(LOOKED_AT));
        let first = answer.hits.clone();
        let ordered = chosen.and_then(|encoder| look.order(&*encoder, &query.text, first));
        let failed = match ordered {
            Ok(hits) => {
                answer.hits = hits;
                None
            }
            Err(sentence) => Some(sentence),
        };
        answer.hits.extend(rest);
        answer.hits.truncate(query.limit);
        Some((answer, failed))
    }

    /// As `search`, with other weights.
    pub fn search_weighted(&self, query: &Query, weights: &Weights) -> Answer {
        self.0.0.search(query, weights)
    }

    /// Definitions of this name, else of names that begin so, else of those that are like it. `Type::name` and
    /// `Type.name` ask for what lies in a type.
    pub fn symbols(&self, name: &str, limit: usize) -> Vec<Hit> {
        self.0.0.symbols(name, limit)
    }

    /// What lets text search pass over files; `None` until everything is in, and where it was not asked for.
    pub fn sieve(&self) -> Option<Arc<dyn project::search::Sieve>> {
        let sieve = self.0.0.sieve.get()?;
        Some(Arc::new(sieve.trigrams.clone()))
    }

    /// Waits until everything that was said so far is in, and on the disk. Returns at once while paused.
    pub fn settle(&self) {
        self.0.0.settle();
    }

    /// Waits until the thread has nothing left to do, as before a program ends that asked a question or two: words that
    /// are in are also written so that the next one finds them quickly. Returns at once while paused.
    pub fn rest(&self) {
        self.0.0.rest();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        {
            // Not between the thread's look at it and its wait.
            let _queue = self.0.queue();
            self.0.is_ended.store(true, Ordering::Relaxed);
        }
        self.0.wake.notify_all();
    }
}

/// The folder for what is kept of one root alone, as the index of trigrams is. `folder` is that of the options.
pub fn root_folder(folder: &AbsPath, root: &AbsPath) -> AbsPath {
    crate::ground::folder_for(&folder.join("roots"), root)
}

/// The folder of a root's index of trigrams. `folder` is that of the options.
pub fn trigram_folder(folder: &AbsPath, root: &AbsPath) -> AbsPath {
    root_folder(folder, root).join("trigram")
}

/// A path relative to the root.
pub(crate) fn relative(path: &str, below: &str) -> PathBuf {
    PathBuf::from(path.strip_prefix(below).unwrap_or(path))
}

#[cfg(test)]
mod churn;
#[cfg(test)]
mod tests;
