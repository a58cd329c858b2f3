//! Interface between the window and a folder's index. The application passes the constructor,
//! [`OpenIndex`], at startup.

use std::sync::Arc;

use async_channel::Receiver;
use base::AbsPath;
use index::{IndexQuery, IndexStatus, SearchAnswer, SearchHit};
use project::search::Prefilter;
use text::Snapshot;

/// The index of one folder. No method waits for the disk.
pub trait CodeIndex: Send + Sync {
    /// Returns progress, size and problems of the index, as of now.
    fn status(&self) -> IndexStatus;
    /// Returns a channel that receives a message whenever the status changes. The channel closes
    /// when the index is dropped.
    fn changed(&self) -> Receiver<()>;
    /// Pauses or resumes indexing; search keeps working on what is already indexed.
    fn set_paused(&self, is_paused: bool);
    /// Reports paths that may have been created, changed or deleted on disk. The index reads them
    /// again in the background.
    fn touch(&self, paths: Vec<AbsPath>);
    /// Reports that anything may have changed on disk.
    fn refresh(&self);
    /// Returns the prefilter that lets text search skip files that cannot match, once it is built.
    fn prefilter(&self) -> Option<Arc<dyn Prefilter>>;
    /// Passes an open text that is newer than its file; `None` when the file is current again.
    fn set_unsaved(&self, path: AbsPath, text: Option<Snapshot>);
    /// Searches the current state of the index and returns the best matches for a query, best
    /// first. Takes about a millisecond: call it in the background.
    fn search(&self, query: &IndexQuery) -> SearchAnswer;
    /// Returns the results of `search` in reranked order, with the cause if reranking failed.
    /// `None` if no reranker is configured. May take seconds.
    fn search_twice(&self, query: &IndexQuery) -> Option<(SearchAnswer, Option<String>)>;
    /// Returns at most `limit` definitions of symbols with this name. Returns an empty list if
    /// there are no such symbols.
    fn symbols(&self, name: &str, limit: usize) -> Vec<SearchHit>;
}

impl CodeIndex for index::Index {
    fn status(&self) -> IndexStatus {
        self.status()
    }

    fn changed(&self) -> Receiver<()> {
        self.changed()
    }

    fn set_paused(&self, is_paused: bool) {
        self.set_paused(is_paused);
    }

    fn touch(&self, paths: Vec<AbsPath>) {
        self.touch(paths);
    }

    fn refresh(&self) {
        self.refresh();
    }

    fn prefilter(&self) -> Option<Arc<dyn Prefilter>> {
        self.prefilter()
    }

    fn set_unsaved(&self, path: AbsPath, text: Option<Snapshot>) {
        self.set_unsaved(path, text);
    }

    fn search(&self, query: &IndexQuery) -> SearchAnswer {
        self.search(query)
    }

    fn search_twice(&self, query: &IndexQuery) -> Option<(SearchAnswer, Option<String>)> {
        let (answer, failed) = self.search_reranked(query)?;
        Some((answer, failed.map(|error| error.to_string())))
    }

    fn symbols(&self, name: &str, limit: usize) -> Vec<SearchHit> {
        self.symbols(name, limit)
    }
}

/// Constructor for the index of a folder.
pub type OpenIndex = Arc<dyn Fn(AbsPath) -> Arc<dyn CodeIndex> + Send + Sync>;
