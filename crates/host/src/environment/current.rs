//! The variables that children are chosen from: those that this process was started with, or, once
//! they were read, those of the user's login shell.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::Variable;

/// Replacements of this process's variables.
struct Replaced {
    /// The login shell's variables.
    complete: Option<Arc<Vec<Variable>>>,
    /// Those that an earlier program cached: no secrets are among them.
    cached: Option<Arc<Vec<Variable>>>,
    /// The time at which the login shell is given up, while it is read.
    until: Option<Instant>,
}

static REPLACED: Mutex<Replaced> = Mutex::new(Replaced {
    complete: None,
    cached: None,
    until: None,
});
static CHANGED: Condvar = Condvar::new();

/// Returns all variables. Waits while the login shell is read.
pub(super) fn complete() -> Arc<Vec<Variable>> {
    let mut replaced = lock();
    while let Some(until) = replaced.until {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let waited = CHANGED.wait_timeout(replaced, left);
        replaced = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    let complete = replaced.complete.clone();
    complete.unwrap_or_else(|| Arc::new(std::env::vars_os().collect()))
}

/// Returns at least the variables that the allow-list may pass on. Waits while the login shell is
/// read and none are cached.
pub(super) fn passable() -> Arc<Vec<Variable>> {
    let cached = {
        let replaced = lock();
        replaced.until.and(replaced.cached.clone())
    };
    cached.unwrap_or_else(complete)
}

/// Announces that the login shell is read until `until` at the latest.
pub(super) fn begin(until: Instant, cached: Option<Vec<Variable>>) {
    let mut replaced = lock();
    replaced.until = Some(until);
    replaced.cached = cached.map(Arc::new);
}

/// Ends the reading, with variables if it succeeded.
pub(super) fn finish(variables: Option<Vec<Variable>>) {
    let mut replaced = lock();
    replaced.until = None;
    // A cache is better than what launchd gives.
    replaced.complete = variables.map(Arc::new).or_else(|| replaced.cached.take());
    CHANGED.notify_all();
}

fn lock() -> MutexGuard<'static, Replaced> {
    REPLACED.lock().unwrap_or_else(PoisonError::into_inner)
}
