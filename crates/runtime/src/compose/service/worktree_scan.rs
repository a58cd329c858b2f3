//! Scans the worktrees for each agent's changes and for conflicts among them. Blocks on the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use composer::board::JobStatus;
use composer::forecast::{ChangeGatherer, ChangedTrees, ForecastReport, Forecaster};
use composer::land::UnsavedBuffers;
use composer::review::{NoReviewSources, Review, ReviewedSession};
use composer::view::{BoardHunk, HunkVerdict, LandingConflict};
use git::Repository;
use git::merge::TreePath;
use project::UnsavedTexts;

use crate::compose::job_worktrees::{JobWorktrees, lock_of};
use crate::compose::land::MergeService;
use crate::compose::review::{
    describe_refusal, gather, is_reviewable, reviewed, work_of_job, writers,
};

/// Scans worktrees, and reuses the review while nothing changed.
pub(super) struct WorktreeScanner {
    worktrees: JobWorktrees,
    merges: Arc<MergeService>,
    gather: ChangeGatherer,
    forecast: Forecaster,
    unsaved: Arc<UnsavedTexts>,
    /// The last review, with the fingerprints that it was made from.
    last: Option<(Vec<ChangeFingerprint>, Review)>,
}

/// The state that a job's hunks depend on: its changes, and the number of logged edits.
#[derive(Clone, Debug, PartialEq)]
struct ChangeFingerprint {
    session: String,
    base: String,
    changes: Arc<git::merge::Changes>,
    authored: usize,
}

/// The result of a scan.
pub(super) struct ReviewScan {
    pub(super) branch: String,
    /// Every hunk; nothing is decided in it.
    pub(super) review: Review,
    /// The changes of each job.
    pub(super) sessions: Vec<ReviewedSession>,
    pub(super) report: ForecastReport,
    pub(super) disputes: Vec<LandingConflict>,
    pub(super) refused: BTreeMap<String, Vec<String>>,
    pub(super) trouble: Option<String>,
}

impl WorktreeScanner {
    pub(super) fn new(
        trees: &JobWorktrees,
        lander: &Arc<MergeService>,
        unsaved: Arc<UnsavedTexts>,
    ) -> Result<Self, String> {
        Ok(Self {
            worktrees: trees.clone(),
            merges: lander.clone(),
            gather: gather(trees)?,
            forecast: Forecaster::default(),
            unsaved,
            last: None,
        })
    }

    pub(super) fn scan(&mut self, lines: &[JobStatus]) -> Result<ReviewScan, String> {
        let open: Vec<&JobStatus> = lines.iter().filter(|line| is_reviewable(line)).collect();
        let mut works = Vec::new();
        let mut trouble = None;
        for line in &open {
            match work_of_job(&self.worktrees, line) {
                Ok(work) => works.push(work),
                Err(sentence) => trouble = Some(sentence),
            }
        }
        let repository = Repository::discover(self.worktrees.main_repo());
        let repository = repository.map_err(|error| error.to_string())?;
        let gathered = self
            .gather
            .read(&repository, &works, &self.buffers(), &ChangedTrees::All);
        let gathered = gathered.map_err(|error| error.to_string())?;
        let report = self.forecast.refresh(&repository, &gathered.input);
        let report = report.map_err(|error| error.to_string())?;
        let sessions: Vec<ReviewedSession> = gathered.input.sessions.iter().map(reviewed).collect();
        let is_read = |line: &&&JobStatus| sessions.iter().any(|it| it.session == line.job);
        let read: Vec<&JobStatus> = open.iter().filter(is_read).copied().collect();
        let disputes = self.merges.conflicts(lines).unwrap_or_else(|sentence| {
            trouble = Some(sentence);
            Vec::new()
        });
        let refused = gathered
            .refused
            .into_iter()
            .map(|(job, all)| (job, all.iter().map(describe_refusal).collect()));
        Ok(ReviewScan {
            branch: gathered.input.branch,
            review: self.review(&repository, &sessions, &read)?,
            sessions,
            report,
            disputes,
            refused: refused.collect(),
            trouble: trouble.or_else(|| gathered.unread.into_values().next()),
        })
    }

    /// Returns the hunks; the previous ones if none of their inputs changed.
    fn review(
        &mut self,
        repository: &Repository,
        sessions: &[ReviewedSession],
        lines: &[&JobStatus],
    ) -> Result<Review, String> {
        let writers = writers(&self.worktrees, lines)?;
        let prints = sessions.iter().map(|it| ChangeFingerprint {
            session: it.session.clone(),
            base: it.base.0.clone(),
            changes: it.changes.clone(),
            authored: writers
                .0
                .get(&it.session)
                .map_or(0, |authored| lock_of(authored).changes().len()),
        });
        let prints: Vec<ChangeFingerprint> = prints.collect();
        if let Some((known, review)) = &self.last
            && *known == prints
        {
            return Ok(review.clone());
        }
        let review = Review::build(repository, sessions, &writers, &NoReviewSources);
        let review = review.map_err(|error| error.to_string())?;
        self.last = Some((prints, review.clone()));
        Ok(review)
    }

    /// Returns the user's unsaved texts, by their paths in the checkout.
    fn buffers(&self) -> UnsavedBuffers {
        let hub = self.worktrees.main_repo();
        let texts = self.unsaved.paths().into_iter().filter_map(|path| {
            let inner = path.relative_to(hub)?;
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
            agent: hunk.session.clone(),
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
    fn the_agent_itself_is_no_author_worth_naming() {
        for (authors, told) in [
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
            assert_eq!(other_authors(&authors).as_deref(), told, "{authors:?}");
        }
    }
}
