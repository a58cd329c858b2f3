//! Events gathered into batches.
//!
//! Invariant: at most `MOST` paths are held; beyond that everything below the root is in doubt.
//! Invariant: what cannot be sent now is sent later, never dropped.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use async_channel::{Sender, TrySendError};
use base::AbsPath;

use crate::real::is_temp_name;
use crate::watch::{Ignore, WatchEvent, WatchRequest};

/// How long events gather after the first of them.
pub(super) const GATHER: Duration = Duration::from_millis(50);
/// More changes at once are a reason to look at everything anew.
const MOST: usize = 4096;

pub(super) struct Batch {
    pub(super) root: AbsPath,
    ignore: Ignore,
    sender: Sender<WatchEvent>,
    changed: BTreeSet<AbsPath>,
    rescan: bool,
    problem: Option<String>,
    is_ready: bool,
    due: Option<Instant>,
}

impl Batch {
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

    /// Whether nobody listens any more.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Whether a path is left out by itself; the folders above it are not asked about.
    pub(super) fn is_ignored(&self, path: &AbsPath, is_folder: bool) -> bool {
        path.as_path().file_name().is_some_and(is_temp_name)
            || (path != &self.root && (self.ignore)(path.as_path(), is_folder))
    }

    pub(super) fn change(&mut self, path: AbsPath) {
        if path.as_path().file_name().is_some_and(is_temp_name) {
            return;
        }
        if self.changed.len() >= MOST {
            self.rescan();
        } else if !self.rescan {
            self.changed.insert(path);
            self.set_due();
        }
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

    /// How long until there is something to send; `None` while there is nothing.
    pub(super) fn wait(&self) -> Option<Duration> {
        Some(self.due?.saturating_duration_since(Instant::now()))
    }

    /// Sends what is due.
    pub(super) fn send(&mut self) {
        if self.due.is_none_or(|due| due > Instant::now()) {
            return;
        }
        self.due = None;
        if !self.send_all() {
            self.set_due();
        }
    }

    fn send_all(&mut self) -> bool {
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

    /// Gives the event back when the channel is full.
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
