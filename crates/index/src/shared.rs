//! What the thread of an index and those who ask have in common.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use async_channel::{Receiver, Sender};
use base::AbsPath;

use crate::ground::Ground;
use crate::index::Options;
use crate::rough::Rough;
use crate::sieve::Sieve;
use crate::status::{Phase, Status};
use crate::store::Store;
use crate::table::Table;
use crate::view::View;

/// The state of an index.
pub(crate) struct Shared {
    pub(crate) root: AbsPath,
    pub(crate) options: Options,
    pub(crate) table: OnceLock<Table>,
    pub(crate) place: OnceLock<(Ground, Arc<Store>)>,
    pub(crate) view: RwLock<View>,
    /// Words of files that are not in yet.
    pub(crate) rough: RwLock<Vec<Arc<Rough>>>,
    /// Texts that somebody types, to show hits in.
    pub(crate) texts: RwLock<HashMap<Arc<str>, text::Snapshot>>,
    pub(crate) status: Mutex<Status>,
    pub(crate) ticks: (Sender<()>, Receiver<()>),
    pub(crate) queue: Mutex<Queue>,
    pub(crate) wake: Condvar,
    /// Helps text search, from when everything was in.
    pub(crate) sieve: OnceLock<Sieve>,
    pub(crate) is_paused: AtomicBool,
    pub(crate) is_ended: AtomicBool,
}

/// What is to be done.
#[derive(Default)]
pub(crate) struct Queue {
    /// Everything is to be looked at.
    pub(crate) wants_walk: bool,
    pub(crate) touched: Vec<AbsPath>,
    /// The newest text of each file.
    pub(crate) unsaved: HashMap<AbsPath, Option<text::Snapshot>>,
    /// How often something was asked for, and how much of that is done.
    pub(crate) asked: u64,
    pub(crate) done: u64,
    /// The thread waits for more.
    pub(crate) is_at_rest: bool,
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        !self.wants_walk && self.touched.is_empty() && self.unsaved.is_empty()
    }
}

impl Shared {
    pub(crate) fn new(root: AbsPath, options: Options) -> Self {
        let mut status = Status::new();
        status.is_paused = options.is_paused;
        Self {
            is_paused: AtomicBool::new(options.is_paused),
            root,
            options,
            table: OnceLock::new(),
            place: OnceLock::new(),
            view: RwLock::default(),
            rough: RwLock::default(),
            texts: RwLock::default(),
            status: Mutex::new(status),
            // A tick that is waiting says everything that a second one would.
            ticks: async_channel::bounded(1),
            queue: Mutex::new(Queue {
                wants_walk: true,
                asked: 1,
                ..Queue::default()
            }),
            wake: Condvar::new(),
            sieve: OnceLock::new(),
            is_ended: AtomicBool::new(false),
        }
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds something to be done.
    pub(crate) fn enqueue(&self, add: impl FnOnce(&mut Queue)) {
        let mut queue = self.queue();
        add(&mut queue);
        queue.asked += 1;
        drop(queue);
        self.wake.notify_all();
    }

    /// Changes the status and says so.
    pub(crate) fn tell(&self, change: impl FnOnce(&mut Status)) {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut status);
        drop(status);
        // A full channel has a tick already; nobody closes it.
        self.ticks.0.try_send(()).ok();
    }

    pub(crate) fn set_paused(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Relaxed);
        self.tell(|status| status.is_paused = is_paused);
        // The lock keeps the thread from going to sleep between its look and the news.
        drop(self.queue());
        self.wake.notify_all();
    }

    /// Waits while paused. Says whether to go on.
    pub(crate) fn may_go_on(&self) -> bool {
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

    /// Waits until what was asked for before is done.
    pub(crate) fn settle(&self) {
        let asked = self.queue().asked;
        self.wait_while(|queue| queue.done < asked);
    }

    /// Waits until nothing is left to be done.
    pub(crate) fn rest(&self) {
        let asked = self.queue().asked;
        self.wait_while(|queue| queue.done < asked || queue.done != u64::MAX && !queue.is_at_rest);
    }

    /// Waits while something is so. Returns at once while paused.
    fn wait_while(&self, is_so: impl Fn(&Queue) -> bool) {
        let waits = |queue: &Queue| is_so(queue) && !self.is_paused.load(Ordering::Relaxed);
        let mut queue = self.queue();
        while waits(&queue) {
            queue = self
                .wake
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether everything that there is can be found.
    pub(crate) fn is_complete(&self) -> bool {
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.phase == Phase::Ready
    }
}
