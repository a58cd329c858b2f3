//! The time limit of synchronized updates.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time after which a synchronized update ends by itself.
const LIMIT: Duration = Duration::from_millis(150);

/// Waits for synchronized updates that last too long.
#[derive(Debug, Default)]
pub(super) struct UpdateTimer {
    state: Mutex<UpdateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct UpdateState {
    is_open: bool,
    is_closed: bool,
    /// Number of updates that began.
    count: u64,
}

impl UpdateTimer {
    /// Notes whether an update is open.
    pub(super) fn set(&self, is_open: bool) {
        let mut state = self.lock();
        if state.is_open != is_open {
            state.is_open = is_open;
            state.count += u64::from(is_open);
            self.changed.notify_all();
        }
    }

    /// Ends the waiting for good.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Blocks until an update has been open for too long, and notes it as ended. Returns false once closed.
    pub(super) fn wait_for_overdue(&self) -> bool {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return false;
            }
            if !state.is_open {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let update = state.count;
            let is_same = |state: &mut UpdateState| {
                state.is_open && !state.is_closed && state.count == update
            };
            let waited = self.changed.wait_timeout_while(state, LIMIT, is_same);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = now;
            if timeout.timed_out() {
                state.is_open = false;
                return true;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, UpdateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
