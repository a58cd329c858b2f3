//! The present changes of jobs, read from their worktrees for a review.
//!
//! Start at `JobReview::load`.

use std::sync::Arc;

use git::Repository;
use git::land::RefusedPath;
use host::RealFiles;

use crate::Error;
use crate::change_history::SessionAuthors;
use crate::decisions::VerdictStore;
use crate::forecast::{ChangeGatherer, ChangedTrees};
use crate::job::JobStatus;
use crate::review::{NoReviewSources, Review};
use crate::work::{SessionChanges, SessionWork, UnsavedBuffers};
use crate::worktrees::JobWorktrees;

/// The changes of some jobs.
pub struct JobReview {
    /// The hunks with their verdicts.
    pub review: Review,
    /// The changes of each job as a whole.
    pub sessions: Vec<SessionChanges>,
    /// Changes that cannot land, as sentences.
    pub refused: Vec<String>,
}

impl JobReview {
    /// Reads the jobs' present changes, with the stored verdicts. Blocks on the disk.
    pub fn load(worktrees: &JobWorktrees, jobs: &[&JobStatus]) -> Result<Self, Error> {
        let mut works = Vec::new();
        for job in jobs {
            works.push(job_work(worktrees, job)?);
        }
        let repository = Repository::discover(worktrees.main_repo())?;
        let gathered = change_gatherer(worktrees)?.read(
            &repository,
            &works,
            &UnsavedBuffers::new(),
            &ChangedTrees::All,
        )?;
        if let Some(sentence) = gathered.unread.into_values().next() {
            return Err(Error::Failed(sentence));
        }
        let refused = gathered.refused.iter().flat_map(|(job, paths)| {
            let sentence = |path: &RefusedPath| format!("{job}: {}", describe_refusal(path));
            paths.iter().map(sentence).collect::<Vec<_>>()
        });
        let sessions = gathered.input.sessions;
        let authors = session_authors(worktrees, jobs)?;
        let review = Review::build(&repository, &sessions, &authors, &NoReviewSources)?;
        let store = VerdictStore::read(worktrees)?;
        Ok(Self {
            review: review.with_stored_verdicts(|id| store.verdict(id)),
            refused: refused.collect(),
            sessions,
        })
    }
}

/// Creates a gatherer that caches the metadata of the repository's files.
pub fn change_gatherer(worktrees: &JobWorktrees) -> Result<ChangeGatherer, Error> {
    let cache = worktrees.folder().join("forecast");
    Ok(ChangeGatherer::new(
        worktrees.main_repo(),
        &cache,
        Arc::new(RealFiles),
    )?)
}

/// Returns a job's work under the id and title of the job on the board, instead of those of its
/// session. Fails if the job has no worktree.
pub(crate) fn job_work(worktrees: &JobWorktrees, job: &JobStatus) -> Result<SessionWork, Error> {
    let mut work = worktrees.session_work(job)?;
    work.session.clone_from(&job.job);
    work.title.clone_from(&job.task.title);
    Ok(work)
}

/// Formats a sentence about a path that cannot land.
pub(crate) fn describe_refusal(path: &RefusedPath) -> String {
    format!("{} cannot land: {}", path.path, path.reason)
}

/// The change histories of the jobs' worktrees, which know the authors of lines.
pub(crate) fn session_authors(
    worktrees: &JobWorktrees,
    jobs: &[&JobStatus],
) -> Result<SessionAuthors, Error> {
    let mut authors = SessionAuthors::default();
    for job in jobs {
        let history = worktrees.history(job.worktree()?)?;
        authors.0.insert(job.job.clone(), history);
    }
    Ok(authors)
}
