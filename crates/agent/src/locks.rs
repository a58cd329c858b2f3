//! Who may touch what at the same time: calls queue up with what they touch, and go when nobody before them is in
//! the way.
//!
//! Invariant: two calls whose accesses meet never run at the same time, and go in the order in which they queued.
//! Invariant: a call waits for all it needs at once and holds nothing while it waits, so nobody waits in a circle.
//! Start at `Locks::queue`. Sessions that share a root folder share the locks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::tool::Access;

/// What is touched at the moment, and by whom. Clones are the same.
#[derive(Clone, Debug)]
pub struct Locks {
    queue: Arc<Mutex<Queue>>,
    changed: Arc<watch::Sender<u64>>,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    /// In the order in which they came.
    tickets: Vec<(u64, Access)>,
}

/// A place in the queue. Dropping it makes room for those behind.
#[derive(Debug)]
pub struct Ticket {
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
    /// Queues up for everything that a call touches.
    pub fn queue(&self, access: &Access) -> Ticket {
        let mut queue = self.lock();
        let number = queue.next;
        queue.next += 1;
        queue.tickets.push((number, access.clone()));
        drop(queue);
        Ticket {
            number,
            locks: self.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// Waits until nobody before it touches the same.
    pub async fn turn(&self) {
        let mut changed = self.locks.changed.subscribe();
        // The sender lives in `locks`, so an error cannot come; were it to, waiting longer would help nobody.
        while !self.is_free() && changed.changed().await.is_ok() {}
    }

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

impl Drop for Ticket {
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
