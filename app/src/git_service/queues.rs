//! The threads of requests: one for each reading, one queue for changes, and one reading of the status at a time.
//!
//! Nothing here blocks the caller.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::thread;

use base::LogErr as _;
use futures::channel::oneshot;
use futures::future::FutureExt as _;
use git_panel::{GitAnswer, GitFailure};

use super::failures::ended_early;

/// Runs a task that may block on a thread of its own.
pub(super) fn on_thread<T: Send + 'static>(
    task: impl FnOnce() -> Result<T, GitFailure> + Send + 'static,
) -> GitAnswer<T> {
    let (sender, receiver) = oneshot::channel();
    run_on_thread(move || {
        // The window may be gone by then.
        sender.send(task()).ok();
    });
    answer_of(receiver)
}

/// Runs a task on a thread of its own. If none can be started, the task is dropped; returns whether it runs.
pub(super) fn run_on_thread(task: impl FnOnce() + Send + 'static) -> bool {
    let thread = thread::Builder::new().name("git".to_owned());
    thread.spawn(task).log_err().is_some()
}

fn answer_of<T: Send + 'static>(
    receiver: oneshot::Receiver<Result<T, GitFailure>>,
) -> GitAnswer<T> {
    async move { receiver.await.unwrap_or_else(|_| Err(ended_early())) }.boxed()
}

type QueuedTask = Box<dyn FnOnce() + Send>;

/// Runs tasks one after the other, in the order of the calls, on a thread that the first one starts.
#[derive(Default)]
pub(super) struct TaskQueue(OnceLock<mpsc::Sender<QueuedTask>>);

impl TaskQueue {
    /// Appends a task.
    pub(super) fn push(&self, task: impl FnOnce() + Send + 'static) {
        let sender = self.0.get_or_init(|| {
            let (sender, tasks) = mpsc::channel::<QueuedTask>();
            run_on_thread(move || tasks.into_iter().for_each(run_task));
            sender
        });
        // Without a thread the task is dropped, which its caller notices.
        sender.send(Box::new(task)).ok();
    }

    /// Appends a task with a result.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce() -> Result<T, GitFailure> + Send + 'static,
    ) -> GitAnswer<T> {
        let (sender, receiver) = oneshot::channel();
        self.push(move || {
            // The window may be gone by then.
            sender.send(task()).ok();
        });
        answer_of(receiver)
    }
}

/// Runs a task whose panic, which was reported already, must not end the queue.
fn run_task(task: QueuedTask) {
    // The caller notices that its task has no result.
    panic::catch_unwind(AssertUnwindSafe(task)).ok();
}

/// Readings of which at most one runs, and one more waits for all who asked meanwhile.
pub(super) struct SharedReading<T>(Arc<Mutex<ReadingState<T>>>);

struct ReadingState<T> {
    is_running: bool,
    waiting: Vec<oneshot::Sender<Result<T, GitFailure>>>,
}

impl<T> Default for SharedReading<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(ReadingState {
            is_running: false,
            waiting: Vec::new(),
        })))
    }
}

impl<T: Clone + Send + 'static> SharedReading<T> {
    /// Returns the result of a reading that begins after this call.
    pub(super) fn ask(
        &self,
        read: impl Fn() -> Result<T, GitFailure> + Send + 'static,
    ) -> GitAnswer<T> {
        let (sender, receiver) = oneshot::channel();
        let is_first = {
            let mut state = lock(&self.0);
            state.waiting.push(sender);
            !std::mem::replace(&mut state.is_running, true)
        };
        if is_first {
            let state = Arc::clone(&self.0);
            if !run_on_thread(move || serve(&state, &read)) {
                let mut state = lock(&self.0);
                state.is_running = false;
                state.waiting.clear();
            }
        }
        answer_of(receiver)
    }
}

/// Reads until all who asked have their result.
fn serve<T: Clone>(state: &Mutex<ReadingState<T>>, read: &dyn Fn() -> Result<T, GitFailure>) {
    loop {
        let waiting = {
            let mut state = lock(state);
            let waiting = std::mem::take(&mut state.waiting);
            state.is_running = !waiting.is_empty();
            waiting
        };
        if waiting.is_empty() {
            return;
        }
        let result = read();
        for sender in waiting {
            // The window may be gone by then.
            sender.send(result.clone()).ok();
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};

    use futures::executor::block_on;

    use super::{SharedReading, TaskQueue};

    #[test]
    fn one_reading_runs_and_one_waits() {
        let readings = SharedReading::<usize>::default();
        let count = Arc::new(AtomicUsize::new(0));
        let (started, starts) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let first = {
            let count = Arc::clone(&count);
            readings.ask(move || {
                started.send(()).expect("the test listens");
                released.recv().expect("the test goes on");
                Ok(count.fetch_add(1, Ordering::SeqCst) + 1)
            })
        };
        starts.recv().expect("the first reading runs");
        let others: Vec<_> = (0..5).map(|_| readings.ask(|| Ok(100))).collect();
        // The running thread serves the others with its own reading.
        release.send(()).expect("it waits");
        release.send(()).expect("it waits");
        assert_eq!(block_on(first), Ok(1));
        for other in others {
            assert_eq!(block_on(other), Ok(2));
        }
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn tasks_run_in_order() {
        let queue = TaskQueue::default();
        let (sender, order) = mpsc::channel();
        for ix in 0..50 {
            let sender = sender.clone();
            queue.push(move || sender.send(ix).expect("the test listens"));
        }
        let last = queue.ask(|| Ok(()));
        assert_eq!(block_on(last), Ok(()));
        assert!(order.try_iter().eq(0..50));
    }
}
