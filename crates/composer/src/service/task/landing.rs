//! Landings: started, resolved, abandoned, undone. One at a time, beside the composer task.

use super::ComposerTask;
use crate::Error;
use crate::conflict::Resolution;
use crate::job::{JobId, JobStatus, WorkOutcome};
use crate::land::{CheckRunner, NewErrors};
use crate::landing::{AcceptedWork, LandingResult, LandingService, accepted_count};
use crate::protocol::JobCommand;
use crate::view::LandingStatus;

/// The results of a landing that ran in the background.
pub(super) struct LandingReport {
    results: Vec<LandingResult>,
    action: LandingAction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LandingAction {
    Land,
    Resolve,
    Undo,
}

impl ComposerTask {
    /// Lands the accepted hunks of these jobs, or of all: one landing per job, and one for the hunks
    /// selected from the candidates of a best-of-N group.
    pub(super) fn land(&mut self, jobs: &[JobId], new_errors: NewErrors) -> Result<(), Error> {
        let review = self.decisions.review().cloned();
        let review = review.ok_or_else(|| {
            Error::NothingToDo("The changes are not scanned yet: wait a moment.".to_owned())
        })?;
        let accepted = self.model.jobs.iter().filter(|job| {
            (jobs.is_empty() || jobs.contains(&job.job)) && accepted_count(&review, job) > 0
        });
        let (busy, idle): (Vec<&JobStatus>, Vec<&JobStatus>) =
            accepted.partition(|job| job.may_write());
        if let (Some(busy), true) = (busy.first(), idle.is_empty()) {
            return self.idle_job(&busy.job).map(drop);
        }
        if idle.is_empty() {
            return Err(Error::NothingToDo(
                "Nothing is accepted that could land: accept a hunk first.".to_owned(),
            ));
        }
        let hunks = review.accepted_hunks();
        let landing = hunks.filter(|hunk| idle.iter().any(|job| job.job == hunk.session));
        let paths: Vec<String> = landing.map(|hunk| hunk.path.to_string()).collect();
        self.refuse_unsaved(paths.iter().map(String::as_str))?;
        let idle: Vec<JobStatus> = idle.into_iter().cloned().collect();
        let action = (LandingAction::Land, new_errors);
        self.start_landing(action, move |landings, checks| {
            let jobs: Vec<&JobStatus> = idle.iter().collect();
            let work = AcceptedWork {
                review: &review,
                jobs: &jobs,
                is_selected: &|_| true,
                subject: None,
            };
            landings.land(&work, checks)
        });
        Ok(())
    }

    /// Starts to undo the latest landing. Never fails; `on_landing_report` handles the result.
    pub(super) fn undo_landing(&mut self) -> Result<(), Error> {
        let jobs = self.model.jobs.clone();
        let action = (LandingAction::Undo, NewErrors::Refused);
        self.start_landing(action, move |landings, _| {
            Ok(vec![landings.undo(0, &jobs)?])
        });
        Ok(())
    }

    /// Starts to resolve the conflict of one file in the landing of `job`; `on_landing_report`
    /// handles the result. Fails if there is no such job.
    pub(super) fn resolve_file(
        &mut self,
        job: &str,
        path: String,
        resolution: Resolution,
    ) -> Result<(), Error> {
        let job = self.job_status(job)?.clone();
        let jobs = self.model.jobs.clone();
        let action = (LandingAction::Resolve, NewErrors::Refused);
        self.start_landing(action, move |landings, checks| {
            let resolved = landings.resolve_file((&job, &jobs), (&path, &resolution), checks)?;
            Ok(vec![resolved])
        });
        Ok(())
    }

    /// Starts to abandon the conflicting landing of `job`; `on_landing_report` handles the result.
    /// Fails if there is no such job.
    pub(super) fn abandon_landing(&mut self, job: &str) -> Result<(), Error> {
        let job = self.job_status(job)?.clone();
        let action = (LandingAction::Resolve, NewErrors::Refused);
        self.start_landing(action, move |landings, _| Ok(vec![landings.abandon(&job)?]));
        Ok(())
    }

    /// Runs `run` in the background as the landing in progress, and shows on the board that it
    /// runs. If the checks cannot be loaded, the landing fails and `run` is not called.
    fn start_landing(
        &mut self,
        (action, new_errors): (LandingAction, NewErrors),
        run: impl FnOnce(&LandingService, &dyn CheckRunner) -> Result<Vec<LandingResult>, Error>
        + Send
        + 'static,
    ) {
        self.model.notice = None;
        self.model.landing = Some(LandingStatus {
            text: format!("Landing on {}\u{2026}", self.model.branch),
            is_bad: false,
            can_undo: false,
            may_allow_errors: false,
        });
        let (landings, checks) = (self.landings.clone(), self.checks.clone());
        self.landing = Some(tokio::task::spawn_blocking(move || {
            let checks = checks.load(new_errors)?;
            let results = run(&landings, &*checks)?;
            Ok(LandingReport { results, action })
        }));
    }

    pub(super) async fn on_landing_report(
        &mut self,
        report: Result<Result<LandingReport, Error>, Error>,
    ) {
        self.is_dirty = true;
        let report = match report.flatten() {
            Ok(report) => report,
            Err(error) => {
                self.model.landing = Some(LandingStatus {
                    text: error.to_string(),
                    is_bad: true,
                    can_undo: false,
                    may_allow_errors: false,
                });
                return;
            }
        };
        self.model.landing = Some(landing_summary(&report, &self.model.branch));
        for result in report.results {
            let Some(outcome) = result.outcome else {
                continue;
            };
            for job in result.jobs {
                let outcome = outcome.clone();
                let command = JobCommand::RecordOutcome { job, outcome };
                // A scheduler that has ended takes no commands.
                self.scheduler.commands.send(command).await.ok();
            }
        }
    }
}

/// Summarizes a landing for the window.
fn landing_summary(done: &LandingReport, branch: &str) -> LandingStatus {
    let bad = done.results.iter().filter(|it| !it.is_good);
    let bad: Vec<&str> = bad
        .map(|it| match it.outcome {
            // The list shows the conflict itself.
            Some(WorkOutcome::Conflict(_)) => "Not landed yet: resolve the conflict in the list.",
            _ => it.text.as_str(),
        })
        .collect();
    let is_on_branch = |it: &&LandingResult| matches!(it.outcome, Some(WorkOutcome::Landed(_)));
    let on_branch = done.results.iter().filter(is_on_branch).count();
    let good = match (done.action, on_branch) {
        (LandingAction::Undo, _) => format!("Taken back: {branch} is as it was before."),
        (_, 1) => format!("Landed on {branch}."),
        (_, 0) => {
            let good = done.results.iter().filter(|it| it.is_good);
            let texts: Vec<String> = good.map(|it| base::sentence(&it.text)).collect();
            texts.join(" ")
        }
        (_, count) => format!("Landed {count} agents' work on {branch}."),
    };
    let text = match (
        bad.is_empty(),
        good.is_empty() || done.action == LandingAction::Undo,
    ) {
        (true, _) => good,
        (false, true) => bad.join(" "),
        (false, false) => format!("{good} {}", bad.join(" ")),
    };
    LandingStatus {
        text,
        is_bad: !bad.is_empty(),
        can_undo: on_branch > 0,
        may_allow_errors: done.results.iter().any(|it| it.may_allow_errors),
    }
}
