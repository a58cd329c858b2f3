//! The indexes of a program: one for each root, shared by windows, agents and commands.
//!
//! An index is open as long as someone holds it; the roots that agents searched last are held here.
//! Invariant: a process has at most one index of a root.
//! Start at `IndexRegistry`; `AgentSearch` answers the queries of agents.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::services::{Buffers, CodeMatch, CodeSearch};
use base::AbsPath;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use host::Dirs;
use index::trigram::Trigrams;
use index::{Index, IndexOptions, IndexQuery, SearchHit, TextSearch, WeakIndex};
use project::search::Prefilter;

use crate::Error;
use crate::rerank::reranker;

/// The maximum wait of a query for missing index data. Afterwards the query uses what is there.
const MAX_INDEX_WAIT: Duration = Duration::from_secs(5);
/// The maximum number of indexes that are held for agents; the least recently used one is dropped.
const MAX_RECENT: usize = 16;

/// The indexes of a program, by root.
pub struct IndexRegistry {
    options: IndexOptions,
    indexes: Mutex<OpenIndexes>,
}

#[derive(Default)]
struct OpenIndexes {
    by_root: HashMap<AbsPath, WeakIndex>,
    /// Sorted by last use, the most recent last.
    recent: Vec<Index>,
}

impl IndexRegistry {
    /// Creates the registry of a program; the indexes are stored in its cache folder.
    pub fn new(dirs: &Dirs) -> Arc<Self> {
        Arc::new(Self {
            options: IndexOptions {
                text_search: TextSearch::Unindexed,
                reranker: Some(reranker(dirs)),
                ..IndexOptions::kept_in(&dirs.cache)
            },
            indexes: Mutex::default(),
        })
    }

    /// Returns the index of `root`, which must be a real path without links. Opens the index if it
    /// is not open yet. Indexing runs in the background.
    pub fn open(&self, root: &AbsPath) -> Index {
        self.indexes().open(root, &self.options)
    }

    /// Returns the index of a folder that a window shows, which is also prepared for text search.
    pub fn open_for_window(&self, root: &AbsPath) -> Index {
        let index = self.open(root);
        index.keep_trigrams();
        index
    }

    /// Returns the index of a root, and holds it among the recent ones.
    fn open_recent(&self, root: &AbsPath) -> Index {
        let mut indexes = self.indexes();
        let index = indexes.open(root, &self.options);
        indexes.recent.retain(|recent| recent.root() != root);
        indexes.recent.push(index.clone());
        if indexes.recent.len() > MAX_RECENT {
            indexes.recent.remove(0);
        }
        index
    }

    /// Returns the prefilter for text search below a root: that of the open index, else the stored
    /// one. Returns `None` if neither exists.
    fn prefilter(&self, root: &AbsPath) -> Option<Arc<dyn Prefilter>> {
        let open = self.indexes().running(root);
        if let Some(prefilter) = open.and_then(|index| index.prefilter()) {
            return Some(prefilter);
        }
        let store = index::trigram_folder(self.options.folder.as_ref()?, root);
        let trigrams = Trigrams::open_kept(root.clone(), store)?;
        Some(Arc::new(trigrams))
    }

    fn indexes(&self) -> MutexGuard<'_, OpenIndexes> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenIndexes {
    /// Returns the open index of a root; `None` if it was never opened or is not held any more.
    fn running(&self, root: &AbsPath) -> Option<Index> {
        self.by_root.get(root)?.upgrade()
    }

    fn open(&mut self, root: &AbsPath, options: &IndexOptions) -> Index {
        if let Some(index) = self.running(root) {
            return index;
        }
        let index = Index::open(root.clone(), options.clone());
        self.by_root.retain(|_, known| known.upgrade().is_some());
        self.by_root.insert(root.clone(), index.downgrade());
        index
    }
}

/// Search by meaning for every session of a program.
///
/// A session's folder may change without notice: each query first updates the index, so that an
/// agent finds the files that it wrote, and the texts that are unsaved in the windows.
#[derive(Clone)]
pub(crate) struct AgentSearch(Arc<AgentSearchShared>);

struct AgentSearchShared {
    indexes: Arc<IndexRegistry>,
    buffers: Option<Arc<dyn Buffers>>,
    /// The files whose unsaved text an index has, by root.
    unsaved: Mutex<HashMap<AbsPath, Vec<AbsPath>>>,
}

impl AgentSearch {
    /// Creates the search over these indexes. `buffers` provides the unsaved texts of windows, if
    /// the program has windows.
    pub(crate) fn new(indexes: Arc<IndexRegistry>, buffers: Option<Arc<dyn Buffers>>) -> Self {
        Self(Arc::new(AgentSearchShared {
            indexes,
            buffers,
            unsaved: Mutex::default(),
        }))
    }

    /// Returns the index of a root, updated as far as possible in time.
    async fn updated_index(&self, root: &AbsPath) -> Index {
        let index = self.0.indexes.open_recent(root);
        if let Some(buffers) = &self.0.buffers {
            self.0.update_unsaved(&index, buffers.as_ref());
        }
        index.refresh();
        let waiting = index.clone();
        let settled = tokio::task::spawn_blocking(move || waiting.wait_until_synced());
        // An update that takes longer continues in the background.
        tokio::time::timeout(MAX_INDEX_WAIT, settled).await.ok();
        index
    }

    /// Searches the index of a root, updated as far as possible in time, on a thread where `search`
    /// may block. Returns an error if `search` panics.
    async fn matches(
        &self,
        root: &AbsPath,
        search: impl FnOnce(&Index) -> Vec<SearchHit> + Send + 'static,
    ) -> Result<Vec<CodeMatch>, Error> {
        let index = self.updated_index(root).await;
        let hits = tokio::task::spawn_blocking(move || search(&index)).await;
        let hits = hits.map_err(Error::interrupted("the search broke off"))?;
        Ok(hits.into_iter().map(code_match).collect())
    }
}

impl AgentSearchShared {
    /// Passes the unsaved texts to an index, and removes those that are saved by now.
    fn update_unsaved(&self, index: &Index, buffers: &dyn Buffers) {
        let mut unsaved = self.unsaved.lock().unwrap_or_else(PoisonError::into_inner);
        let known = unsaved.entry(index.root().clone()).or_default();
        let now = buffers.unsaved();
        for path in known.iter().filter(|path| !now.contains(path)) {
            index.set_unsaved(path.clone(), None);
        }
        for path in &now {
            let text = buffers.text(path);
            let text = text.map(|text| text::Buffer::new(&text).snapshot());
            index.set_unsaved(path.clone(), text);
        }
        *known = now;
    }
}

impl CodeSearch for AgentSearch {
    fn by_meaning(
        &self,
        root: &AbsPath,
        question: String,
        folder: Option<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<CodeMatch>, agent::Error>> {
        let (search, root) = (self.clone(), root.clone());
        async move {
            let query = IndexQuery {
                folder: folder.map(Into::into),
                ..IndexQuery::new(question, limit)
            };
            let reranked = move |index: &Index| {
                let twice = index.search_reranked(&query);
                let (answer, failed) = twice.unwrap_or_else(|| (index.search(&query), None));
                if let Some(sentence) = failed {
                    log::warn!("not reranked: {sentence}");
                }
                answer.hits
            };
            let matches = search.matches(&root, reranked).await;
            matches.map_err(|error| agent::Error::SearchFailed(error.to_string()))
        }
        .boxed()
    }

    fn symbols(
        &self,
        root: &AbsPath,
        name: String,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<CodeMatch>, agent::Error>> {
        let (search, root) = (self.clone(), root.clone());
        async move {
            let matches = search.matches(&root, move |index| index.symbols(&name, limit));
            let matches = matches.await;
            matches.map_err(|error| agent::Error::SearchFailed(error.to_string()))
        }
        .boxed()
    }

    fn prefilter(&self, root: &AbsPath) -> Option<Arc<dyn Prefilter>> {
        self.0.indexes.prefilter(root)
    }
}

fn code_match(hit: SearchHit) -> CodeMatch {
    CodeMatch {
        path: hit.path.to_string_lossy().into_owned(),
        lines: (hit.rows.start + 1, hit.rows.end.max(hit.rows.start + 1)),
        symbol: hit.symbol,
        text: hit.text,
        score: hit.score,
    }
}

#[cfg(test)]
mod tests;
