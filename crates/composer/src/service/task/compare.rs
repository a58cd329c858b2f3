//! Checks the candidates of a best-of-N group one after the other, beside the composer task.

use std::sync::Arc;

use futures::StreamExt as _;
use futures::channel::mpsc;
use git::merge::Changes;
use host::RealFiles;

use super::ComposerTask;
use crate::Error;
use crate::compare::run_checks;
use crate::job::{JobId, JobStatus};
use crate::land::{Check, NewErrors};
use crate::work::SessionChanges;

/// The checks that ran for one job.
pub(super) struct CheckRun {
    job: JobId,
    /// The changes that they ran on.
    changes: Arc<Changes>,
    result: Result<Vec<Check>, Error>,
    /// Problems of the environment in which they ran.
    notices: Vec<String>,
}

impl ComposerTask {
    /// Starts the checks of all best-of-N candidates that are not at work; results arrive one by
    /// one. Fails if checks are running already, or if there are no such candidates or no checks.
    pub(super) fn compare(&mut self) -> Result<(), Error> {
        if self.comparison.is_some() {
            return Err(Error::Busy(
                "The checks are running: wait until they end.".to_owned(),
            ));
        }
        // Other programs may have changed the worktrees since.
        self.is_dirty = true;
        let candidates = self.model.best_of_jobs();
        if candidates.is_empty() {
            return Err(Error::NothingToDo(
                "There are no best-of-N candidates to compare: start some first.".to_owned(),
            ));
        }
        let is_idle_candidate = |it: &&SessionChanges| {
            let is_idle = |job: &&JobStatus| job.job == it.session && !job.may_write();
            candidates.iter().any(is_idle)
        };
        let sessions = self.sessions.iter().filter(is_idle_candidate);
        let sessions: Vec<SessionChanges> = sessions.cloned().collect();
        if sessions.is_empty() {
            return Err(Error::WrongState(
                "The agents are still running: wait until one of them is done.".to_owned(),
            ));
        }
        let checks = self.checks.load(NewErrors::Refused)?;
        if checks.is_empty() {
            return Err(Error::NoChecks);
        }
        self.model.checking = sessions.iter().map(|it| it.session.clone()).collect();
        let main_repo = self.worktrees.main_repo().clone();
        let (runs, comparison) = mpsc::unbounded();
        self.comparison = Some(comparison);
        // The receiver keeps the task's other end; the task ends by itself.
        tokio::task::spawn_blocking(move || {
            for changes in sessions {
                let run = CheckRun {
                    result: run_checks(&main_repo, &changes, &*checks, &RealFiles),
                    notices: checks.take_notices(),
                    job: changes.session,
                    changes: changes.changes,
                };
                if runs.unbounded_send(run).is_err() {
                    return;
                }
            }
        });
        Ok(())
    }

    /// Takes over the checks of one job; `None` means that all have run, or that they broke off.
    pub(super) fn on_check_run(&mut self, run: Option<CheckRun>) {
        let Some(CheckRun {
            job,
            changes,
            result,
            notices,
        }) = run
        else {
            self.comparison = None;
            self.model.checking.clear();
            return;
        };
        self.model.checking.remove(&job);
        if !notices.is_empty() {
            self.notify(format!("checked {job}: {}", notices.join("; ")), false);
        }
        match result {
            Ok(checks) => {
                self.model.checks.insert(job.clone(), checks);
                self.checked.insert(job, changes);
                self.forget_checks();
            }
            Err(error) => {
                self.model.error = Some(format!("{job} could not be checked: {error}"));
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
    comparison: &mut Option<mpsc::UnboundedReceiver<CheckRun>>,
) -> Option<CheckRun> {
    match comparison {
        Some(runs) => runs.next().await,
        None => std::future::pending().await,
    }
}
