//! Lands agents' work on the branch of their repository, and undoes landings.

mod conflicts;

use std::sync::Arc;

use base::{AbsPath, LogErr};
use composer::board::{JobId, JobStatus, JobWorktree, WorkOutcome};
use composer::land::{
    CheckRunner, CommitMessage, LandingId, LandingOutcome, LandingRequest, LandingStep,
    LandingSummary, Landings, UnsavedBuffers,
};
use composer::{CommitId, SessionWork};
use git::Repository;
use git::land::Signature;
use host::{RealClock, RealFiles};

use super::job_worktrees::JobWorktrees;
use super::selection::{MergeRequest, SelectionError, is_of};

/// Brings work onto the branch of a repository, and takes it back.
pub struct MergeService {
    worktrees: JobWorktrees,
    landings: Landings,
    /// The outcomes of landings that a killed program left behind, as sentences.
    pub notices: Vec<String>,
}

/// The result of one attempt to land.
pub struct MergeResult {
    /// The jobs, where those on the board are meant.
    pub jobs: Vec<JobId>,
    /// The title of the work.
    pub title: String,
    /// A sentence for the user.
    pub text: String,
    /// Whether the attempt succeeded.
    pub is_good: bool,
    /// The new state of the jobs on the board.
    pub settled: Option<WorkOutcome>,
}

impl MergeService {
    /// Finishes or undoes landings that a killed program left. Blocks on the disk, like all methods
    /// here.
    pub fn open(trees: &JobWorktrees) -> Result<Self, String> {
        let landings = open_landings(trees);
        let (landings, now) = landings.map_err(|error| error.to_string())?;
        let mut told = trees.take_notices();
        told.extend(now);
        Ok(Self {
            worktrees: trees.clone(),
            landings,
            notices: told,
        })
    }

    /// Lands the requests one after the other. A failure does not stop the others.
    pub fn land_all(
        &self,
        loads: Vec<Result<MergeRequest, SelectionError>>,
        message: Option<&str>,
        checks: &dyn CheckRunner,
    ) -> Vec<MergeResult> {
        let landed = loads.into_iter().map(|load| {
            let (jobs, landed) = match load {
                Ok(load) => (jobs_of(&load.lines), self.land(load, message, checks)),
                Err(unfit) => (unfit.jobs, Err(unfit.why)),
            };
            landed.unwrap_or_else(|sentence| MergeResult::new(jobs, sentence))
        });
        landed.collect()
    }

    fn land(
        &self,
        load: MergeRequest,
        message: Option<&str>,
        checks: &dyn CheckRunner,
    ) -> Result<MergeResult, String> {
        if load.changes.is_empty() {
            return Ok(MergeResult {
                is_good: true,
                ..MergeResult::new(jobs_of(&load.lines), "there is nothing to land".to_owned())
            });
        }
        let repository = repository(self.worktrees.main_repo())?;
        let author = repository.signature().unwrap_or_else(|| Signature {
            name: "Burin".to_owned(),
            email: "burin@localhost".to_owned(),
        });
        let request = LandingRequest {
            session: load.session,
            title: load.title,
            base: load.base,
            changes: load.changes,
            branch: None,
            author,
            words: CommitMessage {
                subject: message.unwrap_or(&load.subject).to_owned(),
                turns: load.turns,
                ..CommitMessage::default()
            },
        };
        let id = self.begun(&repository, &request)?;
        self.go_on(id, &load.lines, checks)
    }

    /// Returns the landing of this request: the interrupted one with the conflicts resolved since,
    /// or a new one.
    fn begun(
        &self,
        repository: &Repository,
        request: &LandingRequest,
    ) -> Result<LandingId, String> {
        let sentence = |error: composer::land::Error| error.to_string();
        let base = repository.tree_of(&request.base.0);
        let base = base.map_err(|error| error.to_string())?;
        let tree = repository.write(base, &request.changes);
        let tree = tree.map_err(|error| error.to_string())?.to_string();
        let mut again = None;
        for open in self.landings.list().map_err(sentence)? {
            if open.session != request.session || open.undoes.is_some() || !is_open(&open.step) {
                continue;
            }
            if open.tree == tree {
                again = Some(open.id)
            } else {
                self.landings.drop_landing(open.id).map_err(sentence)?
            }
        }
        match again {
            Some(id) => self.landings.try_again(id).map(|()| id).map_err(sentence),
            None => self.landings.enqueue(request).map_err(sentence),
        }
    }

    /// Gives a landing that waits its turn.
    fn go_on(
        &self,
        id: LandingId,
        lines: &[JobStatus],
        checks: &dyn CheckRunner,
    ) -> Result<MergeResult, String> {
        let outcome = self.landings.run(id, checks, &UnsavedBuffers::new());
        let outcome = outcome.map_err(|error| error.to_string())?;
        let (text, mut settled) = describe_outcome(&outcome, id);
        let landings = self.landings.list().map_err(|error| error.to_string())?;
        let work = landings.iter().find(|it| it.id == id);
        if let (LandingOutcome::Nothing, Some(work)) = (&outcome, work) {
            // It landed before a killed program could update the board.
            settled = landed_before(&landings, &work.session).map(WorkOutcome::Landed);
        }
        if let (Some(WorkOutcome::Landed(commit)), Some(work)) = (&settled, work) {
            for place in lines.iter().filter_map(|line| line.place.as_ref()) {
                self.worktrees.landed(place, &work.tree, commit)?;
            }
        }
        Ok(MergeResult {
            is_good: matches!(
                outcome,
                LandingOutcome::Landed { .. } | LandingOutcome::Nothing
            ),
            settled,
            ..MergeResult::new(jobs_of(lines), text)
        })
    }

    /// Takes a landing back: the one of this number, or the latest for 0.
    pub fn undo(&self, number: u64, lines: &[JobStatus]) -> Result<MergeResult, String> {
        let landed = self.landings.list().map_err(|error| error.to_string())?;
        let is_there = |step: &LandingStep| {
            matches!(
                step,
                LandingStep::Landed {
                    undone_by: None,
                    ..
                }
            )
        };
        let mut open = landed.iter().filter(|it| is_there(&it.step));
        let summary = match number {
            // An undo is a landing itself; the default is the latest work.
            0 => open.rfind(|it| it.undoes.is_none()),
            _ => open.find(|it| it.id == LandingId(number)),
        };
        let summary = summary.ok_or("there is no landing to undo")?;
        let (id, outcome) = self
            .landings
            .undo(summary.id, &UnsavedBuffers::new())
            .map_err(|error| error.to_string())?;
        let text = undone(summary.id, &outcome, id);
        let is_good = matches!(
            outcome,
            LandingOutcome::Landed { .. } | LandingOutcome::Nothing
        );
        let lines = lines.iter().filter(|line| is_of(&summary.session, line));
        let jobs: Vec<JobId> = lines.map(|line| line.job.clone()).collect();
        Ok(MergeResult {
            is_good,
            settled: is_good.then_some(WorkOutcome::TakenBack),
            title: summary.title.clone(),
            ..MergeResult::new(jobs, text)
        })
    }
}

impl MergeResult {
    /// A try that did nothing, and why.
    pub fn new(jobs: Vec<JobId>, text: String) -> Self {
        Self {
            title: jobs.join(" and "),
            jobs,
            text,
            is_good: false,
            settled: None,
        }
    }
}

fn jobs_of(lines: &[JobStatus]) -> Vec<JobId> {
    lines.iter().map(|line| line.job.clone()).collect()
}

/// Whether a landing may get through yet.
fn is_open(step: &LandingStep) -> bool {
    matches!(
        step,
        LandingStep::Waiting
            | LandingStep::Conflicted { .. }
            | LandingStep::Failed { .. }
            | LandingStep::Blocked { .. }
    )
}

/// Returns the commit of the session's last landing, unless that was undone.
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

fn open_landings(trees: &JobWorktrees) -> Result<(Landings, Vec<String>), composer::land::Error> {
    Landings::open(
        trees.main_repo(),
        &trees.folder().join("landings"),
        Arc::new(RealFiles),
        Arc::new(RealClock::default()),
    )
}

/// Finishes landings that a killed program left half done; the next landing reports them.
pub(super) fn recover(trees: &JobWorktrees) {
    // The next landing meets the same error and reports it.
    if let Some((_, told)) = open_landings(trees).log_err() {
        trees.add_notices(told);
    }
}

/// Describes the outcome of a landing, and returns the new state of its jobs.
fn describe_outcome(outcome: &LandingOutcome, id: LandingId) -> (String, Option<WorkOutcome>) {
    match outcome {
        LandingOutcome::Landed { commit, left, .. } => {
            let short: String = commit.0.chars().take(12).collect();
            let mut text = format!("landed as {short} (landing {})", id.0);
            for sentence in left {
                text.push_str(&format!("\n  {sentence}"));
            }
            (text, Some(WorkOutcome::Landed(commit.0.clone())))
        }
        LandingOutcome::Conflicted { sentence, .. } => (
            sentence.clone(),
            Some(WorkOutcome::Conflict(sentence.clone())),
        ),
        LandingOutcome::Failed { sentence, .. } | LandingOutcome::Blocked { sentence } => {
            (sentence.clone(), None)
        }
        LandingOutcome::Nothing => ("the branch has it all already".to_owned(), None),
    }
}

/// Describes the outcome of undoing landing `taken`; the undo is a landing itself.
fn undone(taken: LandingId, outcome: &LandingOutcome, id: LandingId) -> String {
    match outcome {
        LandingOutcome::Landed { commit, left, .. } => {
            let short: String = commit.0.chars().take(12).collect();
            let mut text = format!(
                "landing {} was undone by {short} (landing {})",
                taken.0, id.0
            );
            for sentence in left {
                text.push_str(&format!("\n  {sentence}"));
            }
            text
        }
        LandingOutcome::Nothing => {
            format!("the branch holds nothing of landing {} any more", taken.0)
        }
        LandingOutcome::Conflicted { .. }
        | LandingOutcome::Failed { .. }
        | LandingOutcome::Blocked { .. } => describe_outcome(outcome, id).0,
    }
}

pub fn work_of(
    trees: &JobWorktrees,
    line: &JobStatus,
    place: &JobWorktree,
) -> Result<SessionWork, String> {
    trees.acquire(&place.lease)?;
    Ok(SessionWork {
        session: line.session.clone().unwrap_or_else(|| line.job.clone()),
        title: format!("{} {}", line.job, line.task.title),
        root: place.root()?,
        git_dir: place.git_dir()?,
        base: CommitId(place.base.clone()),
    })
}

pub fn repository(hub: &AbsPath) -> Result<Repository, String> {
    Repository::discover(hub).map_err(|error| error.to_string())
}
