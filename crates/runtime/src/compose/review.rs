//! Agents' changes hunk by hunk, and the stored decisions which of them may land.
//!
//! A decision belongs to a hunk's change, not to its position: a hunk that changes must be decided
//! again.

use std::collections::BTreeMap;
use std::sync::Arc;

use composer::SessionWork;
use composer::board::JobStatus;
use composer::change_history::SessionAuthors;
use composer::forecast::{ChangeGatherer, ChangedTrees, SessionChanges};
use composer::land::UnsavedBuffers;
use composer::review::{HunkDecision, HunkId, NoReviewSources, ReviewedSession};
use host::{Files as _, RealFiles};

use super::history::place_of;
use super::job_worktrees::JobWorktrees;
use super::land::{repository, work_of};

/// The largest file of decisions that is read, in bytes.
const MAX_DECISIONS_BYTES: u64 = 16 << 20;

/// The user's decisions, by hunk. Unbounded: grows with every decided hunk.
#[derive(Debug, Default)]
pub struct Decisions(BTreeMap<HunkId, HunkDecision>);

/// The changes of some jobs.
pub struct ReviewedChanges {
    /// The hunks with their decisions.
    pub review: composer::review::Review,
    /// The changes as a whole, by job.
    pub sessions: Vec<ReviewedSession>,
    /// Changes that were refused, as sentences.
    pub refused: Vec<String>,
}

impl Decisions {
    pub fn read(trees: &JobWorktrees) -> Result<Self, String> {
        let path = trees.folder().join("review.json");
        let kept: BTreeMap<String, bool> = match RealFiles.read(&path, MAX_DECISIONS_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                format!("{path} cannot be read: {error}; remove it to decide anew")
            })?,
            Err(error) if error.is_not_found() => BTreeMap::new(),
            Err(error) => return Err(error.to_string()),
        };
        let kept = kept.into_iter().filter_map(|(name, may_land)| {
            let choice = if may_land {
                HunkDecision::Accepted
            } else {
                HunkDecision::Rejected
            };
            Some((HunkId::parse(&name)?, choice))
        });
        Ok(Self(kept.collect()))
    }

    pub fn write(&self, trees: &JobWorktrees) -> Result<(), String> {
        let kept = self.0.iter();
        let kept: BTreeMap<String, bool> = kept
            .map(|(id, choice)| (id.to_string(), *choice == HunkDecision::Accepted))
            .collect();
        let bytes = serde_json::to_vec(&kept).map_err(|error| error.to_string())?;
        let path = trees.folder().join("review.json");
        RealFiles
            .write_private(&path, &bytes)
            .map_err(|error| error.to_string())
    }

    /// Returns the decision about a hunk.
    pub(super) fn of(&self, hunk: HunkId) -> Option<HunkDecision> {
        self.0.get(&hunk).copied()
    }

    /// Copies the decisions of a review.
    pub fn merge_review(&mut self, review: &composer::review::Review) {
        for hunk in review.hunks() {
            match review.decision(hunk.id) {
                Some(choice) => self.0.insert(hunk.id, choice),
                None => self.0.remove(&hunk.id),
            };
        }
    }
}

/// Whether a job's work can be looked at and has not landed.
pub fn is_reviewable(line: &JobStatus) -> bool {
    let has_landed = matches!(line.state, composer::board::JobState::Landed { .. });
    line.place.is_some() && !has_landed
}

/// Returns the jobs' current changes with their decisions. Blocks on the disk.
pub fn review_changes(
    trees: &JobWorktrees,
    lines: &[&JobStatus],
) -> Result<ReviewedChanges, String> {
    let mut works = Vec::new();
    for line in lines {
        works.push(work_of_job(trees, line)?);
    }
    let repository = repository(trees.main_repo())?;
    let gathered = gather(trees)?
        .read(
            &repository,
            &works,
            &UnsavedBuffers::new(),
            &ChangedTrees::All,
        )
        .map_err(|error| error.to_string())?;
    if let Some(sentence) = gathered.unread.into_values().next() {
        return Err(sentence);
    }
    let refused = gathered.refused.iter().flat_map(|(job, all)| {
        let told = |it: &git::land::RefusedPath| format!("{job}: {}", describe_refusal(it));
        all.iter().map(told).collect::<Vec<_>>()
    });
    let sessions: Vec<ReviewedSession> = gathered.input.sessions.iter().map(reviewed).collect();
    let writers = writers(trees, lines)?;
    let review =
        composer::review::Review::build(&repository, &sessions, &writers, &NoReviewSources);
    let decisions = Decisions::read(trees)?;
    let review = review.map_err(|error| error.to_string())?;
    Ok(ReviewedChanges {
        review: review.with_stored_decisions(|id| decisions.of(id)),
        refused: refused.collect(),
        sessions,
    })
}

/// Creates a reader of worktrees that caches unchanged files.
pub(super) fn gather(trees: &JobWorktrees) -> Result<ChangeGatherer, String> {
    let memory = trees.folder().join("forecast");
    let gather = ChangeGatherer::new(trees.main_repo(), &memory, Arc::new(RealFiles));
    gather.map_err(|error| error.to_string())
}

/// A job's work, called as the board calls it.
pub(super) fn work_of_job(trees: &JobWorktrees, line: &JobStatus) -> Result<SessionWork, String> {
    let mut work = work_of(trees, line, place_of(line)?)?;
    work.session.clone_from(&line.job);
    work.title.clone_from(&line.task.title);
    Ok(work)
}

/// Returns the reviewable changes of a session.
pub(super) fn reviewed(session: &SessionChanges) -> ReviewedSession {
    ReviewedSession {
        session: session.name.clone(),
        base: session.base.clone(),
        changes: session.changes.clone(),
    }
}

/// A name that is not taken, in a sentence.
pub(super) fn describe_refusal(one: &git::land::RefusedPath) -> String {
    format!("{} cannot land: {}", one.path, one.reason)
}

/// Returns the authors of the changes in the jobs' worktrees.
pub fn writers(trees: &JobWorktrees, lines: &[&JobStatus]) -> Result<SessionAuthors, String> {
    let mut writers = SessionAuthors::default();
    for line in lines {
        let authored = trees.authored(place_of(line)?)?;
        writers.0.insert(line.job.clone(), authored);
    }
    Ok(writers)
}
