//! Accumulates events into batches.
//!
//! Invariant: at most `MAX_PATHS` paths are held; beyond that a rescan of the root is sent.
//! Invariant: a batch that cannot be sent now is sent later, never dropped.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use async_channel::{Sender, TrySendError};
use base::AbsPath;

use crate::real::is_temp_name;
use crate::watch::{Ignore, WatchEvent, WatchRequest};

/// Time to accumulate events after the first of them.
pub(super) const GATHER: Duration = Duration::from_millis(50);
/// More changes at once trigger a rescan.
const MAX_PATHS: usize = 4096;

pub(super) struct EventBatch {
    pub(super) root: AbsPath,
    ignore: Ignore,
    sender: Sender<WatchEvent>,
    changed: BTreeSet<AbsPath>,
    rescan: bool,
    problem: Option<String>,
    is_ready: bool,
    due: Option<Instant>,
}

impl EventBatch {
    pub(super) fn new(request: WatchRequest, sender: Sender<WatchEvent>) -> Self {
        Self {
            root: request.root,
            ignore: request.ignore,
            sender,
            changed: BTreeSet::new(),
            rescan: false,
            problem: None,
            is_ready: false,
            due: None,
        }
    }

    /// Returns whether the receiver is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Returns whether a path itself is ignored; its parent folders are not checked.
    pub(super) fn is_ignored(&self, path: &AbsPath, is_folder: bool) -> bool {
        path.as_path().file_name().is_some_and(is_temp_name)
            || (path != &self.root && (self.ignore)(path.as_path(), is_folder))
    }

    pub(super) fn change(&mut self, path: AbsPath) {
        if path.as_path().file_name().is_some_and(is_temp_name) {
            return;
        }
        if self.changed.len() >= MAX_PATHS {
            self.rescan();
        } else if !self.rescan {
            self.changed.insert(path);
            self.set_due();
        }
    }

    /// Returns whether a rescan is due, which covers every further change.
    pub(super) fn is_rescanning(&self) -> bool {
        self.rescan
    }

    pub(super) fn rescan(&mut self) {
        self.rescan = true;
        self.changed.clear();
        self.set_due();
    }

    pub(super) fn problem(&mut self, sentence: String) {
        self.problem.get_or_insert(sentence);
        self.set_due();
    }

    pub(super) fn ready(&mut self) {
        self.is_ready = true;
        self.set_due();
    }

    /// Returns the time until the next send; `None` if there is nothing to send.
    pub(super) fn wait(&self) -> Option<Duration> {
        Some(self.due?.saturating_duration_since(Instant::now()))
    }

    /// Sends the batch if it is due.
    pub(super) fn send(&mut self) {
        if self.due.is_none_or(|due| due > Instant::now()) {
            return;
        }
        self.due = None;
        if !self.send_all() {
            self.set_due();
        }
    }

    /// Sends everything that fits into the channel; returns whether nothing is left.
    pub(super) fn send_all(&mut self) -> bool {
        if let Some(problem) = self.problem.take()
            && let Some(WatchEvent::Problem(problem)) = self.offer(WatchEvent::Problem(problem))
        {
            self.problem = Some(problem);
            return false;
        }
        if self.is_ready {
            self.is_ready = self.offer(WatchEvent::Ready).is_some();
        }
        if self.rescan {
            self.rescan = self.offer(WatchEvent::Rescan(self.root.clone())).is_some();
        } else if !self.changed.is_empty() {
            let changed = std::mem::take(&mut self.changed).into_iter().collect();
            if let Some(WatchEvent::Changed(unsent)) = self.offer(WatchEvent::Changed(changed)) {
                self.changed.extend(unsent);
            }
        }
        !self.is_ready && !self.rescan && self.changed.is_empty()
    }

    /// Sends an event, and returns it if the channel is full. An event for a closed channel is
    /// dropped.
    fn offer(&self, event: WatchEvent) -> Option<WatchEvent> {
        match self.sender.try_send(event) {
            Ok(()) | Err(TrySendError::Closed(_)) => None,
            Err(TrySendError::Full(event)) => Some(event),
        }
    }

    fn set_due(&mut self) {
        self.due.get_or_insert_with(|| Instant::now() + GATHER);
    }
}
