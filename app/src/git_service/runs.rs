//! Calls of the git program that show their output and can be cancelled.

use std::sync::Arc;

use async_channel::Sender;
use futures::channel::oneshot;
use futures::future::FutureExt as _;
use git_panel::{GitFailure, GitOutcome, GitRun};
use git_program::{Cancellation, GitProgram, RemoteReport};

use super::door::RepositoryAccess;
use super::failures::{cancelled, ended_early};
use super::folder_state::GitFolderState;
use super::queues::run_on_thread;

/// Pieces of output that wait for the window; the program waits while there are more.
const WAITING: usize = 256;

/// The order in which a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunOrder {
    /// After the changes of the repository that were asked for before.
    Queued,
    /// At once: it talks to a remote, and changes neither the index nor files.
    AtOnce,
}

/// A running call, as its work sees it.
pub(super) struct RunContext<'a> {
    /// The program.
    pub(super) program: &'a GitProgram,
    /// Ends the call.
    pub(super) cancellation: &'a Cancellation,
    /// Receives what the window shows.
    pub(super) output: &'a Sender<Vec<u8>>,
}

impl RunContext<'_> {
    /// Passes output on. Blocks while the window is behind; without a window it is dropped.
    pub(super) fn print(&self, bytes: &[u8]) {
        self.output.send_blocking(bytes.to_vec()).ok();
    }

    /// Passes on a report of a remote operation as a terminal shows it.
    pub(super) fn report(&self, report: &RemoteReport) {
        let text = match report {
            RemoteReport::Progress(progress) => {
                let total = progress.total.map(|total| format!("/{total}"));
                let end = if progress.is_finished { "\n" } else { "\r" };
                let (stage, done) = (&progress.stage, progress.done);
                format!("{stage}: {done}{}{end}", total.unwrap_or_default())
            }
            RemoteReport::Remote(line) => format!("remote: {line}\n"),
            RemoteReport::Local(line) => format!("{line}\n"),
        };
        self.print(text.as_bytes());
    }
}

/// Ends a call on drop.
struct RunGuard {
    cancellation: Cancellation,
    output: Sender<Vec<u8>>,
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        end(&self.cancellation, &self.output);
    }
}

/// Starts a call.
pub(super) fn start(
    access: Arc<RepositoryAccess>,
    folder: Arc<GitFolderState>,
    order: RunOrder,
    work: impl FnOnce(&RunContext<'_>) -> Result<GitOutcome, GitFailure> + Send + 'static,
) -> GitRun {
    let cancellation = Cancellation::default();
    let (sender, output) = async_channel::bounded(WAITING);
    let (answer, receiver) = oneshot::channel();
    let task = {
        let (access, cancellation) = (Arc::clone(&access), cancellation.clone());
        let sender = sender.clone();
        move || {
            let result = run(&access, &folder, &cancellation, &sender, work);
            sender.close();
            // The window may be gone by then.
            answer.send(result).ok();
        }
    };
    match order {
        RunOrder::Queued => access.changes.push(task),
        RunOrder::AtOnce => {
            run_on_thread(task);
        }
    }
    let guard = RunGuard {
        cancellation: cancellation.clone(),
        output: sender.clone(),
    };
    let outcome = async move {
        let result = receiver.await;
        // What has ended cannot be cancelled.
        drop(guard);
        result.unwrap_or_else(|_| Err(ended_early()))
    };
    GitRun {
        output,
        outcome: outcome.boxed(),
        cancel: Box::new(move || end(&cancellation, &sender)),
    }
}

/// Ends a call, and wakes it if it waits for the window to take its output.
fn end(cancellation: &Cancellation, output: &Sender<Vec<u8>>) {
    cancellation.cancel();
    output.close();
}

fn run(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    cancellation: &Cancellation,
    output: &Sender<Vec<u8>>,
    work: impl FnOnce(&RunContext<'_>) -> Result<GitOutcome, GitFailure>,
) -> Result<GitOutcome, GitFailure> {
    if cancellation.is_cancelled() {
        return Err(cancelled());
    }
    let program = access.program(folder)?;
    let _operation = folder.ticks.begin(&access.root);
    access.clear_stale_lock();
    work(&RunContext {
        program: &program,
        cancellation,
        output,
    })
}
