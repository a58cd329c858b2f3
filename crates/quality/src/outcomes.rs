//! Outcomes of tool calls by tool and model: counts, usual shares, and the rule that compares the last day with them.
//!
//! Each tool and model has a baseline for each class of failure: its share of the calls before the
//! window, in which the weight of a call halves every week. A class alerts if its share within the
//! window exceeds twice the baseline with a probability above 99 %, and the window has at least 20
//! calls. `Unknown` is a defect and alerts at three in an hour. `alarms` notices smaller changes and
//! works with fewer calls.

use std::collections::BTreeMap;

use statistics::beta_below;

/// The outcome of a call that did its work.
pub const OK: &str = "ok";
/// The outcome that no class fits, which is a defect of the program.
pub const UNKNOWN: &str = "unknown";

const HOUR: u64 = 3_600_000;
pub(crate) const DAY: u64 = 24 * HOUR;
/// Time before the window, in milliseconds, after which a call counts half.
pub(crate) const HALF_LIFE: f64 = 7.0 * DAY as f64;
/// Length of the window, in milliseconds.
const WINDOW: u64 = DAY;
/// Minimum number of calls within the window for an alert.
const MIN_CALLS: u64 = 20;
/// Minimum probability of an alert.
const SURE: f64 = 0.99;
/// Number of unknown outcomes in an hour that alerts.
const UNKNOWNS: u64 = 3;

/// A measured tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredCall {
    /// Time of the call, in milliseconds since 1970.
    pub at_ms: u64,
    /// The duration in milliseconds.
    pub millis: f64,
    /// The tool's own name.
    pub tool: String,
    /// The model that made the call.
    pub model: String,
    /// The name of the outcome.
    pub outcome: String,
    /// The session; empty if it was not recorded.
    pub session: String,
    /// Id of the call in its session; empty if it was not recorded.
    pub call: String,
}

/// Statistics of one tool called by one model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolStats {
    /// The tool's own name.
    pub tool: String,
    /// The model that made the calls.
    pub model: String,
    /// The number of all calls.
    pub calls: u64,
    /// The number of calls by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Latency in milliseconds: the median and the 95th percentile.
    pub latency: (f64, f64),
    /// The usual share of each class of failure.
    pub baselines: BTreeMap<String, f64>,
}

/// A failure of one tool and model that occurs more often than its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// The tool's own name.
    pub tool: String,
    /// The model that made the calls.
    pub model: String,
    /// The outcome that accumulated.
    pub outcome: String,
    /// The alert as a sentence.
    pub sentence: String,
}

/// Computes statistics for each pair of tool and model, and the alerts that are due at `now_ms`
/// (milliseconds since 1970). Calls need no order.
pub fn calls(measured: &[MeasuredCall], now_ms: u64) -> (Vec<ToolStats>, Vec<Alert>) {
    let mut groups: BTreeMap<(&str, &str), Vec<&MeasuredCall>> = BTreeMap::new();
    for call in measured {
        groups
            .entry((&call.tool, &call.model))
            .or_default()
            .push(call);
    }
    let (mut lines, mut alerts) = (Vec::new(), Vec::new());
    for ((tool, model), calls) in groups {
        let mut line = ToolStats {
            tool: tool.to_owned(),
            model: model.to_owned(),
            calls: calls.len() as u64,
            outcomes: BTreeMap::new(),
            latency: latency(&calls),
            baselines: BTreeMap::new(),
        };
        for call in &calls {
            *line.outcomes.entry(call.outcome.clone()).or_default() += 1;
        }
        let outcomes: Vec<String> = line.outcomes.keys().cloned().collect();
        for outcome in outcomes.iter().filter(|outcome| *outcome != OK) {
            let baseline = Baseline::of(&calls, outcome, now_ms);
            line.baselines.insert(outcome.clone(), baseline.rate());
            let sentence = match outcome.as_str() {
                UNKNOWN => unknowns(&calls, now_ms),
                _ => baseline.alarm(),
            };
            alerts.extend(sentence.map(|sentence| Alert {
                tool: tool.to_owned(),
                model: model.to_owned(),
                outcome: outcome.clone(),
                sentence,
            }));
        }
        lines.push(line);
    }
    (lines, alerts)
}

/// Returns the median and the 95th percentile of the durations in milliseconds; zeros without
/// calls.
fn latency(calls: &[&MeasuredCall]) -> (f64, f64) {
    let mut millis: Vec<f64> = calls.iter().map(|call| call.millis).collect();
    millis.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let ix = (share * millis.len() as f64) as usize;
        millis.get(ix.min(millis.len().saturating_sub(1))).copied()
    };
    (at(0.5).unwrap_or_default(), at(0.95).unwrap_or_default())
}

/// Returns the sentence of an alert if at least `UNKNOWNS` calls of the hour before `now_ms`, in
/// milliseconds since 1970, have the outcome `unknown`; otherwise `None`.
fn unknowns(calls: &[&MeasuredCall], now_ms: u64) -> Option<String> {
    let of_late =
        |call: &&&MeasuredCall| call.outcome == UNKNOWN && now_ms.saturating_sub(call.at_ms) < HOUR;
    let count = calls.iter().filter(of_late).count() as u64;
    (count >= UNKNOWNS).then(|| {
        format!(
            "{count} calls within the last hour ended with an unknown outcome, which is a defect"
        )
    })
}

/// Failures before the window and within it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Baseline {
    /// Decayed number of calls before the window, and of failures of the class.
    before: (f64, f64),
    /// Number of calls within the window, and of failures of the class.
    window: (u64, u64),
}

impl Baseline {
    fn of(calls: &[&MeasuredCall], outcome: &str, now_ms: u64) -> Self {
        let mut baseline = Self::default();
        for call in calls {
            baseline.add(now_ms.saturating_sub(call.at_ms), call.outcome == outcome);
        }
        baseline
    }

    /// Adds a call of this age in milliseconds.
    pub(crate) fn add(&mut self, age: u64, is_failure: bool) {
        if age < WINDOW {
            self.window.0 += 1;
            self.window.1 += u64::from(is_failure);
        } else {
            let weight = 0.5_f64.powf((age - WINDOW) as f64 / HALF_LIFE);
            self.before.0 += weight;
            self.before.1 += weight * f64::from(u8::from(is_failure));
        }
    }

    /// Returns the usual share; without earlier calls, half a failure in one call is assumed.
    fn rate(&self) -> f64 {
        (self.before.1 + 0.5) / (self.before.0 + 1.0)
    }

    /// Returns the sentence of an alert if the share of failures within the window exceeds twice
    /// the usual share with a probability above `SURE`. `None` otherwise, with fewer than
    /// `MIN_CALLS` calls within the window, and if twice the usual share is 1 or more.
    pub(crate) fn alarm(&self) -> Option<String> {
        let (calls, failed) = self.window;
        let bound = 2.0 * self.rate();
        if calls < MIN_CALLS || bound >= 1.0 {
            return None;
        }
        let (a, b) = (failed as f64 + 0.5, (calls - failed) as f64 + 0.5);
        let sure = 1.0 - beta_below(bound, a, b);
        (sure > SURE).then(|| {
            format!(
                "{failed} of {calls} calls within the last day, and {:.1} % were usual",
                self.rate() * 100.0
            )
        })
    }
}

#[cfg(test)]
mod tests;
