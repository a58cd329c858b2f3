//! The agents of a contest, checked one after the other beside the seat's task.

use std::sync::Arc;

use composer::best::checked;
use composer::board::{JobId, Line};
use composer::land::Check;
use composer::review::Reviewed;
use futures::StreamExt as _;
use futures::channel::mpsc;
use git::merge::Changes;
use host::RealFiles;

use super::{Seat, is_at_work};
use crate::compose::checks::OwnChecks;

/// How the checks of one went.
pub(super) struct Checked {
    job: JobId,
    /// What they ran on.
    changes: Arc<Changes>,
    how: Result<Vec<Check>, String>,
}

impl Seat {
    pub(super) fn compare(&mut self) -> Result<(), String> {
        if self.comparing.is_some() {
            return Err("The checks run already: wait until they have.".to_owned());
        }
        // Somebody from outside may have been at work in their trees since.
        self.is_dirty = true;
        let contestants = self.table.contestants();
        if contestants.is_empty() {
            return Err("Nobody did the same task: start a contest first.".to_owned());
        }
        let wanted = |it: &&Reviewed| {
            let is_it = |line: &&&Line| line.job == it.session && !is_at_work(line);
            contestants.iter().any(|line| is_it(&line))
        };
        let wanted: Vec<Reviewed> = self.sessions.iter().filter(wanted).cloned().collect();
        if wanted.is_empty() {
            return Err("They are at work yet: wait until one of them is done.".to_owned());
        }
        let checks = OwnChecks::some(&self.dirs, self.fleet.trees.folder())?;
        self.table.checking = wanted.iter().map(|it| it.session.clone()).collect();
        let hub = self.fleet.trees.hub().clone();
        let (told, comparing) = mpsc::unbounded();
        self.comparing = Some(comparing);
        // Whoever hears of them keeps the other end; the task ends by itself.
        tokio::task::spawn_blocking(move || {
            for one in wanted {
                let how = checked(&hub, &one, &checks, &RealFiles);
                let checked = Checked {
                    job: one.session,
                    changes: one.changes,
                    how,
                };
                if told.unbounded_send(checked).is_err() {
                    return;
                }
            }
        });
        Ok(())
    }

    /// One was checked; `None` once all were, or the checks broke off.
    pub(super) fn checked(&mut self, checked: Option<Checked>) {
        let Some(Checked { job, changes, how }) = checked else {
            self.comparing = None;
            self.table.checking.clear();
            return;
        };
        self.table.checking.remove(&job);
        match how {
            Ok(checks) => {
                self.table.checks.insert(job.clone(), checks);
                self.checked.insert(job, changes);
                self.forget_checks();
            }
            Err(sentence) => {
                self.table.trouble = Some(format!("{job} could not be checked: {sentence}"));
            }
        }
    }

    /// Checks that ran on other work than there is now say nothing.
    pub(super) fn forget_checks(&mut self) {
        let sessions = &self.sessions;
        self.checked.retain(|job, changes| {
            let now = sessions.iter().find(|it| it.session == *job);
            now.is_none_or(|it| it.changes == *changes)
        });
        let checked = &self.checked;
        self.table.checks.retain(|job, _| checked.contains_key(job));
    }
}

/// The next that was checked; for ever where nobody checks.
pub(super) async fn next(
    comparing: &mut Option<mpsc::UnboundedReceiver<Checked>>,
) -> Option<Checked> {
    match comparing {
        Some(comparing) => comparing.next().await,
        None => std::future::pending().await,
    }
}
