//! One task done several times: which did it best, and the best of all of them together.
//!
//! Candidates are compared by their checks first, then by how much they change, then by what they cost. One is taken
//! whole, or hunks of several are mixed, which is checked when it lands.
//! Start at `measure` and `compare`; mixing is `Review::mix`.

use std::collections::BTreeSet;

use base::AbsPath;
use git::Repository;
use git::land::{Person, Sealed};
use host::Files;
use serde::{Deserialize, Serialize};

use crate::board::{JobId, Line};
use crate::land::{Candidate, Check, Checks};
use crate::review::{Review, Reviewed};
use crate::work::CommitId;

/// A candidate, measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Whose work.
    pub job: JobId,
    /// How it stands: `done`, `failed`.
    pub state: String,
    /// How its checks went; empty where none ran.
    pub checks: Vec<Check>,
    /// Files that differ from the base.
    pub files: usize,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
    /// Billionths of a US dollar, where it is known.
    pub cost_nano: Option<u64>,
    /// How long its agent worked, in milliseconds.
    pub worked_ms: u64,
}

impl Measured {
    /// How many checks it passed.
    pub fn passed(&self) -> usize {
        self.checks.iter().filter(|check| check.is_passed).count()
    }

    fn rank(&self) -> (bool, usize, usize, usize, u64, u64) {
        (
            !matches!(self.state.as_str(), "done" | "landed"),
            self.checks.len() - self.passed(),
            // Who changes nothing has done nothing.
            usize::from(self.files == 0),
            self.added + self.removed,
            self.cost_nano.unwrap_or(u64::MAX),
            self.worked_ms,
        )
    }
}

/// What a candidate is, from a review of what it did and its line on the board.
pub fn measure(review: &Review, line: &Line, checks: Vec<Check>) -> Measured {
    let own = review
        .hunks()
        .iter()
        .filter(|hunk| hunk.session == line.job);
    let (mut paths, mut added, mut removed) = (BTreeSet::new(), 0, 0);
    for hunk in own {
        let (went, came) = review.lines(hunk);
        paths.insert(&hunk.path);
        added += came.len();
        removed += went.len();
    }
    Measured {
        job: line.job.clone(),
        state: line.state.word().to_owned(),
        checks,
        files: paths.len(),
        added,
        removed,
        cost_nano: line.cost_nano,
        worked_ms: line.worked_ms,
    }
}

/// The candidates, the best first.
pub fn compare(mut candidates: Vec<Measured>) -> Vec<Measured> {
    candidates.sort_by_key(Measured::rank);
    candidates
}

/// A comparison as a table.
pub fn table(candidates: &[Measured]) -> String {
    let mut text = String::from("job    state        checks  files  lines        cost      time\n");
    for one in candidates {
        let lines = format!("+{} -{}", one.added, one.removed);
        let cost = match one.cost_nano {
            Some(nano) => format!("${:.4}", nano as f64 / 1e9),
            None => "unknown".to_owned(),
        };
        let checks = format!("{}/{}", one.passed(), one.checks.len());
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

/// Checks a candidate on a copy of what it made, as it would land on the commit it began from. An error is a sentence,
/// and means that nothing could be found out. Blocks on the disk and on the checks.
pub fn checked(
    hub: &AbsPath,
    reviewed: &Reviewed,
    checks: &dyn Checks,
    files: &dyn Files,
) -> Result<Vec<Check>, String> {
    let sentence = |error: git::Error| error.to_string();
    let repository = Repository::discover(hub).map_err(sentence)?;
    let onto = repository.commit_id(&reviewed.base.0).map_err(sentence)?;
    let base = repository.tree_of(&reviewed.base.0).map_err(sentence)?;
    let tree = repository.write(base, &reviewed.changes);
    let tree = tree.map_err(sentence)?;
    let nobody = Person {
        name: "Burin".to_owned(),
        email: "burin@localhost".to_owned(),
    };
    let sealed = Sealed {
        tree,
        parents: vec![onto],
        author: nobody.clone(),
        committer: nobody,
        seconds: 0,
        offset_minutes: 0,
        message: format!("What {} made\n", reviewed.session),
    };
    let commit = repository.seal(&sealed).map_err(sentence)?;
    checks.check(&Candidate {
        hub,
        commit: CommitId(commit.to_string()),
        changed: reviewed.changes.keys().cloned().collect(),
        tree,
        repository: &repository,
        files,
    })
}

#[cfg(test)]
mod tests;
