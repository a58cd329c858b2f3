//! The thread that writes the journals.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_channel::Sender;
use base::{AbsPath, LogErr};
use host::{Error, Files, Lock};

use super::tracked::Tracked;
use super::{ENDING, JournalEvent, Pending, Shared, State, remove_empty_session};
use crate::document::DocumentId;

/// How long further operations are gathered after the first, to go to the disk together.
const GATHER: Duration = Duration::from_millis(8);
/// How long selections wait when there is nothing else.
const SELECTIONS: Duration = Duration::from_millis(300);
/// How long a failing disk is left alone.
const RETRY: Duration = Duration::from_secs(1);
/// How many bytes the journals of closed documents may take in all, and how old they may be.
const HISTORY_SIZE: u64 = 64 << 20;
const HISTORY_AGE_MS: u64 = 30 * 24 * 60 * 60 * 1000;

pub(super) struct Writer {
    shared: Arc<Shared>,
    files: Arc<dyn Files>,
    history: AbsPath,
    session: AbsPath,
    lock: Lock,
    events: Sender<JournalEvent>,
    tracked: HashMap<DocumentId, Tracked>,
    is_failing: bool,
}

struct Round {
    pending: HashMap<DocumentId, Pending>,
    asked: u64,
    is_last: bool,
}

impl Writer {
    pub(super) fn new(
        shared: Arc<Shared>,
        files: Arc<dyn Files>,
        history: AbsPath,
        session: AbsPath,
        lock: Lock,
        events: Sender<JournalEvent>,
    ) -> Self {
        Self {
            shared,
            files,
            history,
            session,
            lock,
            events,
            tracked: HashMap::new(),
            is_failing: false,
        }
    }

    pub(super) fn run(mut self, now_ms: u64) {
        prune(&*self.files, &self.history, now_ms);
        loop {
            let round = self.wait();
            let (asked, is_last) = (round.asked, round.is_last);
            for (id, pending) in round.pending {
                self.take(id, pending);
            }
            let failure = self.commit();
            self.tell(failure.as_ref());
            let mut state = self.shared.lock();
            state.answered = asked;
            state.failure = failure;
            drop(state);
            self.shared.done.notify_all();
            if is_last {
                break;
            }
        }
        self.tracked.clear();
        remove_empty_session(&*self.files, &self.session);
        drop(self.lock);
    }

    fn wait(&self) -> Round {
        let is_idle =
            |state: &State| !state.is_urgent && !state.is_stopping && state.asked == state.answered;
        let mut state = self.shared.lock();
        if self.is_failing {
            state = self.shared.wait_for(state, RETRY, is_idle);
        } else {
            let is_quiet = |state: &State| is_idle(state) && !state.has_selections;
            state = self
                .shared
                .wake
                .wait_while(state, |state| is_quiet(state))
                .unwrap_or_else(PoisonError::into_inner);
            state = self.shared.wait_for(state, SELECTIONS, is_idle);
        }
        if state.is_urgent {
            let is_gathering = |state: &State| !state.is_stopping && state.asked == state.answered;
            state = self.shared.wait_for(state, GATHER, is_gathering);
        }
        state.is_urgent = false;
        state.has_selections = false;
        Round {
            pending: std::mem::take(&mut state.pending),
            asked: state.asked,
            is_last: state.is_stopping,
        }
    }

    fn take(&mut self, id: DocumentId, pending: Pending) {
        if let Some(begin) = pending.begin {
            let file = self.session.join(format!("{}.{ENDING}", id.0));
            self.tracked.insert(id, Tracked::new(begin, file));
        }
        let Some(tracked) = self.tracked.get_mut(&id) else {
            // Selections that were queued while the document was being closed.
            return;
        };
        if let Some(selections) = pending.selections {
            tracked.select(selections);
        }
        for work in pending.work {
            tracked.take(work, &*self.files, &self.history);
        }
        if tracked.is_closed {
            self.tracked.remove(&id);
        }
    }

    fn commit(&mut self) -> Option<Error> {
        let results = self.tracked.values_mut();
        let failures = results.filter_map(|tracked| tracked.commit(&*self.files).err());
        failures.last()
    }

    fn tell(&mut self, failure: Option<&Error>) {
        let event = match (failure, self.is_failing) {
            (Some(error), false) => {
                JournalEvent::Failing(format!("what you type is not safe from a crash: {error}"))
            }
            (None, true) => JournalEvent::Healthy,
            _ => return,
        };
        self.is_failing = failure.is_some();
        // Full means that nobody reads: then nobody misses it.
        self.events.try_send(event).ok();
    }
}

impl Shared {
    fn wait_for<'a>(
        &self,
        state: std::sync::MutexGuard<'a, State>,
        time: Duration,
        mut condition: impl FnMut(&State) -> bool,
    ) -> std::sync::MutexGuard<'a, State> {
        self.wake
            .wait_timeout_while(state, time, |state| condition(state))
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

/// Removes journals of closed documents that are too old, and the oldest beyond the size allowed.
fn prune(files: &dyn Files, history: &AbsPath, now_ms: u64) {
    let Some(listing) = files.list(history).log_err() else {
        return;
    };
    let mut found: Vec<_> = listing
        .entries
        .into_iter()
        .filter_map(|entry| Some((files.stat(&entry.path).ok()?.stamp, entry.path)))
        .collect();
    found.sort_by_key(|(stamp, _)| std::cmp::Reverse(stamp.mtime_ns));
    let oldest_ns = i128::from(now_ms.saturating_sub(HISTORY_AGE_MS)) * 1_000_000;
    let mut size = 0;
    for (stamp, path) in found {
        size += stamp.size;
        if size > HISTORY_SIZE || stamp.mtime_ns < oldest_ns {
            files.remove(&path).log_err();
        }
    }
}
