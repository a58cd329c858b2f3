//! Checks the agents of a best-of group one after the other, beside the composer task.

use std::sync::Arc;

use composer::board::{JobId, JobStatus};
use composer::compare::run_checks;
use composer::land::Check;
use composer::review::ReviewedSession;
use futures::StreamExt as _;
use futures::channel::mpsc;
use git::merge::Changes;
use host::RealFiles;

use super::{ComposerTask, is_running};
use crate::compose::checks::OwnChecks;

/// The checks that ran for one job.
pub(super) struct CheckRun {
    job: JobId,
    /// The changes that they ran on.
    changes: Arc<Changes>,
    result: Result<Vec<Check>, String>,
}

impl ComposerTask {
    pub(super) fn compare(&mut self) -> Result<(), String> {
        if self.comparing.is_some() {
            return Err("The checks run already: wait until they have.".to_owned());
        }
        // Other programs may have changed the worktrees since.
        self.is_dirty = true;
        let contestants = self.model.best_of_jobs();
        if contestants.is_empty() {
            return Err("No two agents did the same task: start a best-of-N job first.".to_owned());
        }
        let wanted = |it: &&ReviewedSession| {
            let is_it = |line: &&&JobStatus| line.job == it.session && !is_running(line);
            contestants.iter().any(|line| is_it(&line))
        };
        let wanted: Vec<ReviewedSession> = self.sessions.iter().filter(wanted).cloned().collect();
        if wanted.is_empty() {
            return Err("The agents are still running: wait until one of them is done.".to_owned());
        }
        let checks = OwnChecks::read_required(&self.dirs, self.composer.worktrees.folder())?;
        self.model.checking = wanted.iter().map(|it| it.session.clone()).collect();
        let hub = self.composer.worktrees.main_repo().clone();
        let (told, comparing) = mpsc::unbounded();
        self.comparing = Some(comparing);
        // The receiver keeps the task's other end; the task ends by itself.
        tokio::task::spawn_blocking(move || {
            for one in wanted {
                let how = run_checks(&hub, &one, &checks, &RealFiles);
                let checked = CheckRun {
                    job: one.session,
                    changes: one.changes,
                    result: how,
                };
                if told.unbounded_send(checked).is_err() {
                    return;
                }
            }
        });
        Ok(())
    }

    /// One was checked; `None` once all were, or the checks broke off.
    pub(super) fn checked(&mut self, checked: Option<CheckRun>) {
        let Some(CheckRun {
            job,
            changes,
            result: how,
        }) = checked
        else {
            self.comparing = None;
            self.model.checking.clear();
            return;
        };
        self.model.checking.remove(&job);
        match how {
            Ok(checks) => {
                self.model.checks.insert(job.clone(), checks);
                self.checked.insert(job, changes);
                self.forget_checks();
            }
            Err(sentence) => {
                self.model.trouble = Some(format!("{job} could not be checked: {sentence}"));
            }
        }
    }

    /// Drops the results of checks that ran on changes that are no longer current.
    pub(super) fn forget_checks(&mut self) {
        let sessions = &self.sessions;
        self.checked.retain(|job, changes| {
            let now = sessions.iter().find(|it| it.session == *job);
            now.is_none_or(|it| it.changes == *changes)
        });
        let checked = &self.checked;
        self.model.checks.retain(|job, _| checked.contains_key(job));
    }
}

/// Returns the next finished checks; pending for ever while no checks run.
pub(super) async fn next(
    comparing: &mut Option<mpsc::UnboundedReceiver<CheckRun>>,
) -> Option<CheckRun> {
    match comparing {
        Some(comparing) => comparing.next().await,
        None => std::future::pending().await,
    }
}
