//! Plans how to shorten a conversation that has grown too long. The plan depends on the
//! conversation alone.
//!
//! Knows: `reduce`. Must not know: how records are kept, how a model is asked.
//! Invariant: a call and its result are dropped together or kept together.
//! Invariant: the latest steps stay unchanged, and the user's messages stay verbatim.
//! Invariant: applying a plan leaves nothing for the same plan to do.
//!
//! Steps, each only if the previous one was not enough: shorten old results, replace old results
//! that a later call repeats by a pointer to it, and drop failed calls that later succeeded; then
//! let a model write a summary (`summary`). Start at `plan`; `apply` computes the resulting
//! conversation.

mod outline;
mod planned;
mod prune;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use model::Profile;
use model::policy::TokenEstimator;
use serde_json::Value;

use crate::record::{PromptOrigin, TodoItem};

pub use outline::SummaryOutline;
pub use planned::PlannedCompactor;
pub use summary::{ConversationSummary, SummaryJob, SummaryText};

/// An item of the conversation after the system prompt, in the order of sending.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactItem {
    /// Sequence number of its record. Never decreases from one item to the next.
    pub seq: u64,
    /// Model response it belongs to, counted through the session. A response's text, its calls and
    /// their results share a step; items before a response have that response's number.
    pub step: u64,
    /// Kind of the item.
    pub kind: CompactItemKind,
    /// Text as it is sent now: a result reduced earlier has its shorter form.
    pub text: String,
    /// Bytes it takes in a request, including images and thinking.
    pub bytes: u64,
}

/// Kind of a conversation item.
#[derive(Clone, Debug, PartialEq)]
pub enum CompactItemKind {
    /// A message from the user.
    User,
    /// Text that the harness added.
    Joined(PromptOrigin),
    /// Text from the model.
    Model,
    /// A tool call; its text is its arguments.
    Call {
        /// Id of the call.
        id: String,
        /// The tool's own name.
        tool: String,
        /// Arguments of the call.
        input: Value,
    },
    /// The result of a tool call.
    Result {
        /// Id of the call.
        call: String,
        /// Whether the result is an error.
        is_error: bool,
    },
    /// The summary that replaced older items in an earlier compaction.
    Summary,
}

/// Thresholds that decide when a conversation is too long and how short it must become, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactLimits {
    /// Token limit of a prompt: the model's context less its maximum output.
    pub context_tokens: u64,
    /// Bytes sent besides the items: system prompt and tools.
    pub fixed_bytes: u64,
    /// Number of latest steps that stay unchanged.
    pub steps: u64,
}

/// A conversation is too long from this share of the prompt limit on, in percent.
const START_PERCENT: u64 = 75;
/// Reducing and dropping is enough if it gets the conversation down to this share, in percent.
const ENOUGH_PERCENT: u64 = 60;
/// Target share after a summary, in percent.
const TARGET_PERCENT: u64 = 40;
/// Maximum share of the latest steps, in percent; if they take more, fewer of them stay.
const LATEST_STEPS_PERCENT: u64 = 25;
/// Results shorter than this are not reduced; in bytes.
const MIN_REDUCIBLE_BYTES: u64 = 600;
/// Minimum share that a summary must save to be worthwhile, in percent.
const MIN_SAVING_PERCENT: u64 = 5;

/// A plan for shortening a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactionPlan {
    /// Sequence number of the last record the plan covers.
    pub through: u64,
    /// Results to send in a shorter form: call id and text.
    pub reduced: Vec<(String, String)>,
    /// Ids of calls to drop together with their results.
    pub dropped: Vec<String>,
    /// The summary to request if reducing and dropping is not enough.
    pub summary: Option<SummaryJob>,
    /// Bytes of the items before, and after everything but a summary.
    pub bytes: (u64, u64),
    /// Reason why the conversation stays longer than it should.
    pub shortfall: Option<String>,
}

impl CompactLimits {
    /// Returns the limits of a model, with at least 1000 tokens of context and six protected steps.
    /// `fixed_bytes` is the size of everything sent besides the items.
    pub fn of(profile: &Profile, fixed_bytes: u64) -> Self {
        Self {
            context_tokens: profile.context.minus(profile.max_output).0.max(1_000),
            fixed_bytes,
            steps: 6,
        }
    }

    /// Returns `percent` of the prompt limit in tokens, rounded down.
    fn share(&self, percent: u64) -> u64 {
        self.context_tokens.saturating_mul(percent) / 100
    }

    /// Estimates the tokens of a prompt whose items have `bytes` bytes; adds `fixed_bytes` to them.
    fn tokens(&self, bytes: u64, estimator: &TokenEstimator) -> u64 {
        estimator.estimate(bytes + self.fixed_bytes).0
    }

    /// Returns whether a conversation of this many bytes is too long.
    pub fn is_over(&self, bytes: u64, estimator: &TokenEstimator) -> bool {
        self.tokens(bytes, estimator) >= self.share(START_PERCENT)
    }
}

/// Plans how to shorten a conversation; `None` if it is short enough or nothing can be shortened.
/// If `is_wanted`, because the user requests a compaction, it shortens a short one too, and
/// further. Old results and calls go first; a summary is planned only if that is not enough.
pub fn plan(
    items: &[CompactItem],
    limits: &CompactLimits,
    estimator: &TokenEstimator,
    is_wanted: bool,
) -> Option<CompactionPlan> {
    let before = total(items);
    if !is_wanted && !limits.is_over(before, estimator) {
        return None;
    }
    let boundary = boundary(items, limits, estimator);
    let mut compaction = CompactionPlan {
        through: items[..boundary].last().map_or(0, |item| item.seq),
        ..CompactionPlan::default()
    };
    shorten(&mut compaction, items, boundary);
    let shorter = apply(items, &compaction, None);
    let bytes = total(&shorter);
    compaction.bytes = (before, bytes);
    let goal = if is_wanted {
        TARGET_PERCENT
    } else {
        ENOUGH_PERCENT
    };
    if limits.tokens(bytes, estimator) > limits.share(goal) {
        plan_summary(&mut compaction, &shorter, limits, estimator);
    }
    let does_something = !compaction.reduced.is_empty()
        || !compaction.dropped.is_empty()
        || compaction.summary.is_some();
    does_something.then_some(compaction)
}

/// Returns the conversation after a compaction; `items` itself stays unchanged. `beginning` is the
/// written summary, which replaces all items the summary covers; without it, results are only
/// reduced and calls dropped.
pub fn apply(
    items: &[CompactItem],
    compaction: &CompactionPlan,
    beginning: Option<&str>,
) -> Vec<CompactItem> {
    let reduced: HashMap<&str, &str> = compaction
        .reduced
        .iter()
        .map(|(call, text)| (call.as_str(), text.as_str()))
        .collect();
    let dropped: HashSet<&str> = compaction.dropped.iter().map(String::as_str).collect();
    let through = match (&compaction.summary, beginning) {
        (Some(summarise), Some(_)) => Some(summarise.through),
        _ => None,
    };
    let mut shorter = Vec::with_capacity(items.len());
    if let (Some(through), Some(text)) = (through, beginning) {
        let step = items.iter().find(|item| item.seq > through);
        shorter.push(CompactItem {
            seq: through,
            step: step.map_or(0, |item| item.step),
            kind: CompactItemKind::Summary,
            text: text.to_owned(),
            bytes: text.len() as u64,
        });
    }
    for item in items {
        if through.is_some_and(|through| item.seq <= through) {
            continue;
        }
        match &item.kind {
            CompactItemKind::Call { id, .. } if dropped.contains(id.as_str()) => {}
            CompactItemKind::Result { call, .. } if dropped.contains(call.as_str()) => {}
            CompactItemKind::Result { call, .. } if reduced.contains_key(call.as_str()) => {
                let text = reduced[call.as_str()].to_owned();
                shorter.push(CompactItem {
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

/// Returns the size of a conversation in bytes.
pub fn total(items: &[CompactItem]) -> u64 {
    items.iter().map(|item| item.bytes).sum()
}

/// Returns the index of the first of the latest steps, which stay unchanged. It never separates a
/// call from its result, nor items of one record.
fn boundary(items: &[CompactItem], limits: &CompactLimits, estimator: &TokenEstimator) -> usize {
    let Some(last) = items.last() else {
        return 0;
    };
    let mut steps = limits.steps.max(1);
    loop {
        let first = (last.step + 1).saturating_sub(steps);
        let cut = items.partition_point(|item| item.step < first);
        // A summary has the step of the item after it; its length must not move the boundary past
        // it.
        let latest = items[cut..].iter();
        let latest = latest.filter(|item| item.kind != CompactItemKind::Summary);
        let bytes = latest.map(|item| item.bytes).sum();
        if steps == 1 || estimator.estimate(bytes).0 <= limits.share(LATEST_STEPS_PERCENT) {
            return whole_pairs(items, cut);
        }
        steps -= 1;
    }
}

/// Returns the nearest index at or before `cut` that separates no call from its result.
fn whole_pairs(items: &[CompactItem], mut cut: usize) -> usize {
    loop {
        let behind: HashSet<&str> = items[cut..]
            .iter()
            .filter_map(|item| match &item.kind {
                CompactItemKind::Result { call, .. } => Some(call.as_str()),
                _ => None,
            })
            .collect();
        let seq = items.get(cut).map(|item| item.seq);
        let torn = items[..cut].iter().position(|item| match &item.kind {
            CompactItemKind::Call { id, .. } => behind.contains(id.as_str()),
            _ => Some(item.seq) == seq,
        });
        match torn {
            Some(ix) => cut = ix,
            None => return cut,
        }
    }
}

/// Reduces and drops items before `boundary`, without a model.
fn shorten(compaction: &mut CompactionPlan, items: &[CompactItem], boundary: usize) {
    compaction.dropped = prune::superseded_failures(items, boundary);
    let dropped: HashSet<&str> = compaction.dropped.iter().map(String::as_str).collect();
    let calls = calls(items);
    let repeated = prune::repeated_results(items, boundary);
    for item in &items[..boundary] {
        let CompactItemKind::Result { call, .. } = &item.kind else {
            continue;
        };
        if dropped.contains(call.as_str()) || item.bytes < MIN_REDUCIBLE_BYTES {
            continue;
        }
        let shorter = match repeated.get(call.as_str()) {
            Some(later) => Some(prune::pointer(later)),
            None => calls.get(call.as_str()).and_then(|(tool, input)| {
                let command = input.get("cmd").or_else(|| input.get("command"));
                reduce::reduce(tool, command.and_then(Value::as_str), &item.text)
            }),
        };
        let is_shorter = |text: &String| (text.len() as u64) < item.bytes;
        if let Some(text) = shorter.filter(is_shorter) {
            compaction.reduced.push((call.clone(), text));
        }
    }
}

/// Maps call ids to tool and arguments.
fn calls(items: &[CompactItem]) -> HashMap<&str, (&str, &Value)> {
    let calls = items.iter().filter_map(|item| match &item.kind {
        CompactItemKind::Call { id, tool, input } => Some((id.as_str(), (tool.as_str(), input))),
        _ => None,
    });
    calls.collect()
}

/// Plans a summary of everything older than the latest steps, if that saves enough.
fn plan_summary(
    compaction: &mut CompactionPlan,
    items: &[CompactItem],
    limits: &CompactLimits,
    estimator: &TokenEstimator,
) {
    let boundary = boundary(items, limits, estimator);
    let (old, latest) = items.split_at(boundary);
    let Some(last) = old.last() else {
        compaction.shortfall = Some(
            "the latest steps alone fill the context: there is nothing older to summarise"
                .to_owned(),
        );
        return;
    };
    let summarise = SummaryJob::of(old, last.seq, limits.share(TARGET_PERCENT));
    let saved = total(old).saturating_sub(summarise.min_bytes());
    if estimator.estimate(saved).0 < limits.share(MIN_SAVING_PERCENT) {
        compaction.shortfall = Some(
            "everything older than the latest steps is user messages and rules, which are kept verbatim"
                .to_owned(),
        );
        return;
    }
    let after = total(latest) + summarise.min_bytes() + summary::MAX_SUMMARY_BYTES;
    if limits.tokens(after, estimator) > limits.share(TARGET_PERCENT) {
        compaction.shortfall = Some(format!(
            "the latest steps, the user's messages and the rules alone take about {} of {} tokens",
            limits.tokens(after, estimator),
            limits.context_tokens
        ));
    }
    compaction.summary = Some(summarise);
}

/// The session's state that is put beside a summary, since the summary's model does not know it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryContext {
    /// The current plan of the agent.
    pub todos: Vec<TodoItem>,
    /// Open files that stay visible: path and text.
    pub files: Vec<(String, String)>,
}
