//! Whether a turn goes in circles: a note to the model first, then the end of the turn. There is no cap on the
//! number of calls; this stands in its place.
//!
//! Pure: what was called and what came of it goes in, a verdict comes out.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Calls that are looked back at.
const REMEMBERED: usize = 64;
/// The longest circle that is looked for, in calls.
const LONGEST: usize = 4;
/// How often a circle comes before the model is told, and before the turn ends.
const ROUNDS: (usize, usize) = (4, 8);
/// How often the same call may fail in the same words, whatever lies in between.
const FAILURES: (usize, usize) = (3, 6);
/// How many calls in a row may fail.
const FRUITLESS: (usize, usize) = (10, 20);

/// One call and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The tool's own name.
    pub tool: String,
    /// A hash of tool and arguments.
    pub call: u64,
    /// A hash of outcome and result.
    pub result: u64,
    /// Whether it failed.
    pub is_error: bool,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Circle {
    /// Tell the model in these words.
    Warn(String),
    /// End the turn; the sentence is for the person.
    End(String),
}

/// What a turn has called so far.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// The oldest first.
    seen: VecDeque<Seen>,
    /// Calls that failed in a row.
    fruitless: usize,
    warned: Vec<&'static str>,
}

impl Seen {
    /// A call by its arguments and what it answered.
    pub fn new(tool: &str, arguments: &str, answer: &str, is_error: bool) -> Self {
        Self {
            tool: tool.to_owned(),
            call: hash(&(tool, arguments)),
            result: hash(&(is_error, answer)),
            is_error,
        }
    }
}

impl Loops {
    /// Takes the next call. `None` where nothing is odd, or was said before.
    pub fn push(&mut self, seen: Seen) -> Option<Circle> {
        self.fruitless = match seen.is_error {
            true => self.fruitless + 1,
            false => 0,
        };
        self.seen.push_back(seen);
        if self.seen.len() > REMEMBERED {
            self.seen.pop_front();
        }
        let findings = [self.circle(), self.failure(), self.fruitless()];
        let mut warning = None;
        for (kind, count, (warn, end), what) in findings.into_iter().flatten() {
            if count >= end {
                return Some(Circle::End(what));
            }
            if count >= warn && !self.warned.contains(&kind) {
                self.warned.push(kind);
                warning.get_or_insert(Circle::Warn(format!(
                    "You are going in circles: {what}. Doing the same again will not help. Look at what the results \
                     say, try another way, or tell the person what you need."
                )));
            }
        }
        warning
    }

    /// The last calls are the same ones, with the same results, again and again.
    fn circle(&self) -> Finding {
        let last = self.seen.len();
        let same = |one: usize, other: usize| {
            let (one, other) = (&self.seen[one], &self.seen[other]);
            (one.call, one.result) == (other.call, other.result)
        };
        (1..=LONGEST.min(last)).find_map(|length| {
            let repeated = (length..last).rev().take_while(|ix| same(*ix, ix - length));
            let rounds = 1 + repeated.count() / length;
            let tool = &self.seen.back()?.tool;
            let what = match length {
                1 => format!("{tool} was called {rounds} times with the same arguments and answered the same"),
                _ => format!("the same {length} calls came {rounds} times with the same results, {tool} the last of them"),
            };
            (rounds >= ROUNDS.0).then_some(("circle", rounds, ROUNDS, what))
        })
    }

    /// The last call failed, and has failed like this before.
    fn failure(&self) -> Finding {
        let last = self.seen.back().filter(|seen| seen.is_error)?;
        let same = self
            .seen
            .iter()
            .filter(|seen| (seen.call, seen.result) == (last.call, last.result));
        let count = same.count();
        let what = format!(
            "{} failed {count} times with the same arguments in the same way",
            last.tool
        );
        Some(("failure", count, FAILURES, what))
    }

    fn fruitless(&self) -> Finding {
        let count = self.fruitless;
        let what = format!("{count} calls in a row failed");
        Some(("fruitless", count, FRUITLESS, what))
    }
}

/// A kind of circle, how often it came, the bounds, and a sentence.
type Finding = Option<(&'static str, usize, (usize, usize), String)>;

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
