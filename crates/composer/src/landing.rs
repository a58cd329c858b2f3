//! Landings of jobs' accepted work on the branch of a repository, and their undo.
//!
//! Every method blocks on the disk.
//! Start at `LandingService::land`; `land` is the queue below it.

mod conflicts;
mod selection;

use std::sync::Arc;

use base::LogErr;
use git::Repository;
use git::land::Signature;
use host::{RealClock, RealFiles};

use crate::Error;
use crate::job::{JobId, JobStatus, WorkOutcome};
use crate::land::{
    CheckRunner, LandingError, LandingId, LandingOutcome, LandingRequest, LandingStep,
    LandingSummary, Landings,
};
use crate::work::UnsavedBuffers;
use crate::worktrees::JobWorktrees;

pub use selection::{AcceptedWork, accept_unreviewed, accepted_count};

use selection::{JobLanding, contains, ids};

/// Lands the work of a repository's jobs.
pub struct LandingService {
    worktrees: JobWorktrees,
    landings: Landings,
    /// The results of landings that a killed program left unfinished, as sentences.
    pub notices: Vec<String>,
}

/// The result of an attempt to land, to resolve or to undo, for the board and for output.
#[derive(Debug)]
pub struct LandingResult {
    /// The jobs that it is about.
    pub jobs: Vec<JobId>,
    /// The title of the work.
    pub title: String,
    /// A sentence for the user.
    pub text: String,
    /// Whether the attempt succeeded.
    pub is_good: bool,
    /// The outcome to record for the jobs, if it changed.
    pub outcome: Option<WorkOutcome>,
    /// Whether it failed only for new errors, so that it may land with `NewErrors::Allowed`.
    pub may_allow_errors: bool,
}

impl LandingService {
    /// Opens the landings of a repository; finishes or requeues those that a killed program left.
    pub fn open(worktrees: &JobWorktrees) -> Result<Self, Error> {
        let (landings, recovered) = open_landings(worktrees)?;
        let mut notices = worktrees.take_notices();
        notices.extend(recovered);
        Ok(Self {
            worktrees: worktrees.clone(),
            landings,
            notices,
        })
    }

    /// Lands work, one landing after the other, each checked by `checks`. A failed landing does not
    /// stop the others: each landing has its own result. An error means that no landing was tried.
    pub fn land(
        &self,
        work: &AcceptedWork<'_>,
        checks: &dyn CheckRunner,
    ) -> Result<Vec<LandingResult>, Error> {
        let repository = Repository::discover(self.worktrees.main_repo())?;
        let author = repository.signature().unwrap_or_else(|| Signature {
            name: "Burin".to_owned(),
            email: "burin@localhost".to_owned(),
        });
        let landings = work.landings(&author)?.into_iter();
        let results = landings.map(|landing| self.land_one(&repository, landing, checks));
        Ok(results.collect())
    }

    fn land_one(
        &self,
        repository: &Repository,
        JobLanding { jobs, request }: JobLanding,
        checks: &dyn CheckRunner,
    ) -> LandingResult {
        let landed = request.and_then(|request| {
            if request.changes.is_empty() {
                let text = "there is nothing to land".to_owned();
                return Ok(LandingResult::good(ids(&jobs), text));
            }
            let id = self.enqueue(repository, &request)?;
            self.run(id, &jobs, checks)
        });
        landed.unwrap_or_else(|error| LandingResult::failed(ids(&jobs), &error))
    }

    /// Queues a request; an earlier landing of the same work is queued again with its resolutions.
    fn enqueue(
        &self,
        repository: &Repository,
        request: &LandingRequest,
    ) -> Result<LandingId, Error> {
        let base = repository.tree_of(&request.base.0)?;
        let tree = repository.write(base, &request.changes)?.to_string();
        let mut again = None;
        for open in self.landings.list()? {
            if open.session != request.session || open.undoes.is_some() || !is_open(&open.step) {
                continue;
            }
            if open.tree == tree {
                again = Some(open.id)
            } else {
                self.landings.drop_landing(open.id)?
            }
        }
        match again {
            Some(id) => {
                self.landings.try_again(id)?;
                Ok(id)
            }
            None => Ok(self.landings.enqueue(request)?),
        }
    }

    /// Runs a queued landing.
    fn run(
        &self,
        id: LandingId,
        jobs: &[JobStatus],
        checks: &dyn CheckRunner,
    ) -> Result<LandingResult, Error> {
        let landed = self.landings.run(id, checks, &UnsavedBuffers::new())?;
        let (text, mut outcome) = describe_outcome(&landed, id);
        let text = with_lines(text, &checks.take_notices());
        let landings = self.landings.list()?;
        let work = landings.iter().find(|it| it.id == id);
        if let (LandingOutcome::Nothing, Some(work)) = (&landed, work) {
            // It landed before a killed program could update the board.
            outcome = landed_before(&landings, &work.session).map(WorkOutcome::Landed);
        }
        if let (Some(WorkOutcome::Landed(commit)), Some(work)) = (&outcome, work) {
            for worktree in jobs.iter().filter_map(|job| job.worktree.as_ref()) {
                self.worktrees.record_landed(worktree, &work.tree, commit)?;
            }
        }
        Ok(LandingResult {
            is_good: is_good(&landed),
            may_allow_errors: landed.may_allow_errors(),
            outcome,
            ..LandingResult::good(ids(jobs), text)
        })
    }

    /// Undoes the landing with this number, or the latest landing if the number is 0. `jobs` are
    /// all jobs of the board. The result names the affected jobs.
    pub fn undo(&self, number: u64, jobs: &[JobStatus]) -> Result<LandingResult, Error> {
        let landings = self.landings.list()?;
        let mut landed = landings.iter().filter(|it| is_landed(&it.step));
        let summary = match number {
            // An undo is a landing itself; the default is the latest work.
            0 => landed.rfind(|it| it.undoes.is_none()),
            _ => landed.find(|it| it.id == LandingId(number)),
        };
        let summary =
            summary.ok_or_else(|| Error::NothingToDo("there is no landing to undo".to_owned()))?;
        let (id, outcome) = self.landings.undo(summary.id, &UnsavedBuffers::new())?;
        let jobs = jobs.iter().filter(|job| contains(&summary.session, job));
        let jobs: Vec<JobId> = jobs.map(|job| job.job.clone()).collect();
        let is_good = is_good(&outcome);
        Ok(LandingResult {
            is_good,
            outcome: is_good.then_some(WorkOutcome::Undone),
            title: summary.title.clone(),
            ..LandingResult::good(jobs, describe_undo(summary.id, &outcome, id))
        })
    }
}

impl LandingResult {
    fn good(jobs: Vec<JobId>, text: String) -> Self {
        Self {
            title: jobs.join(" and "),
            jobs,
            text,
            is_good: true,
            outcome: None,
            may_allow_errors: false,
        }
    }

    /// An attempt that failed and changed nothing.
    pub fn failed(jobs: Vec<JobId>, error: &Error) -> Self {
        Self {
            is_good: false,
            ..Self::good(jobs, error.to_string())
        }
    }
}

/// Finishes landings that a killed program left unfinished; the next landing reports them. Blocks
/// on the disk.
pub fn recover(worktrees: &JobWorktrees) {
    // The next landing meets the same error and reports it.
    if let Some((_, recovered)) = open_landings(worktrees).log_err() {
        worktrees.add_notices(recovered);
    }
}

/// Opens the landings of a repository, with a sentence about each that a killed program left and
/// that was finished or requeued.
fn open_landings(worktrees: &JobWorktrees) -> Result<(Landings, Vec<String>), LandingError> {
    Landings::open(
        worktrees.main_repo(),
        &worktrees.folder().join("landings"),
        Arc::new(RealFiles),
        Arc::new(RealClock::default()),
    )
}

/// Whether a landing may still land.
fn is_open(step: &LandingStep) -> bool {
    matches!(
        step,
        LandingStep::Waiting
            | LandingStep::Conflicted { .. }
            | LandingStep::Failed { .. }
            | LandingStep::Blocked { .. }
    )
}

/// Whether a landing is on the branch and was not undone.
fn is_landed(step: &LandingStep) -> bool {
    matches!(
        step,
        LandingStep::Landed {
            undone_by: None,
            ..
        }
    )
}

/// Returns whether a landing succeeded: it landed, or the branch contained all its changes already.
fn is_good(outcome: &LandingOutcome) -> bool {
    matches!(
        outcome,
        LandingOutcome::Landed { .. } | LandingOutcome::Nothing
    )
}

/// The commit of the session's last landing, unless that was undone.
fn landed_before(landings: &[LandingSummary], session: &str) -> Option<String> {
    let mut commits = landings.iter().filter_map(|it| match &it.step {
        LandingStep::Landed {
            to,
            undone_by: None,
            ..
        } if it.session == session && it.undoes.is_none() => Some(to.0.clone()),
        _ => None,
    });
    commits.next_back()
}

/// Describes the outcome of a landing, and returns the outcome to record for its jobs.
fn describe_outcome(outcome: &LandingOutcome, id: LandingId) -> (String, Option<WorkOutcome>) {
    match outcome {
        LandingOutcome::Landed { commit, left, .. } => {
            let short: String = commit.0.chars().take(12).collect();
            let text = format!("landed as {short} (landing {})", id.0);
            let landed = WorkOutcome::Landed(commit.0.clone());
            (with_lines(text, left), Some(landed))
        }
        LandingOutcome::Conflicted { sentence, .. } => (
            sentence.clone(),
            Some(WorkOutcome::Conflict(sentence.clone())),
        ),
        LandingOutcome::Failed { sentence, .. } | LandingOutcome::Blocked { sentence } => {
            (sentence.clone(), None)
        }
        LandingOutcome::Nothing => ("the branch already has all of it".to_owned(), None),
    }
}

/// Describes the outcome of undoing `undone`; the undo is a landing itself.
fn describe_undo(undone: LandingId, outcome: &LandingOutcome, id: LandingId) -> String {
    match outcome {
        LandingOutcome::Landed { commit, left, .. } => {
            let short: String = commit.0.chars().take(12).collect();
            let text = format!(
                "landing {} was undone by {short} (landing {})",
                undone.0, id.0
            );
            with_lines(text, left)
        }
        LandingOutcome::Nothing => {
            format!("the branch holds nothing of landing {} any more", undone.0)
        }
        LandingOutcome::Conflicted { .. }
        | LandingOutcome::Failed { .. }
        | LandingOutcome::Blocked { .. } => describe_outcome(outcome, id).0,
    }
}

/// Adds a line for each of these sentences.
fn with_lines(mut text: String, sentences: &[String]) -> String {
    for sentence in sentences {
        text.push_str(&format!("\n  {sentence}"));
    }
    text
}
