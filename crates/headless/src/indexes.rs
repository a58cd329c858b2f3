//! The indexes that agents query: one for each root, opened on the first query, with one store per
//! repository.
//!
//! Nothing watches for changes: each query first updates the index, so that an agent finds the
//! files it wrote.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::services::{Buffers, CodeMatch, CodeSearch};
use base::AbsPath;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use host::Dirs;
use index::trigram::Trigrams;
use index::{Index, IndexOptions, IndexQuery, SearchHit, TextSearch};
use project::search::Prefilter;

use crate::reranker;

/// The maximum wait of a query for missing index data. Afterwards the query uses what is there.
const MAX_INDEX_WAIT: Duration = Duration::from_secs(5);
/// The maximum number of open indexes; the least recently used one is closed.
const MAX_OPEN_INDEXES: usize = 16;

/// Search by meaning for every session of a program.
pub(crate) struct Indexes {
    options: IndexOptions,
    buffers: Option<Arc<dyn Buffers>>,
    /// Sorted by last use, the most recent last.
    open: Mutex<Vec<OpenIndex>>,
}

#[derive(Clone)]
struct OpenIndex {
    index: Index,
    /// Files whose unsaved text the index has.
    unsaved: Arc<Mutex<Vec<AbsPath>>>,
}

impl Indexes {
    pub(crate) fn new(dirs: &Dirs, buffers: Option<Arc<dyn Buffers>>) -> Arc<Self> {
        Arc::new(Self {
            options: IndexOptions {
                text_search: TextSearch::Unindexed,
                reranker: Some(reranker(dirs)),
                ..IndexOptions::kept_in(&dirs.cache)
            },
            buffers,
            open: Mutex::default(),
        })
    }

    fn of(&self, root: &AbsPath) -> OpenIndex {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().position(|opened| opened.index.root() == root);
        let opened = match at {
            Some(at) => open.remove(at),
            None => OpenIndex {
                index: Index::open(root.clone(), self.options.clone()),
                unsaved: Arc::default(),
            },
        };
        open.push(opened.clone());
        if open.len() > MAX_OPEN_INDEXES {
            open.remove(0);
        }
        opened
    }

    /// Returns the index of a root, updated as far as possible in time.
    async fn fresh(&self, root: &AbsPath) -> Index {
        let opened = self.of(root);
        if let Some(buffers) = &self.buffers {
            opened.take_unsaved(buffers.as_ref());
        }
        opened.index.refresh();
        let index = opened.index.clone();
        let settled = tokio::task::spawn_blocking(move || index.wait_until_synced());
        // An update that takes longer continues in the background.
        tokio::time::timeout(MAX_INDEX_WAIT, settled).await.ok();
        opened.index
    }

    async fn ask(
        &self,
        root: &AbsPath,
        ask: impl FnOnce(&Index) -> Vec<SearchHit> + Send + 'static,
    ) -> Result<Vec<CodeMatch>, String> {
        let index = self.fresh(root).await;
        let hits = tokio::task::spawn_blocking(move || ask(&index)).await;
        let hits = hits.map_err(|error| format!("the search broke off: {error}"))?;
        Ok(hits.into_iter().map(code_match).collect())
    }
}

impl OpenIndex {
    fn take_unsaved(&self, buffers: &dyn Buffers) {
        let mut known = self.unsaved.lock().unwrap_or_else(PoisonError::into_inner);
        let now = buffers.unsaved();
        for path in known.iter().filter(|path| !now.contains(path)) {
            self.index.set_unsaved(path.clone(), None);
        }
        for path in &now {
            let text = buffers.text(path);
            let text = text.map(|text| text::Buffer::new(&text).snapshot());
            self.index.set_unsaved(path.clone(), text);
        }
        *known = now;
    }
}

/// Search by meaning, shared.
pub(crate) struct SharedIndexes(pub(crate) Arc<Indexes>);

impl CodeSearch for SharedIndexes {
    fn by_meaning(
        &self,
        root: &AbsPath,
        question: String,
        folder: Option<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<CodeMatch>, agent::Error>> {
        let (indexes, root) = (self.0.clone(), root.clone());
        async move {
            let query = IndexQuery {
                folder: folder.map(Into::into),
                ..IndexQuery::new(question, limit)
            };
            let ask = move |index: &Index| {
                let twice = index.search_reranked(&query);
                let (answer, failed) = twice.unwrap_or_else(|| (index.search(&query), None));
                if let Some(sentence) = failed {
                    log::warn!("no second look: {sentence}");
                }
                answer.hits
            };
            let found = indexes.ask(&root, ask).await;
            found.map_err(agent::Error::SearchFailed)
        }
        .boxed()
    }

    fn symbols(
        &self,
        root: &AbsPath,
        name: String,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<CodeMatch>, agent::Error>> {
        let (indexes, root) = (self.0.clone(), root.clone());
        async move {
            let found = indexes.ask(&root, move |index| index.symbols(&name, limit));
            found.await.map_err(agent::Error::SearchFailed)
        }
        .boxed()
    }

    fn prefilter(&self, root: &AbsPath) -> Option<Arc<dyn Prefilter>> {
        let folder = self.0.options.folder.as_ref()?;
        let store = index::trigram_folder(folder, root);
        let trigrams = Trigrams::open_kept(root.clone(), store)?;
        Some(Arc::new(trigrams))
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
