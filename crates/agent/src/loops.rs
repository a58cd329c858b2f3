//! Detection of a turn that loops. The model gets a warning first; then the turn ends. This
//! replaces a limit on the number of calls.
//!
//! Pure: calls and their results go in, a verdict comes out.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Number of recent calls that are compared.
const REMEMBERED: usize = 64;
/// Maximum length of a repeated sequence, in calls.
const LONGEST: usize = 4;
/// Repetitions of a sequence before the warning, and before the turn ends.
const ROUNDS: (usize, usize) = (4, 8);
/// Identical failures of one call before the warning and before the end, whatever lies between
/// them.
const FAILURES: (usize, usize) = (3, 6);
/// Consecutive failures before the warning and before the end.
const FRUITLESS: (usize, usize) = (10, 20);

/// The hashes of one call and its result, by which repetitions are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFingerprint {
    /// The tool's own name.
    pub tool: String,
    /// A hash of tool and arguments.
    pub call: u64,
    /// A hash of outcome and result.
    pub result: u64,
    /// Whether the call failed.
    pub is_error: bool,
}

/// The reaction to a loop that was detected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopVerdict {
    /// Send this warning to the model.
    Warn(String),
    /// End the turn; the sentence is for the user.
    End(String),
}

/// The recent calls of a turn.
#[derive(Clone, Debug, Default)]
pub struct LoopDetector {
    /// Recent calls, oldest first.
    calls: VecDeque<CallFingerprint>,
    /// Number of consecutive failures.
    fruitless: usize,
    warned: Vec<&'static str>,
}

impl CallFingerprint {
    /// Hashes a call: `tool` is its own name, `arguments` the text that the model sent, and
    /// `answer` the text of the result.
    pub fn new(tool: &str, arguments: &str, answer: &str, is_error: bool) -> Self {
        Self {
            tool: tool.to_owned(),
            call: hash(&(tool, arguments)),
            result: hash(&(is_error, answer)),
            is_error,
        }
    }
}

impl LoopDetector {
    /// Adds a finished call and returns the reaction to a loop: a warning once for each kind of
    /// loop, then the end of the turn if it goes on. `None` if there is no loop, or only one that
    /// was warned about.
    pub fn push(&mut self, seen: CallFingerprint) -> Option<LoopVerdict> {
        self.fruitless = if seen.is_error { self.fruitless + 1 } else { 0 };
        self.calls.push_back(seen);
        if self.calls.len() > REMEMBERED {
            self.calls.pop_front();
        }
        let findings = [
            self.repeated_cycle(),
            self.repeated_failure(),
            self.failure_streak(),
        ];
        let mut warning = None;
        for (kind, count, (warn, end), what) in findings.into_iter().flatten() {
            if count >= end {
                return Some(LoopVerdict::End(what));
            }
            if count >= warn && !self.warned.contains(&kind) {
                self.warned.push(kind);
                warning.get_or_insert(LoopVerdict::Warn(format!(
                    "You are going in circles: {what}. Doing the same again will not help. Look at what the results \
                     say, try another approach, or tell the user what you need."
                )));
            }
        }
        warning
    }

    /// Detects a sequence of calls that repeats with the same results.
    fn repeated_cycle(&self) -> LoopFinding {
        let last = self.calls.len();
        let same = |one: usize, other: usize| {
            let (one, other) = (&self.calls[one], &self.calls[other]);
            (one.call, one.result) == (other.call, other.result)
        };
        (1..=LONGEST.min(last)).find_map(|length| {
            let repeated = (length..last).rev().take_while(|ix| same(*ix, ix - length));
            let rounds = 1 + repeated.count() / length;
            let tool = &self.calls.back()?.tool;
            let what = match length {
                1 => format!("{tool} was called {rounds} times with the same arguments and returned the same result"),
                _ => format!("the same {length} calls were repeated {rounds} times with the same results, {tool} being the last"),
            };
            (rounds >= ROUNDS.0).then_some(("circle", rounds, ROUNDS, what))
        })
    }

    /// Detects a call that keeps failing in the same way.
    fn repeated_failure(&self) -> LoopFinding {
        let last = self.calls.back().filter(|seen| seen.is_error)?;
        let same = self
            .calls
            .iter()
            .filter(|seen| (seen.call, seen.result) == (last.call, last.result));
        let count = same.count();
        let what = format!(
            "{} failed {count} times with the same arguments in the same way",
            last.tool
        );
        Some(("failure", count, FAILURES, what))
    }

    fn failure_streak(&self) -> LoopFinding {
        let count = self.fruitless;
        let what = format!("{count} calls in a row failed");
        Some(("fruitless", count, FRUITLESS, what))
    }
}

/// The kind of loop, the number of repetitions, the thresholds, and a description.
type LoopFinding = Option<(&'static str, usize, (usize, usize), String)>;

/// Hashes a value for comparison within a process; hashes of other builds may differ.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
