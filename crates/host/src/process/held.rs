//! A process that was started, and everything it started, for as long as its number is its own: what `live` and
//! `spawned` have in common.
//!
//! Invariant: no signal goes to a number that may be somebody else's by now.
//! Invariant: it ends with us, however we end (see `guard`).

use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::LogErr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::guard::{self, Ward};
use super::tree::{self, Looks, MARK, Tree};
use super::{End, end_of, pid_of};

/// The hold on a process and all that it starts.
#[derive(Debug)]
pub(super) struct Held {
    tree: Tree,
    /// `None` until the process was collected: from then on its number may be somebody else's.
    end: Mutex<Option<End>>,
    /// Whether it is stopped in the middle of things.
    is_killed: AtomicBool,
    /// Taken back before the process is collected.
    ward: Mutex<Option<Ward>>,
}

impl Held {
    /// Of a process that leads its group and carries this mark; `None` where its number cannot be read.
    pub(super) fn of(child: &Child, mark: &str) -> Option<Self> {
        let first = pid_of(child)?;
        Some(Self {
            tree: Tree::of(first, mark),
            end: Mutex::new(None),
            is_killed: AtomicBool::new(false),
            ward: Mutex::new(Some(guard::watch(first))),
        })
    }

    /// Its number.
    pub(super) fn first(&self) -> Pid {
        self.tree.first
    }

    /// How it ended; `None` while it was not collected.
    pub(super) fn end(&self) -> Option<End> {
        *self.lock()
    }

    /// Waits until the process itself has ended. It is not collected yet.
    pub(super) fn wait(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.first()), options) {}
    }

    /// Ends whatever it started, and collects it. Answers how it ended, and how many it left behind.
    pub(super) fn collect(&self, child: &mut Child) -> (End, usize) {
        let mut end = self.lock();
        let looks = match self.is_killed.load(Ordering::Relaxed) {
            true => Looks::Twice,
            false => Looks::Once,
        };
        let left = self.tree.end(Duration::ZERO, looks);
        // The guard forgets the number before it is free for others.
        drop(
            self.ward
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let came = child.wait().log_err().map_or(End::Signalled(0), end_of);
        *end = Some(came);
        (came, left)
    }

    /// Sends a signal to its group. Never waits: while it is being collected, it and its group are gone or going.
    pub(super) fn signal(&self, signal: Signal) {
        let end = match self.end.try_lock() {
            Ok(end) => end,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if end.is_none() {
            // It may have ended this very moment, and an empty group is nobody.
            kill_process_group(self.first(), signal).ok();
        }
    }

    /// Kills it with its group at once. Whoever collects it ends what had left the group.
    pub(super) fn kill(&self) {
        self.is_killed.store(true, Ordering::Relaxed);
        self.signal(Signal::KILL);
    }

    /// Ends it and everything it started: politely for as long as `grace`, then for good. Blocks for that long, and
    /// for as long as the system takes.
    pub(super) fn stop(&self, grace: Duration) {
        let end = self.lock();
        if end.is_none() {
            self.tree.end(grace, Looks::Twice);
        }
    }

    /// Its living processes, itself among them.
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

    fn lock(&self) -> MutexGuard<'_, Option<End>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A variable's name that no other process in the world carries.
pub(super) fn fresh_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}{count}", own_marks())
}

/// How all marks of this program begin: with its number and when it began, so that anybody can tell whether it lives.
pub(super) fn own_marks() -> &'static str {
    static BEGINNING: OnceLock<String> = OnceLock::new();
    BEGINNING.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_nanos());
        let own = std::process::id();
        let began = tree::began(own.cast_signed());
        format!("{MARK}{own}_{began}_{now}_")
    })
}
