//! One task done several times: which did it best, and the best of all of them together.
//!
//! Candidates are compared by their checks first, then by how much they change, then by what they cost. One is taken
//! whole, or hunks of several are mixed into a tree of their own, which is checked before anybody believes it.
//! Start at `measure` and `compare`; mixing is `Authored::mix`.

mod mix;

use base::AbsPath;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::authored::merge::{hunks, lines};
use crate::authored::{Authored, Difference, Version};
use crate::board::{JobId, Line};

pub use mix::{Pick, PickedFile, accepted};

/// Says whether a tree is any good.
pub trait Trials: Send + Sync {
    /// Tries a tree: its tests, its build, whatever belongs to it. What could not be tried is a trial that failed.
    fn run(&self, root: AbsPath) -> BoxFuture<'static, Vec<Trial>>;
}

/// A check and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// What was tried: `python3 -m unittest`.
    pub name: String,
    /// Whether it went well.
    pub is_good: bool,
    /// The end of what it said.
    pub output: String,
}

/// A candidate, measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Whose work.
    pub job: JobId,
    /// How it stands: `done`, `failed`.
    pub state: String,
    /// What was tried on it.
    pub trials: Vec<Trial>,
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

/// A part of a file that a candidate changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The file.
    pub path: String,
    /// Which of the file's, from 0. A file that is no text, new or gone has one.
    pub number: usize,
    /// Its first line in the base, from 0.
    pub row: u32,
    /// Lines that went.
    pub removed: Vec<String>,
    /// Lines that came.
    pub added: Vec<String>,
}

impl Measured {
    /// How many trials went well.
    pub fn good(&self) -> usize {
        self.trials.iter().filter(|trial| trial.is_good).count()
    }

    fn rank(&self) -> (bool, usize, usize, usize, u64, u64) {
        (
            !matches!(self.state.as_str(), "done" | "landed"),
            self.trials.len() - self.good(),
            // Who changes nothing has done nothing.
            usize::from(self.files == 0),
            self.added + self.removed,
            self.cost_nano.unwrap_or(u64::MAX),
            self.worked_ms,
        )
    }
}

/// What a candidate is, from its tree as last looked at and its line on the board.
pub fn measure(authored: &Authored, line: &Line, trials: Vec<Trial>) -> Result<Measured, String> {
    let hunks = hunks_of(authored)?;
    Ok(Measured {
        job: line.job.clone(),
        state: line.state.word().to_owned(),
        trials,
        files: authored.differences().len(),
        added: hunks.iter().map(|hunk| hunk.added.len()).sum(),
        removed: hunks.iter().map(|hunk| hunk.removed.len()).sum(),
        cost_nano: line.cost_nano,
        worked_ms: line.worked_ms,
    })
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
        let checks = format!("{}/{}", one.good(), one.trials.len());
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

/// Everything that a tree changed since its base, as hunks by file.
pub fn hunks_of(authored: &Authored) -> Result<Vec<Hunk>, String> {
    let mut all = Vec::new();
    for difference in authored.differences() {
        all.extend(hunks_in(authored, &difference)?);
    }
    Ok(all)
}

fn hunks_in(authored: &Authored, one: &Difference) -> Result<Vec<Hunk>, String> {
    let (before, after) = (
        text(authored, one.before.as_ref())?,
        text(authored, one.after.as_ref())?,
    );
    let is_whole = one.before.is_none() || one.after.is_none();
    let (Some(before), Some(after)) = (before, after) else {
        return Ok(vec![Hunk {
            path: one.path.clone(),
            number: 0,
            row: 0,
            removed: Vec::new(),
            added: Vec::new(),
        }]);
    };
    let (old, new) = (lines(&before), lines(&after));
    let cut = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    if is_whole || before == after {
        return Ok(vec![Hunk {
            path: one.path.clone(),
            number: 0,
            row: 0,
            removed: cut(&old),
            added: cut(&new),
        }]);
    }
    let found = hunks(&before, &after);
    let parts = found.iter().enumerate().map(|(number, hunk)| Hunk {
        path: one.path.clone(),
        number,
        row: hunk.before.start.0,
        removed: cut(&old[hunk.before.start.0 as usize..hunk.before.end.0 as usize]),
        added: cut(&new[hunk.after.start.0 as usize..hunk.after.end.0 as usize]),
    });
    Ok(parts.collect())
}

/// A version as text: empty where there is none, `None` where it is no text.
fn text(authored: &Authored, version: Option<&Version>) -> Result<Option<String>, String> {
    match version {
        None => Ok(Some(String::new())),
        Some(version) if !version.is_kept() => Ok(None),
        Some(version) => Ok(String::from_utf8(authored.content(version)?).ok()),
    }
}

#[cfg(test)]
mod tests;
