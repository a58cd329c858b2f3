//! Scans the worktrees for each job's changes and for conflicts among them. Blocks on the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use git::Repository;
use git::merge::{Changes, TreePath};
use project::UnsavedTexts;

use crate::Error;
use crate::conflict::Conflict;
use crate::forecast::{ChangeGatherer, ChangedTrees, ForecastReport, Forecaster};
use crate::job::JobStatus;
use crate::job_review::{change_gatherer, describe_refusal, job_work, session_authors};
use crate::landing::LandingService;
use crate::review::{HunkVerdict, NoReviewSources, Review};
use crate::view::BoardHunk;
use crate::work::{SessionChanges, UnsavedBuffers};
use crate::worktrees::{JobWorktrees, lock_of};

/// Scans worktrees, and reuses the review while nothing changed.
pub(super) struct WorktreeScanner {
    worktrees: JobWorktrees,
    landings: Arc<LandingService>,
    gatherer: ChangeGatherer,
    forecaster: Forecaster,
    unsaved: Arc<UnsavedTexts>,
    /// The last review, with the fingerprints that it was made from.
    last: Option<(Vec<ChangeFingerprint>, Review)>,
}

/// The state that a job's hunks depend on: its changes, and the number of changes in its history.
#[derive(Clone, Debug, PartialEq)]
struct ChangeFingerprint {
    session: String,
    base: String,
    changes: Arc<Changes>,
    recorded: usize,
}

/// The result of a scan.
pub(super) struct ReviewScan {
    pub(super) branch: String,
    /// All hunks, undecided.
    pub(super) review: Review,
    /// The changes of each job.
    pub(super) sessions: Vec<SessionChanges>,
    pub(super) forecast: ForecastReport,
    pub(super) landing_conflicts: Vec<Conflict>,
    /// Changes that cannot land, by job, as sentences.
    pub(super) refused: BTreeMap<String, Vec<String>>,
    /// A worktree or a landing that could not be read, as a sentence.
    pub(super) error: Option<String>,
}

impl WorktreeScanner {
    /// Creates a scanner that has not scanned yet. Fails if the gatherer of changes cannot be
    /// created.
    pub(super) fn new(
        worktrees: &JobWorktrees,
        landings: &Arc<LandingService>,
        unsaved: Arc<UnsavedTexts>,
    ) -> Result<Self, Error> {
        Ok(Self {
            worktrees: worktrees.clone(),
            landings: landings.clone(),
            gatherer: change_gatherer(worktrees)?,
            forecaster: Forecaster::default(),
            unsaved,
            last: None,
        })
    }

    /// Reads the changes of all reviewable jobs, and computes their hunks and the forecast. Fails
    /// if the repository cannot be read; a worktree or landing that cannot be read only sets
    /// `error`.
    pub(super) fn scan(&mut self, jobs: &[JobStatus]) -> Result<ReviewScan, Error> {
        let open: Vec<&JobStatus> = jobs.iter().filter(|job| job.is_reviewable()).collect();
        let mut works = Vec::new();
        let mut error = None;
        for job in &open {
            match job_work(&self.worktrees, job) {
                Ok(work) => works.push(work),
                Err(why) => error = Some(why.to_string()),
            }
        }
        let repository = Repository::discover(self.worktrees.main_repo())?;
        let gathered =
            self.gatherer
                .read(&repository, &works, &self.buffers(), &ChangedTrees::All)?;
        let forecast = self.forecaster.refresh(&repository, &gathered.input)?;
        let sessions = gathered.input.sessions;
        let is_read = |job: &&&JobStatus| sessions.iter().any(|it| it.session == job.job);
        let read: Vec<&JobStatus> = open.iter().filter(is_read).copied().collect();
        let landing_conflicts = self.landings.conflicts(jobs).unwrap_or_else(|why| {
            error = Some(why.to_string());
            Vec::new()
        });
        let refused = gathered.refused.into_iter();
        let refused =
            refused.map(|(job, paths)| (job, paths.iter().map(describe_refusal).collect()));
        Ok(ReviewScan {
            branch: gathered.input.branch,
            review: self.review(&repository, &sessions, &read)?,
            sessions,
            forecast,
            landing_conflicts,
            refused: refused.collect(),
            error: error.or_else(|| gathered.unread.into_values().next()),
        })
    }

    /// Reviews the changes; the previous review if none of its inputs changed.
    fn review(
        &mut self,
        repository: &Repository,
        sessions: &[SessionChanges],
        jobs: &[&JobStatus],
    ) -> Result<Review, Error> {
        let authors = session_authors(&self.worktrees, jobs)?;
        let fingerprints = sessions.iter().map(|it| ChangeFingerprint {
            session: it.session.clone(),
            base: it.base.0.clone(),
            changes: it.changes.clone(),
            recorded: authors
                .0
                .get(&it.session)
                .map_or(0, |history| lock_of(history).changes().len()),
        });
        let fingerprints: Vec<ChangeFingerprint> = fingerprints.collect();
        if let Some((known, review)) = &self.last
            && *known == fingerprints
        {
            return Ok(review.clone());
        }
        let review = Review::build(repository, sessions, &authors, &NoReviewSources)?;
        self.last = Some((fingerprints, review.clone()));
        Ok(review)
    }

    /// The user's unsaved texts, by their paths in the checkout.
    fn buffers(&self) -> UnsavedBuffers {
        let main_repo = self.worktrees.main_repo();
        let texts = self.unsaved.paths().into_iter().filter_map(|path| {
            let inner = path.relative_to(main_repo)?;
            let text = self.unsaved.text(&path)?;
            Some((TreePath::of_path(inner), Arc::from(text.into_bytes())))
        });
        texts.collect()
    }
}

/// The hunks of a review as a window shows them.
pub(super) fn review_hunks(review: &Review) -> Vec<BoardHunk> {
    let plain = |lines: Vec<String>| {
        let plain = lines.iter().map(|line| line.trim_end_matches(['\r', '\n']));
        plain.map(str::to_owned).collect::<Vec<_>>()
    };
    let hunks = review.hunks().iter().map(|hunk| {
        let (before, after) = review.changed_lines(hunk);
        let path = hunk.path.to_string();
        let reason = || hunk.reason().map(|reason| reason.describe().to_owned());
        BoardHunk {
            id: hunk.id.to_string(),
            job: hunk.session.clone(),
            symbol: hunk.symbol.clone(),
            line: hunk.row() + 1,
            before: plain(before),
            after: plain(after),
            note: hunk.note(),
            author: other_authors(&hunk.authors),
            risk: run_by(&path).or_else(reason),
            verdict: HunkVerdict::Open,
            path,
        }
    });
    hunks.collect()
}

/// Names the authors of a hunk other than the agent itself.
fn other_authors(authors: &[String]) -> Option<String> {
    let mut others: Vec<&str> = Vec::new();
    for author in authors {
        let name = match author.as_str() {
            it if it.starts_with("the agent") => continue,
            it if it.starts_with("a command of the agent") => "a command",
            "the user" => "you",
            it => it,
        };
        if !others.contains(&name) {
            others.push(name);
        }
    }
    (!others.is_empty()).then(|| others.join(", "))
}

/// Returns the program that runs a file by itself, which makes the file worth a review.
fn run_by(path: &str) -> Option<String> {
    let name = sandbox::names::of(std::path::Path::new(path))?;
    Some(name.why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::other_authors;

    #[test]
    fn the_agent_itself_is_not_named_as_an_author() {
        for (authors, expected) in [
            (&["the agent s1 (turn 2)"] as &[&str], None),
            (&[], None),
            (
                &["the agent s1 (turn 1)", "the user", "an undo"],
                Some("you, an undo"),
            ),
            (
                &[
                    "a command of the agent s1 (turn 1)",
                    "a command of the agent s1 (turn 2)",
                ],
                Some("a command"),
            ),
        ] {
            let authors: Vec<String> = authors.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(other_authors(&authors).as_deref(), expected, "{authors:?}");
        }
    }
}
