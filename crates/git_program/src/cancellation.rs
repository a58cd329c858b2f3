//! Cancellation of running and waiting calls.
//!
//! Invariant: an action runs at most once, also if it is registered after `cancel`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

type CancelAction = Arc<dyn Fn() + Send + Sync>;

/// A switch that ends the calls it was passed to. Clones share the switch.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    is_cancelled: AtomicBool,
    actions: Mutex<CancelActions>,
}

#[derive(Default)]
struct CancelActions {
    next: u64,
    registered: BTreeMap<u64, CancelAction>,
}

/// Keeps an action registered until it is dropped.
pub(crate) struct CancelGuard {
    state: Arc<CancelState>,
    id: u64,
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation")
            .field(&self.is_cancelled())
            .finish()
    }
}

impl Cancellation {
    /// Ends all calls that have this switch, and every later one. Does not block: writing programs
    /// get two seconds to remove their lock files, on another thread.
    pub fn cancel(&self) {
        let actions = {
            let mut actions = self.0.lock();
            self.0.is_cancelled.store(true, Ordering::SeqCst);
            std::mem::take(&mut actions.registered)
        };
        for action in actions.into_values() {
            action();
        }
    }

    /// Returns whether `cancel` was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::SeqCst)
    }

    /// Registers an action of `cancel`; it runs at once if that was already called.
    pub(crate) fn on_cancel(&self, action: impl Fn() + Send + Sync + 'static) -> CancelGuard {
        let mut actions = self.0.lock();
        let id = actions.next;
        actions.next += 1;
        if self.is_cancelled() {
            drop(actions);
            action();
        } else {
            actions.registered.insert(id, Arc::new(action));
        }
        CancelGuard {
            state: Arc::clone(&self.0),
            id,
        }
    }

    /// Waits for `time`, or until `cancel` is called.
    pub(crate) fn wait(&self, time: Duration) {
        let (wake, woken) = mpsc::channel();
        let _guard = self.on_cancel(move || {
            // The receiver is gone if the time has passed.
            wake.send(()).ok();
        });
        // Both results end the wait.
        woken.recv_timeout(time).ok();
    }
}

impl CancelState {
    fn lock(&self) -> MutexGuard<'_, CancelActions> {
        self.actions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.state.lock().registered.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Cancellation;

    fn counter() -> (Arc<AtomicUsize>, impl Fn() + Send + Sync + 'static) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        (count, move || {
            counted.fetch_add(1, Ordering::SeqCst);
        })
    }

    #[test]
    fn registered_actions_run_once() {
        let cancellation = Cancellation::default();
        let (count, action) = counter();
        let _guard = cancellation.on_cancel(action);
        cancellation.clone().cancel();
        cancellation.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert!(cancellation.is_cancelled());
    }

    #[test]
    fn a_late_action_runs_at_once_and_a_dropped_one_never() {
        let cancellation = Cancellation::default();
        let (dropped, action) = counter();
        drop(cancellation.on_cancel(action));
        cancellation.cancel();
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        let (late, action) = counter();
        let _guard = cancellation.on_cancel(action);
        assert_eq!(late.load(Ordering::SeqCst), 1);
    }
}
