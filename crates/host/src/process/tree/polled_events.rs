//! Waits between two looks at the process table on systems that do not report forks.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Wakes the tracker.
#[derive(Debug)]
pub(super) struct ForkEvents {
    is_woken: Mutex<bool>,
    changed: Condvar,
}

impl ForkEvents {
    /// The longest pause between two looks.
    pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(32);

    pub(super) const fn new() -> Self {
        Self {
            is_woken: Mutex::new(false),
            changed: Condvar::new(),
        }
    }

    /// Watches a process: does nothing here.
    pub(super) fn add(&self, _pid: i32) {}

    /// Ends a wait at once.
    pub(super) fn wake(&self) {
        *self.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Blocks for `pause`, or until `wake`; returns whether it was woken.
    pub(super) fn wait(&self, pause: Duration) -> bool {
        let is_woken = self.is_woken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(is_woken, pause, |is_woken| !*is_woken);
        let (mut is_woken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *is_woken)
    }
}
