//! One writer at a time in a repository.
//!
//! Readers do not wait: they take no lock of Git, and a hook that waits for the user must not stop the history or blame.
//! Invariant: writers get their turn in the order in which they asked, in all windows of this process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, mpsc};

use base::AbsPath;

use crate::cancellation::Cancellation;
use crate::error::Error;

/// The gates of the repositories in use, by the root of the working tree.
static GATES: Mutex<BTreeMap<AbsPath, Weak<WriteGate>>> = Mutex::new(BTreeMap::new());

/// The queue of the writers of one working tree.
#[derive(Debug, Default)]
pub(crate) struct WriteGate {
    queue: Mutex<WriteQueue>,
}

#[derive(Debug, Default)]
struct WriteQueue {
    next: u64,
    /// The first one writes, the others wait.
    writers: VecDeque<QueuedWriter>,
}

#[derive(Debug)]
struct QueuedWriter {
    id: u64,
    turn: mpsc::Sender<()>,
}

/// The turn of a writer; the next one gets it on drop.
#[derive(Debug)]
pub(crate) struct WriteTicket {
    gate: Arc<WriteGate>,
    id: u64,
}

impl WriteGate {
    /// Returns the gate of a working tree, shared by the whole process.
    pub(crate) fn of(root: &AbsPath) -> Arc<Self> {
        let mut gates = GATES.lock().unwrap_or_else(PoisonError::into_inner);
        gates.retain(|_, gate| gate.strong_count() > 0);
        if let Some(gate) = gates.get(root).and_then(Weak::upgrade) {
            return gate;
        }
        let gate = Arc::new(Self::default());
        gates.insert(root.clone(), Arc::downgrade(&gate));
        gate
    }

    /// Waits for the turn to write.
    pub(crate) fn enter(
        self: &Arc<Self>,
        cancellation: &Cancellation,
    ) -> Result<WriteTicket, Error> {
        let (turn, turned) = mpsc::channel();
        let (ticket, is_first) = {
            let mut queue = self.lock();
            let id = queue.next;
            queue.next += 1;
            let is_first = queue.writers.is_empty();
            let turn = turn.clone();
            queue.writers.push_back(QueuedWriter { id, turn });
            let gate = Arc::clone(self);
            (WriteTicket { gate, id }, is_first)
        };
        let _guard = cancellation.on_cancel(move || {
            // The receiver is gone once the writer has its turn.
            turn.send(()).ok();
        });
        if !is_first {
            // The queue holds a sender until the ticket is dropped.
            turned.recv().ok();
        }
        if cancellation.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(ticket)
    }

    /// Returns whether a call writes or waits to write.
    pub(crate) fn is_busy(&self) -> bool {
        !self.lock().writers.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, WriteQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WriteTicket {
    fn drop(&mut self) {
        let mut queue = self.gate.lock();
        let was_first = queue.writers.front().is_some_and(|it| it.id == self.id);
        queue.writers.retain(|writer| writer.id != self.id);
        if let Some(next) = queue.writers.front().filter(|_| was_first) {
            // A cancelled writer no longer listens; it leaves the queue by itself.
            next.turn.send(()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::thread;

    use base::AbsPath;

    use super::WriteGate;
    use crate::cancellation::Cancellation;
    use crate::error::Error;

    fn root(name: &str) -> AbsPath {
        AbsPath::new(format!("/gates/{name}")).expect("absolute")
    }

    #[test]
    fn a_second_writer_waits_for_the_first() {
        let gate = WriteGate::of(&root("two"));
        assert!(Arc::ptr_eq(&gate, &WriteGate::of(&root("two"))));
        let cancellation = Cancellation::default();
        let first = gate.enter(&cancellation).expect("free");
        let (sender, order) = mpsc::channel();
        let second = {
            let (gate, sender) = (Arc::clone(&gate), sender.clone());
            thread::spawn(move || {
                let ticket = gate.enter(&Cancellation::default()).expect("a turn");
                sender.send("second").expect("a receiver");
                drop(ticket);
            })
        };
        while gate.lock().writers.len() < 2 {
            thread::yield_now();
        }
        sender.send("first").expect("a receiver");
        drop(first);
        second.join().expect("no panic");
        assert_eq!(order.try_iter().collect::<Vec<_>>(), ["first", "second"]);
        assert!(!gate.is_busy());
    }

    #[test]
    fn a_cancelled_writer_leaves_the_queue() {
        let gate = WriteGate::of(&root("cancelled"));
        let first = gate.enter(&Cancellation::default()).expect("free");
        let cancellation = Cancellation::default();
        let waiting = {
            let (gate, cancellation) = (Arc::clone(&gate), cancellation.clone());
            thread::spawn(move || gate.enter(&cancellation).map(drop))
        };
        while gate.lock().writers.len() < 2 {
            thread::yield_now();
        }
        cancellation.cancel();
        let ended = waiting.join().expect("no panic");
        assert!(matches!(ended, Err(Error::Cancelled)));
        drop(first);
        gate.enter(&Cancellation::default()).expect("free again");
    }
}
