//! The state shared by the indexing thread and by queries.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use async_channel::{Receiver, Sender};
use base::AbsPath;
use trigram::TrigramUpdater;

use crate::embedding::EmbeddingTable;
use crate::options::{IndexOptions, TextSearch};
use crate::repo_layout::RepoLayout;
use crate::rough::RoughIndex;
use crate::status::{IndexPhase, IndexStatus};
use crate::store::ChunkStore;
use crate::view::WorktreeView;

/// The state of an index, shared by its handles and its thread.
pub(crate) struct IndexState {
    pub(crate) root: AbsPath,
    pub(crate) options: IndexOptions,
    pub(crate) table: OnceLock<EmbeddingTable>,
    pub(crate) store: OnceLock<(RepoLayout, Arc<ChunkStore>)>,
    pub(crate) view: RwLock<WorktreeView>,
    /// Words of files that are not indexed yet.
    pub(crate) rough: RwLock<Vec<Arc<RoughIndex>>>,
    /// Unsaved texts, to show hits in.
    pub(crate) texts: RwLock<HashMap<Arc<str>, text::Snapshot>>,
    pub(crate) status: Mutex<IndexStatus>,
    pub(crate) ticks: (Sender<()>, Receiver<()>),
    pub(crate) queue: Mutex<WorkQueue>,
    pub(crate) wake: Condvar,
    /// Whether a trigram index is maintained once the index is complete.
    pub(crate) keeps_trigrams: AtomicBool,
    /// Maintains the trigram index, started once the index is complete.
    pub(crate) trigram_updater: OnceLock<TrigramUpdater>,
    pub(crate) is_paused: AtomicBool,
    pub(crate) is_ended: AtomicBool,
}

/// The pending work of the indexing thread.
#[derive(Default)]
pub(crate) struct WorkQueue {
    /// Whether a full pass is requested.
    pub(crate) wants_walk: bool,
    /// Whether a trigram index was requested after the start.
    pub(crate) wants_trigrams: bool,
    pub(crate) touched: Vec<AbsPath>,
    /// The newest unsaved text of each path, in the order of the requests: two paths can be spellings
    /// of one file.
    pub(crate) unsaved: Vec<(AbsPath, Option<text::Snapshot>)>,
    /// The number of requests made, and of those completed.
    pub(crate) asked: u64,
    pub(crate) done: u64,
    /// Whether the thread is waiting for work.
    pub(crate) is_idle: bool,
}

impl WorkQueue {
    /// Returns whether no work is queued.
    pub(crate) fn is_empty(&self) -> bool {
        !self.wants_walk
            && !self.wants_trigrams
            && self.touched.is_empty()
            && self.unsaved.is_empty()
    }
}

impl IndexState {
    /// Creates the state of an index before its thread starts. Does not open the store or index
    /// files.
    pub(crate) fn new(root: AbsPath, options: IndexOptions) -> Self {
        let mut status = IndexStatus::new();
        status.is_paused = options.is_paused;
        Self {
            is_paused: AtomicBool::new(options.is_paused),
            keeps_trigrams: AtomicBool::new(options.text_search == TextSearch::Indexed),
            root,
            options,
            table: OnceLock::new(),
            store: OnceLock::new(),
            view: RwLock::default(),
            rough: RwLock::default(),
            texts: RwLock::default(),
            status: Mutex::new(status),
            // One waiting tick is enough to announce any number of changes.
            ticks: async_channel::bounded(1),
            queue: Mutex::new(WorkQueue {
                wants_walk: true,
                asked: 1,
                ..WorkQueue::default()
            }),
            wake: Condvar::new(),
            trigram_updater: OnceLock::new(),
            is_ended: AtomicBool::new(false),
        }
    }

    /// Locks the queue of the indexing thread.
    pub(crate) fn queue(&self) -> MutexGuard<'_, WorkQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work to the queue by `add` and wakes the indexing thread.
    pub(crate) fn enqueue(&self, add: impl FnOnce(&mut WorkQueue)) {
        let mut queue = self.queue();
        add(&mut queue);
        queue.asked += 1;
        drop(queue);
        self.wake.notify_all();
    }

    /// Changes the status and sends a tick.
    pub(crate) fn update_status(&self, change: impl FnOnce(&mut IndexStatus)) {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut status);
        drop(status);
        // A full channel holds a tick already; it is never closed.
        self.ticks.0.try_send(()).ok();
    }

    /// Pauses or resumes the indexing thread, and updates the status.
    pub(crate) fn set_paused(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Relaxed);
        self.update_status(|status| status.is_paused = is_paused);
        // Taking the lock keeps the thread from missing the change between its check and its wait.
        drop(self.queue());
        self.wake.notify_all();
    }

    /// Blocks while the index is paused. Returns whether to continue, which is `false` once the
    /// index is closed.
    pub(crate) fn wait_while_paused(&self) -> bool {
        if self.is_paused.load(Ordering::Relaxed) {
            let mut queue = self.queue();
            while self.is_paused.load(Ordering::Relaxed) && !self.is_ended.load(Ordering::Relaxed) {
                queue = self
                    .wake
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
        !self.is_ended.load(Ordering::Relaxed)
    }

    /// Blocks until all earlier requests are completed. Returns at once if indexing is paused.
    pub(crate) fn wait_until_synced(&self) {
        let asked = self.queue().asked;
        self.wait_while(|queue| queue.done < asked);
    }

    /// Blocks until all earlier requests are completed and the thread waits for work. Returns at
    /// once if indexing is paused.
    pub(crate) fn wait_until_idle(&self) {
        let asked = self.queue().asked;
        self.wait_while(|queue| queue.done < asked || queue.done != u64::MAX && !queue.is_idle);
    }

    /// Waits while the condition holds. Returns at once while paused.
    fn wait_while(&self, is_so: impl Fn(&WorkQueue) -> bool) {
        let waits = |queue: &WorkQueue| is_so(queue) && !self.is_paused.load(Ordering::Relaxed);
        let mut queue = self.queue();
        while waits(&queue) {
            queue = self
                .wake
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns whether every file is indexed.
    pub(crate) fn is_complete(&self) -> bool {
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.phase == IndexPhase::Ready
    }
}
