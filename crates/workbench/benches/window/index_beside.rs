//! The index of the project, with the progress of one that is still built.
//!
//! The index itself is real and follows the typed text. The large folder is indexed by another process, whose CPU time is
//! not that of the window.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_channel::{Receiver, Sender};
use base::AbsPath;
use index::{Index, IndexOptions, IndexPhase, IndexQuery, IndexStatus, SearchAnswer, SearchHit};
use project::search::Prefilter;
use text::Snapshot;
use workbench::CodeIndex;

/// Number of files of the folder that the progress is about.
const FILES: usize = 10_000;

pub(crate) struct IndexBeside {
    index: Index,
    done: AtomicUsize,
    tick: Sender<()>,
    ticks: Receiver<()>,
}

impl IndexBeside {
    /// Opens the index of a folder and waits until it is complete.
    pub(crate) fn open(root: AbsPath, cache: &AbsPath) -> Arc<Self> {
        let index = Index::open(root, IndexOptions::kept_in(cache));
        index.wait_until_idle();
        // A full channel holds a tick already.
        let (tick, ticks) = async_channel::bounded(1);
        Arc::new(Self {
            index,
            done: AtomicUsize::new(FILES / 10),
            tick,
            ticks,
        })
    }

    /// Reports progress.
    pub(crate) fn go_on(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        // The receiver reads the status whatever the number of ticks.
        self.tick.try_send(()).ok();
    }

    /// Waits until everything that the window reported is indexed.
    pub(crate) fn settle(&self) {
        self.index.wait_until_idle();
    }
}

impl CodeIndex for IndexBeside {
    fn status(&self) -> IndexStatus {
        IndexStatus {
            phase: IndexPhase::Embedding,
            done: self.done.load(Ordering::Relaxed),
            files: FILES,
            ..self.index.status()
        }
    }

    fn changed(&self) -> Receiver<()> {
        self.ticks.clone()
    }

    fn set_paused(&self, is_paused: bool) {
        self.index.set_paused(is_paused);
    }

    fn touch(&self, paths: Vec<AbsPath>) {
        self.index.touch(paths);
    }

    fn refresh(&self) {
        self.index.refresh();
    }

    fn prefilter(&self) -> Option<Arc<dyn Prefilter>> {
        self.index.prefilter()
    }

    fn set_unsaved(&self, path: AbsPath, text: Option<Snapshot>) {
        self.index.set_unsaved(path, text);
    }

    fn search(&self, query: &IndexQuery) -> SearchAnswer {
        self.index.search(query)
    }

    fn search_twice(&self, _: &IndexQuery) -> Option<(SearchAnswer, Option<String>)> {
        None
    }

    fn symbols(&self, name: &str, limit: usize) -> Vec<SearchHit> {
        self.index.symbols(name, limit)
    }
}
