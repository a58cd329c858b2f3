//! Best-of-N: compares several attempts at the same task.
//!
//! Candidates are ranked by their checks, then by the size of their changes, then by cost. One
//! candidate is taken as a whole, or hunks of several are mixed; the mixture is checked when it
//! lands.
//! Start at `measure` and `compare`; mixing is `Review::mix`.

use std::collections::BTreeSet;

use base::AbsPath;
use git::Repository;
use git::land::{CommitSpec, Signature};
use host::Files;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::job::{JobId, JobStatus};
use crate::land::{Check, CheckRunner, LandingCandidate};
use crate::review::Review;
use crate::work::{CommitId, SessionChanges};

/// The measurements of one candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateScore {
    /// The job of the candidate.
    pub job: JobId,
    /// The job's state: `done`, `failed`.
    pub state: String,
    /// Results of its checks; empty if none ran.
    pub checks: Vec<Check>,
    /// Number of files that differ from the base.
    pub files: usize,
    /// Number of added lines.
    pub added: usize,
    /// Number of removed lines.
    pub removed: usize,
    /// Cost in billionths of a US dollar, if known.
    pub cost_nano: Option<u64>,
    /// Working time of the agent, in milliseconds.
    pub worked_ms: u64,
}

impl CandidateScore {
    /// Returns the number of passed checks, which is 0 if no checks ran.
    pub fn passed_checks(&self) -> usize {
        self.checks.iter().filter(|check| check.is_passed).count()
    }

    /// Returns the sort key of a candidate; the smallest is the best: not done, failed checks, no
    /// changes, changed lines, cost, working time in milliseconds. An unknown cost sorts last.
    fn rank(&self) -> (bool, usize, usize, usize, u64, u64) {
        (
            !matches!(self.state.as_str(), "done" | "landed"),
            self.checks.len() - self.passed_checks(),
            // A candidate without changes has done nothing.
            usize::from(self.files == 0),
            self.added + self.removed,
            self.cost_nano.unwrap_or(u64::MAX),
            self.worked_ms,
        )
    }
}

/// Measures a candidate by its hunks in `review` and its job status. Ignores the verdicts.
pub fn measure(review: &Review, line: &JobStatus, checks: Vec<Check>) -> CandidateScore {
    let own = review
        .hunks()
        .iter()
        .filter(|hunk| hunk.session == line.job);
    let (mut paths, mut added, mut removed) = (BTreeSet::new(), 0, 0);
    for hunk in own {
        let (went, came) = review.changed_lines(hunk);
        paths.insert(&hunk.path);
        added += came.len();
        removed += went.len();
    }
    CandidateScore {
        job: line.job.clone(),
        state: line.state.label().to_owned(),
        checks,
        files: paths.len(),
        added,
        removed,
        cost_nano: line.cost_nano,
        worked_ms: line.worked_ms,
    }
}

/// Sorts the candidates, best first. Finished candidates come before others. Ties are resolved by
/// fewer failed checks, then by whether there are changes at all, then by smaller changes, lower
/// cost and less time.
pub fn compare(mut candidates: Vec<CandidateScore>) -> Vec<CandidateScore> {
    candidates.sort_by_key(CandidateScore::rank);
    candidates
}

/// Formats a comparison as a table of plain text, one line for each candidate in the given order.
pub fn format_table(candidates: &[CandidateScore]) -> String {
    let mut text = String::from("job    state        checks  files  lines        cost      time\n");
    for one in candidates {
        let lines = format!("+{} -{}", one.added, one.removed);
        let cost = match one.cost_nano {
            Some(nano) => format!("${:.4}", nano as f64 / 1e9),
            None => "unknown".to_owned(),
        };
        let checks = format!("{}/{}", one.passed_checks(), one.checks.len());
        text.push_str(&format!(
            "{:<6} {:<12} {checks:<7} {:<6} {lines:<12} {cost:<9} {:.1} s\n",
            one.job,
            one.state,
            one.files,
            one.worked_ms as f64 / 1000.0
        ));
    }
    text
}

/// Runs the checks on a copy of a candidate's work, merged onto the commit from which it started.
/// An error means that the checks gave no result. Blocks on the disk and on the checks.
pub fn run_checks(
    main_repo: &AbsPath,
    reviewed: &SessionChanges,
    checks: &dyn CheckRunner,
    files: &dyn Files,
) -> Result<Vec<Check>, Error> {
    let repository = Repository::discover(main_repo)?;
    let onto = repository.commit_id(&reviewed.base.0)?;
    let base = repository.tree_of(&reviewed.base.0)?;
    let tree = repository.write(base, &reviewed.changes)?;
    let signature = Signature {
        name: "Burin".to_owned(),
        email: "burin@localhost".to_owned(),
    };
    let commit = CommitSpec {
        tree,
        parents: vec![onto],
        author: signature.clone(),
        committer: signature,
        seconds: 0,
        offset_minutes: 0,
        message: format!("What {} made\n", reviewed.session),
    };
    let commit = repository.create_commit(&commit)?;
    let checked = checks.run_checks(&LandingCandidate {
        main_repo,
        commit: CommitId(commit.to_string()),
        changed: reviewed.changes.keys().cloned().collect(),
        tree,
        onto_tree: base,
        repository: &repository,
        files,
    })?;
    Ok(checked)
}

#[cfg(test)]
mod tests;
