//! Records the changes of a session's queue, and other acts of the user, while the session is busy with other things.
//!
//! Invariant: a change is recorded in the order in which it was made, also if the future that
//! records it is dropped halfway.
//! Invariant: nothing is recorded before the session itself is.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use host::Clock;
use tokio::sync::mpsc;

use crate::queue::PromptQueue;
use crate::record::{Delivery, QueueChange, QueuedPrompt, SessionRecord, Stored};
use crate::session::{AgentEvent, QueueCommand, UserPrompt};
use crate::store::SessionStore;

/// The number of the session's next record. Clones share it; only the session's task uses them.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordNumbers(Arc<AtomicU64>);

impl RecordNumbers {
    pub(super) fn starting_at(next: u64) -> Self {
        Self(Arc::new(AtomicU64::new(next)))
    }

    pub(super) fn next(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes the numbers of `count` records, and returns the first one.
    pub(super) fn take(&self, count: usize) -> u64 {
        self.0.fetch_add(count as u64, Ordering::Relaxed)
    }

    /// Returns the latest `count` numbers, whose records were not written.
    pub(super) fn give_back(&self, count: usize) {
        self.0.fetch_sub(count as u64, Ordering::Relaxed);
    }
}

/// The queue of a session, with its changes that are not recorded yet.
pub(super) struct QueueJournal {
    pub(super) store: SessionStore,
    pub(super) session: Arc<str>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) numbers: RecordNumbers,
    /// The queue, including all unwritten changes.
    pub(super) queue: PromptQueue,
    unwritten: VecDeque<SessionRecord>,
    /// Entries that go out although the queue is held: the user sent them since.
    now: BTreeSet<u64>,
    /// Entries that the task is about to record as sent; they cannot be removed any more.
    sending: BTreeSet<u64>,
    /// Whether the session is recorded, so that changes can be.
    pub(super) is_open: bool,
}

impl QueueJournal {
    pub(super) fn new(
        store: SessionStore,
        session: Arc<str>,
        clock: Arc<dyn Clock>,
        numbers: RecordNumbers,
        queue: PromptQueue,
    ) -> Self {
        Self {
            store,
            session,
            clock,
            numbers,
            queue,
            unwritten: VecDeque::new(),
            now: BTreeSet::new(),
            sending: BTreeSet::new(),
            is_open: false,
        }
    }

    /// Adds a message for the next request, also if older ones are held.
    pub(super) fn add_now(&mut self, prompt: &UserPrompt) {
        let entry = self.queue.new_entry(prompt, Delivery::NextRequest);
        if self.queue.is_held() {
            self.now.insert(entry.id);
        }
        self.change(QueueChange::Added { entry });
    }

    pub(super) fn command(&mut self, command: QueueCommand) {
        match command {
            QueueCommand::Add { prompt, delivery } => {
                let entry = self.queue.new_entry(&prompt, delivery);
                self.change(QueueChange::Added { entry });
            }
            QueueCommand::Remove(id) if self.sending.contains(&id) => {}
            QueueCommand::Remove(id) => self.change(QueueChange::Removed { id }),
            QueueCommand::Move { id, before } => self.change(QueueChange::Moved { id, before }),
            QueueCommand::SendNow(id) => {
                self.now.insert(id);
                self.change(QueueChange::Promoted { id });
            }
            QueueCommand::Release => self.change(QueueChange::Released),
        }
    }

    /// Changes the queue. A change without effect is not recorded.
    pub(super) fn change(&mut self, change: QueueChange) {
        if self.queue.apply(&change) {
            self.unwritten.push_back(SessionRecord::Queued { change });
        }
    }

    /// Records another act of the user.
    pub(super) fn record(&mut self, record: SessionRecord) {
        self.unwritten.push_back(record);
    }

    /// Applies a change that the caller records with others.
    pub(super) fn note(&mut self, change: &QueueChange) {
        self.queue.apply(change);
    }

    /// Holds the queue after a turn that did not end well.
    pub(super) fn hold(&mut self) {
        self.now.clear();
        self.change(QueueChange::Held);
    }

    /// Returns the messages for the running turn's next request, which cannot be removed any more.
    pub(super) fn take_for_request(&mut self) -> Vec<QueuedPrompt> {
        let entries = self.queue.entries().iter();
        let due: Vec<QueuedPrompt> = entries
            .filter(|it| self.is_for_request(it))
            .cloned()
            .collect();
        self.sending = due.iter().map(|entry| entry.id).collect();
        due
    }

    /// Whether a message waits for the running turn's next request.
    pub(super) fn has_for_request(&self) -> bool {
        self.queue
            .entries()
            .iter()
            .any(|it| self.is_for_request(it))
    }

    /// Returns the message that begins the next turn. It cannot be removed any more.
    pub(super) fn next_entry(&mut self) -> Option<QueuedPrompt> {
        let mut entries = self.queue.entries().iter();
        let due = entries.find(|entry| self.is_for_request(entry));
        let due = due.or_else(|| {
            let is_free = !self.queue.is_held();
            self.queue.entries().first().filter(|_| is_free)
        });
        let due = due.cloned();
        self.sending.extend(due.as_ref().map(|entry| entry.id));
        due
    }

    /// Lets all entries be removed again: none is being recorded.
    pub(super) fn end_sending(&mut self) {
        self.sending.clear();
    }

    /// Removes and returns all messages of a session that was never recorded.
    pub(super) fn take_unrecorded(&mut self) -> Vec<UserPrompt> {
        let queue = std::mem::take(&mut self.queue);
        self.unwritten.clear();
        self.end_sending();
        queue.entries().iter().map(QueuedPrompt::prompt).collect()
    }

    fn is_for_request(&self, entry: &QueuedPrompt) -> bool {
        let is_free = !self.queue.is_held() || self.now.contains(&entry.id);
        is_free && entry.delivery == Delivery::NextRequest
    }

    /// Whether there are changes to record.
    pub(super) fn is_due(&self) -> bool {
        self.is_open && !self.unwritten.is_empty()
    }

    /// Records all changes and sends them as events. May be dropped at any time: a change is either
    /// recorded and sent, or still to be recorded.
    pub(super) async fn flush(&mut self, events: &mpsc::Sender<AgentEvent>) {
        while self.is_due() {
            // A closed channel means that the program ends.
            let Some(place) = self.store.reserve().await else {
                self.is_open = false;
                return;
            };
            let event_place = events.reserve().await.ok();
            let Some(record) = self.unwritten.pop_front() else {
                return;
            };
            let stored = Stored {
                seq: self.numbers.take(1),
                at_ms: self.clock.wall_ms(),
                record,
            };
            place.enqueue(&self.session, std::slice::from_ref(&stored));
            if let Some(event_place) = event_place {
                event_place.send(AgentEvent::Recorded(Arc::new(stored)));
            }
        }
    }
}
