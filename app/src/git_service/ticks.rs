//! Reports of changes, from the events of the window's watcher.
//!
//! No second watcher runs but for a folder of Git outside the open folder. Events are gathered for 100 ms; while a change of
//! ours runs, those of its repository wait for its end. The thread sleeps while nothing happens.
//! Invariant: what a reading of ours or `git status` of another program causes is never reported, unless the index
//! changed, so that no two programs keep each other busy.
//! Start at `RepositoryTicks`; `tick_state` gathers, and `events` classifies paths.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use async_channel::{Receiver, Sender};
use base::AbsPath;
use git_panel::GitTick;
use host::{Clock as _, RealClock};

use super::events::WatchedRepository;
use super::git_folders::GitFolderWatchers;
use super::queues::run_on_thread;
use super::tick_state::TickState;

/// Time over which events are gathered.
const GATHER: Duration = Duration::from_millis(100);
/// Reports that wait for a window; one that is further behind reads everything again.
const WAITING: usize = 256;

/// Reports changes of the folder's repositories.
pub(super) struct RepositoryTicks {
    messages: mpsc::Sender<TickMessage>,
}

/// A message to the thread of the reports.
pub(super) enum TickMessage {
    /// These paths changed; anything may have changed if `None`.
    Changed(Option<Vec<AbsPath>>),
    /// The repositories of the folder, as they were found.
    Found(Vec<WatchedRepository>),
    /// The trust in a repository is another than before.
    Trust,
    /// A change of ours begins.
    Began(AbsPath),
    /// A change of ours has ended.
    Ended(AbsPath),
    /// A window listens.
    Subscribed(Sender<GitTick>),
    /// The service ends.
    Closed,
}

/// A change of ours that runs; ends on drop.
pub(super) struct OperationMark {
    messages: mpsc::Sender<TickMessage>,
    root: AbsPath,
}

impl Drop for OperationMark {
    fn drop(&mut self) {
        // The thread ends with the service.
        self.messages
            .send(TickMessage::Ended(self.root.clone()))
            .ok();
    }
}

impl RepositoryTicks {
    /// Starts the thread. `folder` is the open folder.
    pub(super) fn start(folder: AbsPath) -> Self {
        let (messages, receiver) = mpsc::channel();
        let mut watchers = GitFolderWatchers::new(folder, messages.clone());
        run_on_thread(move || {
            let mut state = TickState::default();
            gather(&receiver, &mut state, &mut watchers);
        });
        Self { messages }
    }

    pub(super) fn send(&self, message: TickMessage) {
        // Without a thread there are no reports.
        self.messages.send(message).ok();
    }

    /// Marks the beginning of a change of ours.
    pub(super) fn begin(&self, root: &AbsPath) -> OperationMark {
        self.send(TickMessage::Began(root.clone()));
        OperationMark {
            messages: self.messages.clone(),
            root: root.clone(),
        }
    }

    /// Returns the reports from now on.
    pub(super) fn subscribe(&self) -> Receiver<GitTick> {
        let (sender, receiver) = async_channel::bounded(WAITING);
        self.send(TickMessage::Subscribed(sender));
        receiver
    }
}

impl Drop for RepositoryTicks {
    fn drop(&mut self) {
        self.send(TickMessage::Closed);
    }
}

/// Reports what the messages say until the service ends.
fn gather(
    messages: &mpsc::Receiver<TickMessage>,
    state: &mut TickState,
    watchers: &mut GitFolderWatchers,
) {
    let clock = RealClock::default();
    let mut take = |message: TickMessage, state: &mut TickState| {
        if let TickMessage::Found(repositories) = &message {
            watchers.watch(repositories);
        }
        state.take(message)
    };
    while let Ok(message) = messages.recv() {
        if take(message, state).is_break() {
            return;
        }
        if !state.is_due() {
            continue;
        }
        let end = clock.elapsed() + GATHER;
        loop {
            match messages.recv_timeout(end.saturating_sub(clock.elapsed())) {
                Ok(message) => {
                    if take(message, state).is_break() {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        state.report();
    }
}
