//! The thread that writes the journals.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_channel::Sender;
use base::{AbsPath, LogErr};
use host::{Error, FileLock, Files};

use super::tracked::TrackedDocument;
use super::{EXTENSION, JournalEvent, JournalQueue, JournalState, Pending, remove_empty_session};
use crate::document::DocumentId;

/// Delay after the first operation, to write several together.
const BATCH_DELAY: Duration = Duration::from_millis(8);
/// Delay of selections when nothing else is queued.
const SELECTION_DELAY: Duration = Duration::from_millis(300);
/// Delay before a failing disk is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Maximum total bytes and age of the journals of closed documents.
const MAX_HISTORY_TOTAL_BYTES: u64 = 64 << 20;
const MAX_HISTORY_AGE_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// The thread's state: takes queued work, writes the journals, and reports failures.
pub(super) struct JournalWriter {
    shared: Arc<JournalQueue>,
    files: Arc<dyn Files>,
    history: AbsPath,
    session: AbsPath,
    lock: FileLock,
    events: Sender<JournalEvent>,
    tracked: HashMap<DocumentId, TrackedDocument>,
    is_failing: bool,
}

struct WriteRound {
    pending: HashMap<DocumentId, Pending>,
    asked: u64,
    is_last: bool,
}

impl JournalWriter {
    pub(super) fn new(
        shared: Arc<JournalQueue>,
        files: Arc<dyn Files>,
        history: AbsPath,
        session: AbsPath,
        lock: FileLock,
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

    /// Runs until the journal is dropped and its queue written. First removes old history; `now_ms`
    /// is the wall time in milliseconds. Blocks.
    pub(super) fn run(mut self, now_ms: u64) {
        prune(&*self.files, &self.history, now_ms);
        loop {
            let round = self.wait();
            let (asked, is_last) = (round.asked, round.is_last);
            for (id, pending) in round.pending {
                self.take(id, pending);
            }
            let failure = self.commit();
            self.report_failure(failure.as_ref());
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

    fn wait(&self) -> WriteRound {
        let is_idle = |state: &JournalState| {
            !state.is_urgent && !state.is_stopping && state.asked == state.answered
        };
        let mut state = self.shared.lock();
        if self.is_failing {
            state = self.shared.wait_for(state, RETRY_DELAY, is_idle);
        } else {
            let is_quiet = |state: &JournalState| is_idle(state) && !state.has_selections;
            state = self
                .shared
                .wake
                .wait_while(state, |state| is_quiet(state))
                .unwrap_or_else(PoisonError::into_inner);
            state = self.shared.wait_for(state, SELECTION_DELAY, is_idle);
        }
        if state.is_urgent {
            let is_gathering =
                |state: &JournalState| !state.is_stopping && state.asked == state.answered;
            state = self.shared.wait_for(state, BATCH_DELAY, is_gathering);
        }
        state.is_urgent = false;
        state.has_selections = false;
        WriteRound {
            pending: std::mem::take(&mut state.pending),
            asked: state.asked,
            is_last: state.is_stopping,
        }
    }

    fn take(&mut self, id: DocumentId, pending: Pending) {
        if let Some(begin) = pending.begin {
            let file = self.session.join(format!("{}.{EXTENSION}", id.0));
            self.tracked.insert(id, TrackedDocument::new(begin, file));
        }
        let Some(tracked) = self.tracked.get_mut(&id) else {
            // These selections were queued while the document was being closed.
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

    /// Writes everything pending to the journals. Continues after failures and returns the last
    /// one; `None` if all writes succeeded.
    fn commit(&mut self) -> Option<Error> {
        let results = self.tracked.values_mut();
        let failures = results.filter_map(|tracked| tracked.commit(&*self.files).err());
        failures.last()
    }

    fn report_failure(&mut self, failure: Option<&Error>) {
        let event = match (failure, self.is_failing) {
            (Some(error), false) => JournalEvent::Failing(format!(
                "unsaved edits are not protected against a crash: {error}"
            )),
            (None, true) => JournalEvent::Healthy,
            _ => return,
        };
        self.is_failing = failure.is_some();
        // A full channel means that nothing reads the events, so none is missed.
        self.events.try_send(event).ok();
    }
}

impl JournalQueue {
    fn wait_for<'a>(
        &self,
        state: std::sync::MutexGuard<'a, JournalState>,
        time: Duration,
        mut condition: impl FnMut(&JournalState) -> bool,
    ) -> std::sync::MutexGuard<'a, JournalState> {
        self.wake
            .wait_timeout_while(state, time, |state| condition(state))
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

/// Removes journals of closed documents that are too old, and the oldest beyond the size limit.
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
    let oldest_ns = i128::from(now_ms.saturating_sub(MAX_HISTORY_AGE_MS)) * 1_000_000;
    let mut size = 0;
    for (stamp, path) in found {
        size += stamp.size;
        if size > MAX_HISTORY_TOTAL_BYTES || stamp.mtime_ns < oldest_ns {
            files.remove(&path).log_err();
        }
    }
}
