//! A thread that looks at the process table while trees run, so that their members are seen before
//! they lose their parents.
//!
//! It looks when a member forks, executes or exits, if the system reports that; otherwise, and as a
//! safety net, after a pause that doubles while nothing changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::fork_events::ForkEvents;
use super::table::{ProcessEntry, ProcessTable};
use super::tracked::{Look, TrackedTree};
use super::{TreeMember, TreeScan, TreeSearch};

/// Pause before the second look.
const SHORTEST_PAUSE: Duration = Duration::from_millis(2);
/// A look may take this part of the time at most.
const MAX_LOAD: u32 = 4;

/// Finds the members of one tree in a process table.
#[derive(Clone, Debug)]
pub(in crate::process) struct TrackedSearch {
    tree: Arc<Mutex<TrackedTree>>,
    table: Arc<dyn ProcessTable>,
    /// Receives the id of the first process and the changes that a look found, in order.
    on_change: fn(i32, &Look),
}

/// The trees that the thread watches.
struct Tracker {
    searches: Vec<WatchedTree>,
    is_running: bool,
}

struct WatchedTree {
    tree: Weak<Mutex<TrackedTree>>,
    table: Arc<dyn ProcessTable>,
    on_change: fn(i32, &Look),
}

static TRACKER: Mutex<Tracker> = Mutex::new(Tracker {
    searches: Vec::new(),
    is_running: false,
});

/// Wakes the thread.
static EVENTS: ForkEvents = ForkEvents::new();

impl TrackedSearch {
    /// Creates a search without watching the tree in between.
    pub(in crate::process) fn new(
        tree: TrackedTree,
        table: Arc<dyn ProcessTable>,
        on_change: fn(i32, &Look),
    ) -> Self {
        Self {
            tree: Arc::new(Mutex::new(tree)),
            table,
            on_change,
        }
    }

    /// Creates a search for the tree of a process that was just started.
    pub(in crate::process) fn of_started(
        first: Pid,
        table: Arc<dyn ProcessTable>,
        on_change: fn(i32, &Look),
    ) -> Self {
        let pid = first.as_raw_nonzero().get();
        let identity = table.find(pid).map(|entry| entry.identity);
        Self::new(TrackedTree::new(pid, identity), table, on_change)
    }

    /// Watches the tree from now on, until the search is dropped.
    pub(in crate::process) fn watch(&self) {
        EVENTS.add(lock(&self.tree).first());
        let mut tracker = lock(&TRACKER);
        tracker.searches.push(WatchedTree {
            tree: Arc::downgrade(&self.tree),
            table: Arc::clone(&self.table),
            on_change: self.on_change,
        });
        if tracker.is_running {
            EVENTS.wake();
            return;
        }
        let started = thread::Builder::new()
            .name("process tracker".to_owned())
            .spawn(run);
        // Without the thread, trees are looked at when they end or are stopped.
        tracker.is_running = base::LogErr::log_err(started).is_some();
    }

    /// Returns the line that registers the tree with the guard.
    pub(in crate::process) fn registration(&self) -> String {
        let tree = lock(&self.tree);
        format!(
            "begins {} {}",
            tree.first(),
            tree.first_identity().unwrap_or(0)
        )
    }

    fn look(&self) -> Look {
        let mut tree = lock(&self.tree);
        // Listed under the lock, so that no older list follows a newer one.
        let look = tree.look(&self.table.list());
        (self.on_change)(tree.first(), &look);
        look
    }
}

impl TreeSearch for TrackedSearch {
    fn scan(&self) -> TreeScan {
        let members = self.look().members.into_iter();
        let member = |entry: ProcessEntry| TreeMember {
            pid: entry.pid,
            identity: entry.identity,
        };
        TreeScan {
            members: members.map(member).collect(),
            is_uncertain: false,
        }
    }

    fn signal_group(&self, signal: Signal) {
        let (first, identity) = {
            let tree = lock(&self.tree);
            if tree.shares_group(|| self.table.list()) {
                // Its members are signalled one by one.
                return;
            }
            (tree.first(), tree.first_identity())
        };
        // The first process is in the table until it is reaped, so another identity means that its
        // id was reused.
        let holder = self.table.find(first).map(|entry| entry.identity);
        if holder.is_some() && holder == identity {
            self.table.signal_group(first, signal);
        }
    }

    fn signal(&self, member: TreeMember, signal: Signal) {
        if self.is_running(member) {
            self.table.signal(member.pid, signal);
        }
    }

    fn is_running(&self, member: TreeMember) -> bool {
        self.table
            .find(member.pid)
            .is_some_and(|entry| entry.identity == member.identity && !entry.is_zombie)
    }
}

/// Looks at all trees until none is left.
fn run() {
    let mut pause = SHORTEST_PAUSE;
    loop {
        let began = Instant::now();
        let Some(has_new) = look_at_all() else {
            return;
        };
        pause = if has_new {
            SHORTEST_PAUSE
        } else {
            (pause * 2).min(ForkEvents::LONGEST_PAUSE)
        };
        let took = began.elapsed();
        if EVENTS.wait(pause.max(took * MAX_LOAD)) {
            pause = SHORTEST_PAUSE;
        }
    }
}

/// Returns whether a tree is new or has new members; `None`, if the thread has to end.
fn look_at_all() -> Option<bool> {
    let searches: Vec<TrackedSearch> = {
        let mut tracker = lock(&TRACKER);
        tracker
            .searches
            .retain(|watched| watched.tree.strong_count() > 0);
        if tracker.searches.is_empty() {
            tracker.is_running = false;
            return None;
        }
        let upgraded = tracker.searches.iter().filter_map(|watched| {
            Some(TrackedSearch {
                tree: watched.tree.upgrade()?,
                table: Arc::clone(&watched.table),
                on_change: watched.on_change,
            })
        });
        upgraded.collect()
    };
    let mut has_new = false;
    for search in &searches {
        let look = search.look();
        let is_new = |entry: &&ProcessEntry| look.new.contains(&entry.identity);
        for entry in look.members.iter().filter(is_new) {
            EVENTS.add(entry.pid);
        }
        has_new |= !look.new.is_empty();
    }
    Some(has_new)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
