//! Measurements of tool calls and answers in the ledger.
//!
//! Pure: rows in, values out. `quality::outcomes` computes the figures of calls.

use std::collections::{BTreeMap, HashSet};

use quality::keep::WorkCounts;
use quality::outcomes::{MeasuredCall, OK};
use serde::Deserialize;

use crate::tool_names::ASK_USER;

/// Name of the measurement of a call: milliseconds, with tool, model, outcome, session and call.
pub const TOOL_CALL: &str = "tool_call";
/// Name of the measurement of an answer: tokens, with model and cache usage.
pub const TOKENS: &str = "answer_tokens";

/// Tokens used by a model's answers, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenStats {
    /// The number of answers.
    pub answers: u64,
    /// Tokens of the prompts.
    pub prompt: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Tokens of the answers.
    pub output: u64,
}

#[derive(Deserialize)]
struct CallTags {
    tool: String,
    model: String,
    outcome: String,
    /// Older programs did not store it.
    #[serde(default)]
    session: String,
    #[serde(default)]
    call: String,
}

/// The tags of an answer.
#[derive(Deserialize)]
struct TokenTags {
    model: String,
    #[serde(default)]
    session: String,
    #[serde(default)]
    turn: u64,
    prompt: u64,
    cache_read: u64,
    output: u64,
}

/// Parses a measurement named `TOOL_CALL`; `None` if its tags are not those of a call.
pub fn measured_call(metric: &ledger::MetricRow) -> Option<MeasuredCall> {
    let tags: CallTags = serde_json::from_str(&metric.tags).ok()?;
    Some(MeasuredCall {
        at_ms: metric.at_ms,
        millis: metric.value,
        tool: tags.tool,
        model: tags.model,
        outcome: tags.outcome,
        session: tags.session,
        call: tags.call,
    })
}

/// Sums up measurements named `TOKENS`, by model. Measurements with other tags are skipped.
pub fn tokens(metrics: &[ledger::MetricRow]) -> BTreeMap<String, TokenStats> {
    let mut lines: BTreeMap<String, TokenStats> = BTreeMap::new();
    for tags in metrics.iter().filter_map(token_tags) {
        let line = lines.entry(tags.model).or_default();
        line.answers += 1;
        line.prompt += tags.prompt;
        line.cache_read += tags.cache_read;
        line.output += tags.output;
    }
    lines
}

fn token_tags(metric: &ledger::MetricRow) -> Option<TokenTags> {
    serde_json::from_str(&metric.tags).ok()
}

/// Sums up the work of each session: its turns, calls, questions and written tokens.
pub fn work(calls: &[MeasuredCall], answers: &[ledger::MetricRow]) -> BTreeMap<String, WorkCounts> {
    let mut sessions: BTreeMap<String, WorkCounts> = BTreeMap::new();
    let mut turns: HashSet<(String, u64)> = HashSet::new();
    for tags in answers.iter().filter_map(token_tags) {
        let counts = sessions.entry(tags.session.clone()).or_default();
        counts.output_tokens += tags.output;
        counts.turns += u64::from(turns.insert((tags.session, tags.turn)));
    }
    for call in calls {
        let counts = sessions.entry(call.session.clone()).or_default();
        counts.calls += 1;
        counts.failed_calls += u64::from(call.outcome != OK);
        counts.questions += u64::from(call.tool == ASK_USER);
    }
    sessions
}

#[cfg(test)]
mod tests {
    use ledger::MetricRow;
    use serde_json::json;

    use super::*;

    fn metric(tags: &serde_json::Value) -> MetricRow {
        MetricRow {
            at_ms: 5,
            name: String::new(),
            value: 20.0,
            tags: tags.to_string(),
        }
    }

    #[test]
    fn calls_of_older_programs_have_no_session() {
        let old = json!({ "tool": "edit", "model": "a/b", "outcome": "ok" });
        let call = measured_call(&metric(&old)).expect("a call");
        assert_eq!((call.session.as_str(), call.millis), ("", 20.0));
        assert_eq!(measured_call(&metric(&json!({ "tool": "edit" }))), None);
    }

    #[test]
    fn work_is_counted_by_session() {
        let answer = |session: &str, turn: u64| {
            metric(&json!({
                "model": "a/b", "session": session, "turn": turn, "prompt": 9, "cache_read": 3, "output": 4,
            }))
        };
        let call = |session: &str, tool: &str, outcome: &str| MeasuredCall {
            tool: tool.to_owned(),
            outcome: outcome.to_owned(),
            session: session.to_owned(),
            ..MeasuredCall::default()
        };
        let answers = [
            answer("s", 1),
            answer("s", 1),
            answer("s", 2),
            answer("t", 1),
        ];
        let calls = [
            call("s", "edit", "ok"),
            call("s", "edit", "timeout"),
            call("s", ASK_USER, "ok"),
        ];
        let work = work(&calls, &answers);
        let expected = WorkCounts {
            turns: 2,
            calls: 3,
            failed_calls: 1,
            questions: 1,
            output_tokens: 12,
        };
        assert_eq!(work["s"], expected);
        assert_eq!((work["t"].turns, work["t"].calls), (1, 0));
        assert_eq!(tokens(&answers)["a/b"].answers, 4);
    }
}
