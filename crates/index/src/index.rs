//! The live index of one root: a background thread keeps it up to date, and queries are answered at
//! once.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};

use async_channel::Receiver;
use base::AbsPath;

use crate::hit::{SearchAnswer, SearchHit};
use crate::options::IndexOptions;
use crate::query::{IndexQuery, QueryMode, QueryTraits};
use crate::rank::RankWeights;
use crate::rerank::{RERANK_HITS, RerankError};
use crate::state::IndexState;
use crate::status::IndexStatus;
use crate::worker;

/// The semantic and lexical index of one root. A thread keeps it up to date. Cheap to clone;
/// dropping the last clone ends the thread.
#[derive(Clone)]
pub struct Index(Arc<IndexHandle>);

/// A weak reference to an index, which does not keep the index open.
#[derive(Clone)]
pub struct WeakIndex(Weak<IndexHandle>);

struct IndexHandle(Arc<IndexState>);

impl WeakIndex {
    /// Returns the index, or `None` once its last handle is dropped.
    pub fn upgrade(&self) -> Option<Index> {
        self.0.upgrade().map(Index)
    }
}

impl Index {
    /// Starts indexing `root`, a real path without links, on a new thread. Returns at once. A
    /// failure appears in the status as `IndexPhase::Off`.
    pub fn open(root: AbsPath, options: IndexOptions) -> Self {
        let shared = Arc::new(IndexState::new(root, options));
        worker::start(shared.clone());
        Self(Arc::new(IndexHandle(shared)))
    }

    /// Returns a handle that does not keep the index open.
    pub fn downgrade(&self) -> WeakIndex {
        WeakIndex(Arc::downgrade(&self.0))
    }

    /// Maintains the trigram index for text search from now on, as `TextSearch::Indexed` does.
    /// Returns at once.
    pub fn keep_trigrams(&self) {
        if !self.0.0.keeps_trigrams.swap(true, Ordering::Relaxed) {
            self.0.0.enqueue(|queue| queue.wants_trigrams = true);
        }
    }

    /// Returns the indexed folder.
    pub fn root(&self) -> &AbsPath {
        &self.0.0.root
    }

    /// Returns the progress. Never blocks.
    pub fn status(&self) -> IndexStatus {
        let status = self.0.0.status.lock();
        status.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a channel that receives a tick when the status changed. Unreceived ticks are merged
    /// into one. Only one receiver gets each tick.
    pub fn changed(&self) -> Receiver<()> {
        self.0.0.ticks.1.clone()
    }

    /// Pauses indexing before the next file, or resumes it. Indexed files can be searched even
    /// while paused.
    pub fn set_paused(&self, is_paused: bool) {
        self.0.0.set_paused(is_paused);
    }

    /// Reports that files or folders may have been changed, created or removed, so that the thread
    /// checks them. Returns at once.
    pub fn touch(&self, paths: Vec<AbsPath>) {
        if let Some(updater) = self.0.0.trigram_updater.get() {
            updater.touch(&paths);
        }
        self.0.0.enqueue(|queue| queue.touched.extend(paths));
    }

    /// Reports that everything may have changed, for example after events were lost, so that the
    /// thread checks all files. Returns at once.
    pub fn refresh(&self) {
        if let Some(updater) = self.0.0.trigram_updater.get() {
            updater.refresh();
        }
        self.0.0.enqueue(|queue| queue.wants_walk = true);
    }

    /// Sets the unsaved text of an open file; `None` restores the content on disk. Returns at once;
    /// the thread indexes the text.
    pub fn set_unsaved(&self, path: AbsPath, text: Option<text::Snapshot>) {
        self.0.0.enqueue(|queue| {
            queue.unsaved.retain(|(known, _)| *known != path);
            queue.unsaved.push((path, text));
        });
    }

    /// Searches the current state of the index and returns the best chunks for a query; see
    /// `SearchAnswer::is_complete`. Reads the files of the returned chunks, so do not call this on
    /// the UI thread.
    pub fn search(&self, query: &IndexQuery) -> SearchAnswer {
        self.0.0.search(query, &self.0.0.options.weights)
    }

    /// Like `search`, but in the order of the reranker, with the error if that failed. Returns
    /// `None` without a reranker, and for queries that are a symbol's name, which is matched
    /// literally. May take seconds.
    pub fn search_reranked(
        &self,
        query: &IndexQuery,
    ) -> Option<(SearchAnswer, Option<RerankError>)> {
        let reranker = self.0.0.options.reranker.as_ref()?;
        let is_name = QueryTraits::of(&query.text).symbol.is_some();
        if query.mode != QueryMode::Fused || is_name {
            return None;
        }
        let encoder = reranker.encoder().transpose()?;
        let wide = IndexQuery {
            limit: query.limit.max(RERANK_HITS),
            ..query.clone()
        };
        let mut answer = self.search(&wide);
        let rest = answer.hits.split_off(answer.hits.len().min(RERANK_HITS));
        let first = answer.hits.clone();
        let ordered = encoder.and_then(|encoder| reranker.order(&*encoder, &query.text, first));
        let failed = match ordered {
            Ok(hits) => {
                answer.hits = hits;
                None
            }
            Err(error) => Some(error),
        };
        answer.hits.extend(rest);
        answer.hits.truncate(query.limit);
        Some((answer, failed))
    }

    /// Searches like `search`, with `weights` instead of the weights in the options.
    pub fn search_weighted(&self, query: &IndexQuery, weights: &RankWeights) -> SearchAnswer {
        self.0.0.search(query, weights)
    }

    /// Returns the definitions with this name, else those whose names begin with it, else those
    /// with similar names. `Type::name` and `Type.name` search inside a type. The list holds at
    /// most `limit` definitions, best first, and is empty until the index is open.
    pub fn symbols(&self, name: &str, limit: usize) -> Vec<SearchHit> {
        self.0.0.symbols(name, limit)
    }

    /// Returns the prefilter for text search; `None` until the index is complete, and if it was not
    /// requested.
    pub fn prefilter(&self) -> Option<Arc<dyn project::search::Prefilter>> {
        Some(self.0.0.trigram_updater.get()?.prefilter())
    }

    /// Blocks until everything reported so far is indexed and on disk. Returns at once if indexing
    /// is paused or the thread has ended.
    pub fn wait_until_synced(&self) {
        self.0.0.wait_until_synced();
    }

    /// Waits until the thread is idle, for example before a short-lived program exits: the words
    /// are then also written so that the next program finds them quickly. Returns at once while
    /// paused.
    pub fn wait_until_idle(&self) {
        self.0.0.wait_until_idle();
    }
}

impl Drop for IndexHandle {
    fn drop(&mut self) {
        {
            // Taken so that the flag cannot be set between the thread's check and its wait.
            let _queue = self.0.queue();
            self.0.is_ended.store(true, Ordering::Relaxed);
        }
        self.0.wake.notify_all();
    }
}

#[cfg(test)]
mod churn;
#[cfg(test)]
mod tests;
