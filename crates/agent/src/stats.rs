//! How calls of tools end, by tool and model: what is usual, and what is out of the ordinary.
//!
//! Pure: measurements in, figures and alerts out.
//!
//! Each tool and model has a baseline for each class of failure: its share of calls before the window, where a call
//! counts half as much for each week that it lies back. A class alerts where the share within the window is more
//! than twice the baseline with a probability above 99 %, and there were 20 calls at least. `Unknown` is a defect
//! and alerts at three in an hour.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The measurement of a call: milliseconds, with tool, model and outcome.
pub const TOOL_CALL: &str = "tool_call";
/// The measurement of an answer: tokens, with model and caches.
pub const TOKENS: &str = "answer_tokens";

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
/// After so long a call counts half.
const HALF_LIFE: f64 = 7.0 * DAY as f64;
/// How far back the window reaches.
const WINDOW: u64 = DAY;
/// The fewest calls within the window that tell anything.
const FEWEST: u64 = 20;
/// How sure an alert must be.
const SURE: f64 = 0.99;
/// Unknown outcomes in an hour that alert.
const UNKNOWNS: u64 = 3;

/// A call as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// How long it took.
    pub millis: f64,
    /// The tool's own name.
    pub tool: String,
    /// The model.
    pub model: String,
    /// The outcome's name.
    pub outcome: String,
}

/// How the calls of a tool by a model end.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The tool's own name.
    pub tool: String,
    /// The model.
    pub model: String,
    /// Calls in all.
    pub calls: u64,
    /// Calls by their outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Milliseconds: the median and the slowest twentieth.
    pub latency: (f64, f64),
    /// What is usual for each class of failure, as a share of calls.
    pub baselines: BTreeMap<String, f64>,
}

/// Something out of the ordinary.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// The tool's own name.
    pub tool: String,
    /// The model.
    pub model: String,
    /// The outcome.
    pub outcome: String,
    /// A sentence.
    pub sentence: String,
}

/// What was used in answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenLine {
    /// Answers.
    pub answers: u64,
    /// Tokens read.
    pub prompt: u64,
    /// Those of them that came from a cache.
    pub cache_read: u64,
    /// Tokens written.
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

impl Measured {
    /// Reads a measurement of a call; `None` where it is none.
    pub fn read(metric: &ledger::Metric) -> Option<Self> {
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

/// Tokens by model.
pub fn tokens(metrics: &[ledger::Metric]) -> BTreeMap<String, TokenLine> {
    let mut lines: BTreeMap<String, TokenLine> = BTreeMap::new();
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

/// Figures by tool and model, and what is out of the ordinary at `now_ms`.
pub fn calls(measured: &[Measured], now_ms: u64) -> (Vec<Line>, Vec<Alert>) {
    let mut groups: BTreeMap<(&str, &str), Vec<&Measured>> = BTreeMap::new();
    for call in measured {
        groups
            .entry((&call.tool, &call.model))
            .or_default()
            .push(call);
    }
    let (mut lines, mut alerts) = (Vec::new(), Vec::new());
    for ((tool, model), calls) in groups {
        let mut line = Line {
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

fn latency(calls: &[&Measured]) -> (f64, f64) {
    let mut millis: Vec<f64> = calls.iter().map(|call| call.millis).collect();
    millis.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let ix = (share * millis.len() as f64) as usize;
        millis.get(ix.min(millis.len().saturating_sub(1))).copied()
    };
    (at(0.5).unwrap_or_default(), at(0.95).unwrap_or_default())
}

fn unknowns(calls: &[&Measured], now_ms: u64) -> Option<String> {
    let of_late =
        |call: &&&Measured| call.outcome == "unknown" && now_ms.saturating_sub(call.at_ms) < HOUR;
    let count = calls.iter().filter(of_late).count() as u64;
    (count >= UNKNOWNS).then(|| {
        format!(
            "{count} calls within the last hour ended in a way that nobody thought of: a defect"
        )
    })
}

/// What was usual before the window, and what is in it.
struct Baseline {
    /// Decayed calls before the window, and those of the class.
    before: (f64, f64),
    /// Calls within the window, and those of the class.
    window: (u64, u64),
}

impl Baseline {
    fn of(calls: &[&Measured], outcome: &str, now_ms: u64) -> Self {
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

    /// The usual share; where nothing came before, half a failure in one call is assumed.
    fn rate(&self) -> f64 {
        (self.before.1 + 0.5) / (self.before.0 + 1.0)
    }

    fn alarm(&self) -> Option<String> {
        let (calls, failed) = self.window;
        let bound = 2.0 * self.rate();
        if calls < FEWEST || bound >= 1.0 {
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

/// The probability that a share lies below `x`, if it is spread by a beta distribution: the regularised incomplete
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
    match x < (a + 1.0) / (a + b + 2.0) {
        true => front * fraction(x, a, b) / a,
        false => 1.0 - front * fraction(1.0 - x, b, a) / b,
    }
}

/// Lentz's way of summing up the fraction.
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

/// The logarithm of the gamma function by Stirling's series, after stepping up to where it is exact enough.
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
