//! Ownership of a child process and its descendants, shared by `live` and `spawned`.
//!
//! Invariant: no signal goes to a process id that may have been reused.
//! Invariant: the process ends with Burin, however Burin ends (see `guard`).

use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base::LogErr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::guard::{self, GuardRegistration};
use super::tree::{self, ProcessTree, ScanPasses};
use super::{ProcessExit, end_of, pid_of};
use crate::environment::MARK;

/// Owns a process and its descendants.
#[derive(Debug)]
pub(super) struct ProcessHandle {
    tree: ProcessTree,
    /// `None` until the process is reaped: from then on its id may be reused.
    end: Mutex<Option<ProcessExit>>,
    /// Whether it was killed while running.
    is_killed: AtomicBool,
    /// Unregistered before the process is reaped.
    registration: Mutex<Option<GuardRegistration>>,
}

impl ProcessHandle {
    /// Creates a handle for a process that leads its group and carries this mark; returns `None` if
    /// its id cannot be read.
    pub(super) fn of(child: &Child, mark: &str) -> Option<Self> {
        let first = pid_of(child)?;
        tree::adopt(first);
        let tree = ProcessTree::of(first, mark);
        let registration = guard::watch(first, &tree.registration());
        tree.watch();
        Some(Self {
            tree,
            end: Mutex::new(None),
            is_killed: AtomicBool::new(false),
            registration: Mutex::new(Some(registration)),
        })
    }

    /// Returns the process id.
    pub(super) fn leader(&self) -> Pid {
        self.tree.first
    }

    /// Returns how it ended; `None` before it is reaped.
    pub(super) fn exit(&self) -> Option<ProcessExit> {
        *self.lock()
    }

    /// Waits until the process itself has ended, without reaping it.
    pub(super) fn wait(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.leader()), options) {}
    }

    /// Waits until the process has no living descendants, for at most `limit`. The process itself has
    /// ended.
    pub(super) fn wait_for_descendants(&self, limit: Duration) {
        let until = Instant::now() + limit;
        while !self.members().is_empty() && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills the remaining descendants and reaps the process. Returns how it ended and how many
    /// descendants were killed.
    pub(super) fn reap(&self, child: &mut Child) -> (ProcessExit, usize) {
        let mut end = self.lock();
        let passes = if self.is_killed.load(Ordering::Relaxed) {
            ScanPasses::Twice
        } else {
            ScanPasses::Once
        };
        let left = self.tree.terminate(Duration::ZERO, passes);
        // The guard must forget the id before it can be reused.
        drop(
            self.registration
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let exit = child
            .wait()
            .log_err()
            .map_or(ProcessExit::Signalled(0), end_of);
        *end = Some(exit);
        (exit, left)
    }

    /// Sends a signal to its group. Never blocks: if the process is being reaped, its group is gone
    /// or about to be.
    pub(super) fn signal(&self, signal: Signal) {
        let end = match self.end.try_lock() {
            Ok(end) => end,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if end.is_none() {
            // An error means that the group has just become empty.
            kill_process_group(self.leader(), signal).ok();
        }
    }

    /// Kills it and its group at once. `reap` kills the descendants that left the group.
    pub(super) fn kill(&self) {
        self.is_killed.store(true, Ordering::Relaxed);
        self.signal(Signal::KILL);
    }

    /// Stops it and all its descendants: with SIGTERM during `grace`, then with SIGKILL. Blocks
    /// until they are gone or a time limit passes.
    pub(super) fn stop(&self, grace: Duration) {
        let end = self.lock();
        if end.is_none() {
            self.tree.terminate(grace, ScanPasses::Twice);
        }
    }

    /// Tells its group that its terminal is gone, by SIGHUP, and stops what is left after `grace`. Blocks as `stop` does.
    pub(super) fn hang_up(&self, grace: Duration) {
        self.signal(Signal::HUP);
        self.wait_for_descendants(grace);
        self.stop(Duration::ZERO);
    }

    /// Returns the ids of its living processes, its own included.
    pub(super) fn members(&self) -> Vec<u32> {
        let end = self.lock();
        match *end {
            Some(_) => Vec::new(),
            None => {
                let members = self.tree.members();
                members.into_iter().map(i32::cast_unsigned).collect()
            }
        }
    }

    /// Locks the end of the process, which is `None` until it is reaped. While the lock is held,
    /// the process is not reaped and its id not reused.
    fn lock(&self) -> MutexGuard<'_, Option<ProcessExit>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name of an environment variable that no other process uses.
pub(super) fn fresh_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}{count}", own_marks())
}

/// Returns the prefix of all marks of this process: its id and start time, so that any process can
/// tell whether it is alive.
pub(super) fn own_marks() -> &'static str {
    static BEGINNING: OnceLock<String> = OnceLock::new();
    BEGINNING.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_nanos());
        let own = std::process::id();
        let began = tree::start_time(own.cast_signed());
        format!("{MARK}{own}_{began}_{now}_")
    })
}
