//! The indexes that agents ask: one for each root, opened when it is first asked, over one store for a repository.
//!
//! Nothing watches here: each question has the index look at what changed first, so that an agent finds what it wrote.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::sources::{Buffers, CodeSearch, Place};
use base::AbsPath;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use host::Dirs;
use index::trigram::Trigrams;
use index::{Hit, Index, Options, Query, TextSearch};
use project::search::Sieve;

use crate::second_look;

/// How long a question waits for what is not in yet. What there is then is the answer.
const MOST_WAITED: Duration = Duration::from_secs(5);
/// Roots whose indexes stay open; the one that was asked longest ago is closed.
const MOST_OPEN: usize = 16;

/// Search by meaning for every session of a program.
pub(crate) struct Indexes {
    options: Options,
    buffers: Option<Arc<dyn Buffers>>,
    /// Those asked last stand last.
    open: Mutex<Vec<Opened>>,
}

#[derive(Clone)]
struct Opened {
    index: Index,
    /// Files whose unsaved text it was given.
    unsaved: Arc<Mutex<Vec<AbsPath>>>,
}

impl Indexes {
    pub(crate) fn new(dirs: &Dirs, buffers: Option<Arc<dyn Buffers>>) -> Arc<Self> {
        Arc::new(Self {
            options: Options {
                text_search: TextSearch::Plain,
                second_look: Some(second_look(dirs)),
                ..Options::kept_in(&dirs.cache)
            },
            buffers,
            open: Mutex::default(),
        })
    }

    fn of(&self, root: &AbsPath) -> Opened {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().position(|opened| opened.index.root() == root);
        let opened = match at {
            Some(at) => open.remove(at),
            None => Opened {
                index: Index::open(root.clone(), self.options.clone()),
                unsaved: Arc::default(),
            },
        };
        open.push(opened.clone());
        if open.len() > MOST_OPEN {
            open.remove(0);
        }
        opened
    }

    /// The index of a root with what changed in it, as far as that can be had in time.
    async fn fresh(&self, root: &AbsPath) -> Index {
        let opened = self.of(root);
        if let Some(buffers) = &self.buffers {
            opened.take_unsaved(buffers.as_ref());
        }
        opened.index.refresh();
        let index = opened.index.clone();
        let settled = tokio::task::spawn_blocking(move || index.settle());
        // One that takes longer goes on by itself.
        tokio::time::timeout(MOST_WAITED, settled).await.ok();
        opened.index
    }

    async fn ask(
        &self,
        root: &AbsPath,
        ask: impl FnOnce(&Index) -> Vec<Hit> + Send + 'static,
    ) -> Result<Vec<Place>, String> {
        let index = self.fresh(root).await;
        let hits = tokio::task::spawn_blocking(move || ask(&index)).await;
        let hits = hits.map_err(|error| format!("the search broke off: {error}"))?;
        Ok(hits.into_iter().map(place).collect())
    }
}

impl Opened {
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
pub(crate) struct Shared(pub(crate) Arc<Indexes>);

impl CodeSearch for Shared {
    fn by_meaning(
        &self,
        root: &AbsPath,
        question: String,
        folder: Option<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<Place>, String>> {
        let (indexes, root) = (self.0.clone(), root.clone());
        async move {
            let query = Query {
                folder: folder.map(Into::into),
                ..Query::new(question, limit)
            };
            let ask = move |index: &Index| {
                let twice = index.search_twice(&query);
                let (answer, failed) = twice.unwrap_or_else(|| (index.search(&query), None));
                if let Some(sentence) = failed {
                    log::warn!("no second look: {sentence}");
                }
                answer.hits
            };
            indexes.ask(&root, ask).await
        }
        .boxed()
    }

    fn symbols(
        &self,
        root: &AbsPath,
        name: String,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<Place>, String>> {
        let (indexes, root) = (self.0.clone(), root.clone());
        async move {
            indexes
                .ask(&root, move |index| index.symbols(&name, limit))
                .await
        }
        .boxed()
    }

    fn sieve(&self, root: &AbsPath) -> Option<Arc<dyn Sieve>> {
        let folder = self.0.options.folder.as_ref()?;
        let store = index::trigram_folder(folder, root);
        let trigrams = Trigrams::open_kept(root.clone(), store)?;
        Some(Arc::new(trigrams))
    }
}

fn place(hit: Hit) -> Place {
    Place {
        path: hit.path.to_string_lossy().into_owned(),
        lines: (hit.rows.start + 1, hit.rows.end.max(hit.rows.start + 1)),
        symbol: hit.symbol,
        text: hit.text,
        score: hit.score,
    }
}
