//! Commands that forecast, land and undo agents' work.

mod resolutions;

use std::process::ExitCode;

use clap::Args;
use composer::UnsavedBuffers;
use composer::board::{BoardHandle, SavedBoard};
use composer::forecast::{ChangedTrees, ForecastReport, Forecaster};
use composer::job::{JobId, JobStatus};
use composer::job_review::{JobReview, change_gatherer};
use composer::land::{CheckRunner, CheckSource as _, NewErrors};
use composer::landing::{
    AcceptedWork, LandingResult, LandingService, accept_unreviewed, accepted_count,
};
use composer::worktrees::JobWorktrees;
use git::Repository;
use git::merge::TreePath;
use host::{Clock as _, Dirs, RealClock};
use serde_json::json;

use crate::run::show::print_json_line as json_line;
use crate::{Streams, error_text, print_notice, write_error};

use super::RepositoryArg;
use super::history::job;
use super::review::available;
use runtime::compose::checks::CheckCommands;
use runtime::compose::service::open_board_store;

#[derive(Args)]
pub(super) struct ForecastCommand {
    #[command(flatten)]
    repository: RepositoryArg,
    /// Print an object as a line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct LandCommand {
    #[command(flatten)]
    repository: RepositoryArg,
    /// The agents, such as a1 a2; all that are done without any
    jobs: Vec<String>,
    /// Take the latest landing back, or the one with this number
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "0", conflicts_with = "jobs")]
    undo: Option<u64>,
    /// Require this command, or the task with the label L as task:L, to pass on the merged work, in the sandbox, before it
    /// lands; kept for later landings; can be repeated; an empty one removes all
    #[arg(long, value_name = "COMMAND")]
    check: Vec<String>,
    /// Land even if language servers find new errors or do not answer (the check that `lsp.check_landings` turns on)
    #[arg(long)]
    allow_errors: bool,
    /// The first line of the commit message; the task without it
    #[arg(long, value_name = "WORDS")]
    message: Option<String>,
    /// Resolve a file in conflict: with the branch's version, the agent's version, or a file of
    /// yours; the landing continues after the last one
    #[arg(long, value_name = "JOB:PATH=branch|agent|FILE", conflicts_with_all = ["jobs", "undo"])]
    settle: Vec<String>,
    /// Abandon a landing with a conflict; the work stays in its worktree
    #[arg(long, value_name = "JOB", conflicts_with_all = ["jobs", "undo", "settle"])]
    give_up: Vec<JobId>,
}

impl ForecastCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (worktrees, saved) = self.repository.load_board(dirs)?;
        let mut works = Vec::new();
        let open = saved.jobs.iter().filter(|job| job.is_reviewable());
        for job in available(&worktrees, open.collect(), streams) {
            works.push(worktrees.session_work(job).map_err(error_text)?);
        }
        let repository = Repository::discover(worktrees.main_repo()).map_err(error_text)?;
        let mut gatherer = change_gatherer(&worktrees).map_err(error_text)?;
        let unsaved = UnsavedBuffers::new();
        let gathered = gatherer.read(&repository, &works, &unsaved, &ChangedTrees::All);
        let gathered = gathered.map_err(error_text)?;
        for why in gathered.unread.values() {
            print_notice(streams, why);
        }
        let report = Forecaster::default().refresh(&repository, &gathered.input);
        let report = report.map_err(error_text)?;
        if self.json {
            json_line(streams, &forecast_json(&report)).map_err(write_error)?;
            return Ok(ExitCode::SUCCESS);
        }
        let conflicts = report.conflicts.iter().map(|it| &it.for_person);
        let overlaps = report.overlaps.iter().map(|it| &it.for_person);
        for sentence in conflicts.chain(overlaps) {
            writeln!(streams.output, "{sentence}").map_err(write_error)?;
        }
        for step in &report.order {
            let title = works.iter().find(|work| work.session == step.session);
            let title = title.map_or(step.session.as_str(), |work| work.title.as_str());
            let preview = match step.conflicts.len() {
                0 => "would land".to_owned(),
                1 => "would be in conflict in one file".to_owned(),
                count => format!("would be in conflict in {count} files"),
            };
            writeln!(streams.output, "{title}: {preview}").map_err(write_error)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn forecast_json(report: &ForecastReport) -> serde_json::Value {
    let conflicts = report.conflicts.iter().map(|it| {
        json!({
            "path": it.path.to_path(),
            "one": it.one.name(),
            "two": it.two.name(),
            "told": it.for_person,
        })
    });
    let order = report.order.iter().map(|it| {
        let paths: Vec<_> = it.conflicts.iter().map(TreePath::to_path).collect();
        json!({ "session": it.session, "conflicts": paths })
    });
    json!({
        "conflicts": conflicts.collect::<Vec<_>>(),
        "near": report.overlaps.iter().map(|it| &it.for_person).collect::<Vec<_>>(),
        "order": order.collect::<Vec<_>>(),
    })
}

impl LandCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (worktrees, saved) = self.repository.load_board(dirs)?;
        let checks = CheckCommands::new(dirs, &worktrees);
        if !self.check.is_empty() {
            checks.save(&self.check).map_err(error_text)?;
        }
        let new_errors = if self.allow_errors {
            NewErrors::Allowed
        } else {
            NewErrors::Refused
        };
        let checks = checks.load(new_errors).map_err(error_text)?;
        let landings = LandingService::open(&worktrees).map_err(error_text)?;
        for notice in &landings.notices {
            print_notice(streams, notice);
        }
        let results = self.land(&landings, (&worktrees, &saved), &*checks, streams)?;
        let mut code = ExitCode::SUCCESS;
        for result in results {
            writeln!(streams.output, "{}: {}", result.title, result.text).map_err(write_error)?;
            if !result.is_good {
                code = ExitCode::FAILURE;
            }
            if result.may_allow_errors {
                print_notice(streams, "--allow-errors lands it without this check");
            }
            record_outcome(dirs, (&worktrees, &saved), &result)?;
        }
        Ok(code)
    }

    /// Performs the landing action of the options: undo, resolve conflicts, abandon, or else land.
    /// Returns a result for each landing. A landing or a resolution that fails is a result; an undo
    /// or an abandonment that fails is an error.
    fn land(
        &self,
        landings: &LandingService,
        (worktrees, saved): (&JobWorktrees, &SavedBoard),
        checks: &dyn CheckRunner,
        streams: &mut Streams<'_>,
    ) -> Result<Vec<LandingResult>, String> {
        if let Some(number) = self.undo {
            let undone = landings.undo(number, &saved.jobs).map_err(error_text)?;
            return Ok(vec![undone]);
        }
        if !self.settle.is_empty() {
            return resolutions::apply(landings, saved, &self.settle, checks);
        }
        if !self.give_up.is_empty() {
            let abandoned = self.give_up.iter();
            let abandoned =
                abandoned.map(|id| landings.abandon(job(saved, id)?).map_err(error_text));
            return abandoned.collect();
        }
        let jobs = self.selected_jobs(saved)?;
        let jobs = if self.jobs.is_empty() {
            available(worktrees, jobs, streams)
        } else {
            jobs
        };
        let loaded = JobReview::load(worktrees, &jobs).map_err(error_text)?;
        let mut review = loaded.review;
        let reviewed = jobs.iter().filter(|job| accepted_count(&review, job) > 0);
        let reviewed: Vec<&JobId> = reviewed.map(|job| &job.job).collect();
        accept_unreviewed(&mut review, &jobs);
        let work = AcceptedWork {
            review: &review,
            jobs: &jobs,
            is_selected: &|job| reviewed.contains(&&job.job),
            subject: self.message.as_deref(),
        };
        landings.land(&work, checks).map_err(error_text)
    }

    /// Returns the jobs of the command line, or all that are done and can be reviewed if it names
    /// none. Fails if a name is unknown, or if there are no such jobs.
    fn selected_jobs<'a>(&self, saved: &'a SavedBoard) -> Result<Vec<&'a JobStatus>, String> {
        let mut jobs = Vec::new();
        for id in &self.jobs {
            jobs.push(job(saved, id)?);
        }
        if self.jobs.is_empty() {
            let done = saved.jobs.iter().filter(|job| job.state.is_done());
            jobs.extend(done.filter(|job| job.is_reviewable()));
        }
        if jobs.is_empty() {
            Err("no agent is done whose work has not landed".to_owned())
        } else {
            Ok(jobs)
        }
    }
}

/// Records the outcome of a landing for its jobs.
fn record_outcome(
    dirs: &Dirs,
    (worktrees, saved): (&JobWorktrees, &SavedBoard),
    result: &LandingResult,
) -> Result<(), String> {
    let Some(outcome) = &result.outcome else {
        return Ok(());
    };
    let jobs = saved.jobs.iter();
    for job in jobs.filter(|job| result.jobs.contains(&job.job)) {
        let store = open_board_store(dirs, worktrees.main_repo()).map_err(error_text)?;
        let now_ms = RealClock::default().wall_ms();
        BoardHandle::note_outcome(&store, job, outcome, now_ms).map_err(error_text)?;
    }
    Ok(())
}
