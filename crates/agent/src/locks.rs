//! Locks on the files and folders that tool calls access. Calls queue with all their accesses and
//! run when no earlier call conflicts.
//!
//! Invariant: two calls with conflicting accesses never run at the same time, and run in the order
//! in which they queued.
//! Invariant: a call waits for all its locks at once and holds none while it waits, so there are no
//! deadlocks.
//! Start at `Locks::queue`. Sessions that share a root folder share the locks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::tool::ToolAccess;

/// The queue of accesses. Clones share it.
#[derive(Clone, Debug)]
pub struct Locks {
    queue: Arc<Mutex<LockQueue>>,
    changed: Arc<watch::Sender<u64>>,
}

#[derive(Debug, Default)]
struct LockQueue {
    next: u64,
    /// Pending and running accesses, in the order in which they queued.
    tickets: Vec<(u64, ToolAccess)>,
}

/// A position in the queue. Dropping it releases the locks.
#[derive(Debug)]
pub struct LockTicket {
    number: u64,
    locks: Locks,
}

impl Default for Locks {
    fn default() -> Self {
        Self {
            queue: Arc::default(),
            changed: Arc::new(watch::channel(0).0),
        }
    }
}

impl Locks {
    /// Appends everything that a call accesses to the queue as one ticket and returns at once. The
    /// call may run after `LockTicket::turn`.
    pub fn queue(&self, access: &ToolAccess) -> LockTicket {
        let mut queue = self.lock();
        let number = queue.next;
        queue.next += 1;
        queue.tickets.push((number, access.clone()));
        drop(queue);
        LockTicket {
            number,
            locks: self.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, LockQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LockTicket {
    /// Waits until no earlier ticket that still exists conflicts with this one. The locks stay held
    /// until the ticket is dropped.
    pub async fn turn(&self) {
        let mut changed = self.locks.changed.subscribe();
        // `locks` owns the sender, so an error cannot occur; if it did, waiting longer would not
        // help.
        while !self.is_free() && changed.changed().await.is_ok() {}
    }

    /// Returns whether no earlier ticket in the queue conflicts with this one.
    fn is_free(&self) -> bool {
        let queue = self.locks.lock();
        let own = queue.tickets.iter().find(|(it, _)| *it == self.number);
        own.is_none_or(|(_, own)| {
            let mut before = queue
                .tickets
                .iter()
                .take_while(|(it, _)| *it != self.number);
            before.all(|(_, other)| own.is_apart(other))
        })
    }
}

impl Drop for LockTicket {
    fn drop(&mut self) {
        self.locks
            .lock()
            .tickets
            .retain(|(it, _)| *it != self.number);
        self.locks.changed.send_modify(|version| *version += 1);
    }
}

#[cfg(test)]
mod tests;
