//! Statistics of tool calls by tool and model: usual outcomes, and alerts about unusual ones.
//!
//! Pure: measurements in, figures and alerts out.
//!
//! Each tool and model has a baseline for each class of failure: its share of the calls before the
//! window, in which the weight of a call halves every week. A class alerts if its share within the
//! window exceeds twice the baseline with a probability above 99 %, and the window has at least 20
//! calls. `Unknown` is a defect and alerts at three in an hour.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Name of the measurement of a call: milliseconds, with tool, model and outcome.
pub const TOOL_CALL: &str = "tool_call";
/// Name of the measurement of an answer: tokens, with model and cache usage.
pub const TOKENS: &str = "answer_tokens";

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
/// Time before the window, in milliseconds, after which a call counts half.
const HALF_LIFE: f64 = 7.0 * DAY as f64;
/// Length of the window, in milliseconds.
const WINDOW: u64 = DAY;
/// Minimum number of calls within the window for an alert.
const MIN_CALLS: u64 = 20;
/// Minimum probability of an alert.
const SURE: f64 = 0.99;
/// Number of unknown outcomes in an hour that alerts.
const UNKNOWNS: u64 = 3;

/// A measured tool call.
#[derive(Clone, Debug, PartialEq)]
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
}

#[derive(Deserialize)]
struct TokenTags {
    model: String,
    prompt: u64,
    cache_read: u64,
    output: u64,
}

impl MeasuredCall {
    /// Parses a measurement named `TOOL_CALL`; `None` if its tags are not those of a call.
    pub fn read(metric: &ledger::MetricRow) -> Option<Self> {
        let tags: CallTags = serde_json::from_str(&metric.tags).ok()?;
        Some(Self {
            at_ms: metric.at_ms,
            millis: metric.value,
            tool: tags.tool,
            model: tags.model,
            outcome: tags.outcome,
        })
    }
}

/// Sums up measurements named `TOKENS`, by model. Measurements with other tags are skipped.
pub fn tokens(metrics: &[ledger::MetricRow]) -> BTreeMap<String, TokenStats> {
    let mut lines: BTreeMap<String, TokenStats> = BTreeMap::new();
    let tags = metrics
        .iter()
        .filter_map(|metric| serde_json::from_str::<TokenTags>(&metric.tags).ok());
    for tags in tags {
        let line = lines.entry(tags.model).or_default();
        line.answers += 1;
        line.prompt += tags.prompt;
        line.cache_read += tags.cache_read;
        line.output += tags.output;
    }
    lines
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
        for outcome in outcomes.iter().filter(|outcome| *outcome != "ok") {
            let baseline = Baseline::of(&calls, outcome, now_ms);
            line.baselines.insert(outcome.clone(), baseline.rate());
            let sentence = match outcome.as_str() {
                "unknown" => unknowns(&calls, now_ms),
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
    let of_late = |call: &&&MeasuredCall| {
        call.outcome == "unknown" && now_ms.saturating_sub(call.at_ms) < HOUR
    };
    let count = calls.iter().filter(of_late).count() as u64;
    (count >= UNKNOWNS).then(|| {
        format!(
            "{count} calls within the last hour ended with an unknown outcome, which is a defect"
        )
    })
}

/// Failures before the window and within it.
struct Baseline {
    /// Decayed number of calls before the window, and of failures of the class.
    before: (f64, f64),
    /// Number of calls within the window, and of failures of the class.
    window: (u64, u64),
}

impl Baseline {
    fn of(calls: &[&MeasuredCall], outcome: &str, now_ms: u64) -> Self {
        let mut baseline = Self {
            before: (0.0, 0.0),
            window: (0, 0),
        };
        for call in calls {
            let age = now_ms.saturating_sub(call.at_ms);
            let is_it = call.outcome == outcome;
            if age < WINDOW {
                baseline.window.0 += 1;
                baseline.window.1 += u64::from(is_it);
            } else {
                let weight = 0.5_f64.powf((age - WINDOW) as f64 / HALF_LIFE);
                baseline.before.0 += weight;
                baseline.before.1 += weight * f64::from(u8::from(is_it));
            }
        }
        baseline
    }

    /// Returns the usual share; without earlier calls, half a failure in one call is assumed.
    fn rate(&self) -> f64 {
        (self.before.1 + 0.5) / (self.before.0 + 1.0)
    }

    /// Returns the sentence of an alert if the share of failures within the window exceeds twice
    /// the usual share with a probability above `SURE`. `None` otherwise, with fewer than
    /// `MIN_CALLS` calls within the window, and if twice the usual share is 1 or more.
    fn alarm(&self) -> Option<String> {
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

/// Returns the probability that a beta-distributed share is below `x`: the regularised incomplete
/// beta function, by its continued fraction.
fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// Evaluates the continued fraction by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut sum = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            sum *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-12 {
            break;
        }
    }
    sum
}

/// Computes the logarithm of the gamma function by Stirling's series, shifting `x` up to where the
/// series is accurate.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse / 1260.0)) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - below
}

#[cfg(test)]
mod tests;
