//! How a conversation that has become too long is made shorter: a plan, made of the conversation alone.
//!
//! Knows: `reduce`. Must not know: how records are kept, how a model is asked.
//! Invariant: a call and its result go together or stay together.
//! Invariant: the latest steps stay as they are, and the person's words stay in theirs.
//! Invariant: a plan that was carried out leaves nothing for the same plan to do.
//!
//! In this order, each only where the one before was not enough: old results in a shorter form, old results that a
//! later call repeats as a pointer to it, calls that failed and were put right left out; then a summary by a model
//! (`summary`). Start at `plan`; `apply` says what it comes to.

mod planned;
mod prune;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use model::Profile;
use model::policy::TokenEstimator;
use serde_json::Value;

use crate::record::{Origin, Todo};

pub use planned::PlannedCompactor;
pub(crate) use summary::ends;
pub use summary::{Beginning, Summarise, Summary};

/// A piece of the conversation behind the system prompt, in the order in which it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The record it comes from. Never falls from one item to the next.
    pub seq: u64,
    /// Which answer of a model it belongs to, counted through the session: the answer's words and calls and the
    /// results of these calls have the same. What comes before an answer has the number of that answer.
    pub step: u64,
    /// What it is.
    pub kind: ItemKind,
    /// Its words as they are sent now: a result that was reduced before has its shorter form.
    pub text: String,
    /// Bytes that it takes in a request, pictures and thoughts included.
    pub bytes: u64,
}

/// What a piece of the conversation is.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// The person's words.
    Person,
    /// A text that nobody typed.
    Joined(Origin),
    /// A model's words.
    Model,
    /// A call; its text is its arguments.
    Call {
        /// Its id.
        id: String,
        /// The tool's own name.
        tool: String,
        /// Its arguments.
        input: Value,
    },
    /// What came of a call.
    Result {
        /// The call.
        call: String,
        /// Whether the model was told of a failure.
        is_error: bool,
    },
    /// What stands for older pieces since an earlier compaction.
    Summary,
}

/// When a conversation is too long, and how short it is to become. In tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What a prompt may have: the model's context less what it may write.
    pub room: u64,
    /// Bytes of what is sent besides the items: system prompt and tools.
    pub fixed_bytes: u64,
    /// Latest steps that stay as they are.
    pub steps: u64,
}

/// From this share of the room on a conversation is too long; in percent.
const START: u64 = 75;
/// Cheap ways are enough if they come down to this.
const ENOUGH: u64 = 60;
/// What a summary is to come down to.
const AIM: u64 = 40;
/// The share of the room that the latest steps may take; where they take more, fewer of them stay.
const LATEST: u64 = 25;
/// Results shorter than this are not made shorter; in bytes.
const SMALL: u64 = 600;
/// The share of the room that a summary must save to be worth it.
const WORTH: u64 = 5;

/// How a conversation is made shorter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compaction {
    /// The last record that it is about.
    pub through: u64,
    /// Results that are sent in a shorter form: call and text.
    pub reduced: Vec<(String, String)>,
    /// Calls that are no longer sent, with their results.
    pub dropped: Vec<String>,
    /// The summary to be asked for, if these are not enough.
    pub summarise: Option<Summarise>,
    /// Bytes of the items before, and after everything but a summary.
    pub bytes: (u64, u64),
    /// Why the conversation stays longer than it should, in a sentence.
    pub shortfall: Option<String>,
}

impl Limits {
    /// The limits of a model. `fixed_bytes` is what is sent besides the items.
    pub fn of(profile: &Profile, fixed_bytes: u64) -> Self {
        Self {
            room: profile.context.minus(profile.max_output).0.max(1_000),
            fixed_bytes,
            steps: 6,
        }
    }

    fn share(&self, percent: u64) -> u64 {
        self.room.saturating_mul(percent) / 100
    }

    fn tokens(&self, bytes: u64, estimator: &TokenEstimator) -> u64 {
        estimator.estimate(bytes + self.fixed_bytes).0
    }

    /// Whether a conversation of so many bytes is too long.
    pub fn is_over(&self, bytes: u64, estimator: &TokenEstimator) -> bool {
        self.tokens(bytes, estimator) >= self.share(START)
    }
}

/// How to make a conversation shorter; `None` where it is short enough, or where nothing can be done. The person
/// may ask for it at any time: `is_wanted` then makes it as short as it gets.
pub fn plan(
    items: &[Item],
    limits: &Limits,
    estimator: &TokenEstimator,
    is_wanted: bool,
) -> Option<Compaction> {
    let before = total(items);
    if !is_wanted && !limits.is_over(before, estimator) {
        return None;
    }
    let boundary = boundary(items, limits, estimator);
    let mut compaction = Compaction {
        through: items[..boundary].last().map_or(0, |item| item.seq),
        ..Compaction::default()
    };
    shorten(&mut compaction, items, boundary);
    let shorter = apply(items, &compaction, None);
    let bytes = total(&shorter);
    compaction.bytes = (before, bytes);
    let goal = if is_wanted { AIM } else { ENOUGH };
    if limits.tokens(bytes, estimator) > limits.share(goal) {
        summarise(&mut compaction, &shorter, limits, estimator);
    }
    let does_something = !compaction.reduced.is_empty()
        || !compaction.dropped.is_empty()
        || compaction.summarise.is_some();
    does_something.then_some(compaction)
}

/// What a compaction makes of a conversation. `beginning` is the text that stands for what was summarised; without
/// it only results are shortened and calls left out.
pub fn apply(items: &[Item], compaction: &Compaction, beginning: Option<&str>) -> Vec<Item> {
    let reduced: HashMap<&str, &str> = compaction
        .reduced
        .iter()
        .map(|(call, text)| (call.as_str(), text.as_str()))
        .collect();
    let dropped: HashSet<&str> = compaction.dropped.iter().map(String::as_str).collect();
    let through = match (&compaction.summarise, beginning) {
        (Some(summarise), Some(_)) => Some(summarise.through),
        _ => None,
    };
    let mut shorter = Vec::with_capacity(items.len());
    if let (Some(through), Some(text)) = (through, beginning) {
        let step = items.iter().find(|item| item.seq > through);
        shorter.push(Item {
            seq: through,
            step: step.map_or(0, |item| item.step),
            kind: ItemKind::Summary,
            text: text.to_owned(),
            bytes: text.len() as u64,
        });
    }
    for item in items {
        if through.is_some_and(|through| item.seq <= through) {
            continue;
        }
        match &item.kind {
            ItemKind::Call { id, .. } if dropped.contains(id.as_str()) => {}
            ItemKind::Result { call, .. } if dropped.contains(call.as_str()) => {}
            ItemKind::Result { call, .. } if reduced.contains_key(call.as_str()) => {
                let text = reduced[call.as_str()].to_owned();
                shorter.push(Item {
                    bytes: text.len() as u64,
                    text,
                    ..item.clone()
                });
            }
            _ => shorter.push(item.clone()),
        }
    }
    shorter
}

/// Bytes of a conversation.
pub fn total(items: &[Item]) -> u64 {
    items.iter().map(|item| item.bytes).sum()
}

/// The first item of the latest steps, which stay as they are: never between a call and its result, never within
/// what comes from one record.
fn boundary(items: &[Item], limits: &Limits, estimator: &TokenEstimator) -> usize {
    let Some(last) = items.last() else {
        return 0;
    };
    let mut steps = limits.steps.max(1);
    loop {
        let first = (last.step + 1).saturating_sub(steps);
        let cut = items.partition_point(|item| item.step < first);
        // A summary has the step of what follows it; its length must not move the boundary behind it.
        let latest = items[cut..].iter();
        let latest = latest.filter(|item| item.kind != ItemKind::Summary);
        let bytes = latest.map(|item| item.bytes).sum();
        if steps == 1 || estimator.estimate(bytes).0 <= limits.share(LATEST) {
            return whole_pairs(items, cut);
        }
        steps -= 1;
    }
}

/// The nearest place at or before `cut` where no call is on one side and its result on the other.
fn whole_pairs(items: &[Item], mut cut: usize) -> usize {
    loop {
        let behind: HashSet<&str> = items[cut..]
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Result { call, .. } => Some(call.as_str()),
                _ => None,
            })
            .collect();
        let seq = items.get(cut).map(|item| item.seq);
        let torn = items[..cut].iter().position(|item| match &item.kind {
            ItemKind::Call { id, .. } => behind.contains(id.as_str()),
            _ => Some(item.seq) == seq,
        });
        match torn {
            Some(ix) => cut = ix,
            None => return cut,
        }
    }
}

/// The cheap ways, for everything before `boundary`.
fn shorten(compaction: &mut Compaction, items: &[Item], boundary: usize) {
    compaction.dropped = prune::put_right(items, boundary);
    let dropped: HashSet<&str> = compaction.dropped.iter().map(String::as_str).collect();
    let calls = calls(items);
    let repeated = prune::repeated(items, boundary);
    for item in &items[..boundary] {
        let ItemKind::Result { call, .. } = &item.kind else {
            continue;
        };
        if dropped.contains(call.as_str()) || item.bytes < SMALL {
            continue;
        }
        let shorter = match repeated.get(call.as_str()) {
            Some(later) => Some(prune::pointer(later)),
            None => calls.get(call.as_str()).and_then(|(tool, input)| {
                let command = input.get("cmd").or_else(|| input.get("command"));
                crate::reduce::reduce(tool, command.and_then(Value::as_str), &item.text)
            }),
        };
        let is_shorter = |text: &String| (text.len() as u64) < item.bytes;
        if let Some(text) = shorter.filter(is_shorter) {
            compaction.reduced.push((call.clone(), text));
        }
    }
}

/// Calls by their ids: tool and arguments.
fn calls(items: &[Item]) -> HashMap<&str, (&str, &Value)> {
    let calls = items.iter().filter_map(|item| match &item.kind {
        ItemKind::Call { id, tool, input } => Some((id.as_str(), (tool.as_str(), input))),
        _ => None,
    });
    calls.collect()
}

/// Lets a summary stand for what is older than the latest steps, if that is worth it.
fn summarise(
    compaction: &mut Compaction,
    items: &[Item],
    limits: &Limits,
    estimator: &TokenEstimator,
) {
    let boundary = boundary(items, limits, estimator);
    let (old, latest) = items.split_at(boundary);
    let Some(last) = old.last() else {
        compaction.shortfall = Some(
            "the latest steps alone fill the conversation: nothing older is left to summarise"
                .to_owned(),
        );
        return;
    };
    let summarise = Summarise::of(old, last.seq, limits.share(AIM));
    let saved = total(old).saturating_sub(summarise.least_bytes());
    if estimator.estimate(saved).0 < limits.share(WORTH) {
        compaction.shortfall = Some(
            "what is older than the latest steps are the person's words and rules, which stay as they are"
                .to_owned(),
        );
        return;
    }
    let after = total(latest) + summarise.least_bytes() + summary::LONGEST;
    if limits.tokens(after, estimator) > limits.share(AIM) {
        compaction.shortfall = Some(format!(
            "the latest steps, the person's words and the rules take about {} of {} tokens by themselves",
            limits.tokens(after, estimator),
            limits.room
        ));
    }
    compaction.summarise = Some(summarise);
}

/// What stays beside a summary that only the session knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    /// The plan as it is.
    pub todos: Vec<Todo>,
    /// Texts of open files that are to stay in sight: path and text.
    pub files: Vec<(String, String)>,
}
