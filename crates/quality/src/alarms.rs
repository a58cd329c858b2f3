//! Alarms about tool calls: a failure that became more frequent, a tool that became slower or faster.
//!
//! Each tool, model and class of failure is a series. A cumulative sum collects the evidence that the failures occur
//! with three times their usual odds, so that a rise is noticed with few calls a day. The bound of a sum grows with the
//! number of expected failures, so that a series raises about one false alarm in ninety days, whatever its size.
//!
//! Invariant: the alarms depend only on the calls; reading them again gives the same ones.
//! Invariant: a climb of a sum raises one alarm. After it, the usual level is halfway to that of the climb, and the
//! series is silent for three days.
//! Invariant: the calls of a climb do not change the level that they are compared with.
//! Limitations: calls that a model makes in a row depend on each other, which makes false alarms more frequent.
//! Start at `CallSeries`.

mod climb;
mod duration;
mod failure;

use std::collections::{BTreeMap, VecDeque};

use crate::outcomes::{DAY, HALF_LIFE, MeasuredCall, OK, UNKNOWN};
use crate::record::AlarmRecord;
use climb::Climb;
use duration::DurationSeries;
use failure::FailureSeries;

/// Period in milliseconds in which a series raises about one false alarm.
const PERIOD: u64 = 90 * DAY;
/// Period in milliseconds after an alarm in which its series raises no other.
const SILENCE: u64 = 3 * DAY;
/// Time in milliseconds after which a call counts half for the usual level. Shorter memories know rare failures badly.
const MEMORY: f64 = 28.0 * DAY as f64;
/// Weight, in calls, of the tool's share with other models, for a model with few calls.
const PRIOR_CALLS: f64 = 50.0;
/// Minimum weight, in calls, of the usual level before a series can raise an alarm.
const MIN_HISTORY: f64 = 30.0;
/// Number of unknown outcomes in an hour that raise an alarm.
const UNKNOWNS: usize = 3;
/// Tools that wait for the user or another agent; their durations say nothing about them.
const UNTIMED: [&str; 2] = ["ask_user", "spawn_agent"];
const HOUR: u64 = 3_600_000;

/// All series of calls, each with its usual level and its evidence of a change.
#[derive(Debug, Default)]
pub struct CallSeries {
    /// By tool and model.
    tools: BTreeMap<(String, String), ToolSeries>,
}

/// The series of one tool and model.
#[derive(Debug, Default)]
struct ToolSeries {
    history: CallHistory,
    /// By outcome. A class exists from its first failure on; before it, its sum would be zero.
    failures: BTreeMap<String, FailureSeries>,
    durations: DurationSeries,
    /// The latest unknown outcomes, oldest first.
    unknowns: VecDeque<Climb>,
    unknown_ms: Option<u64>,
}

/// The number of calls.
#[derive(Clone, Copy, Debug, Default)]
struct CallHistory {
    /// Number of calls, in which the weight of a call halves every week.
    calls: f64,
    /// Number of calls with the memory of usual levels.
    remembered: f64,
    /// Times of the first and the latest call.
    first_ms: Option<u64>,
    last_ms: u64,
}

impl CallHistory {
    /// Returns the factor by which weights have shrunk since the latest call.
    fn decay(&self, at_ms: u64) -> f64 {
        let since = at_ms.saturating_sub(self.last_ms);
        0.5_f64.powf(since as f64 / HALF_LIFE)
    }

    /// Returns the factor by which the weights of usual levels have shrunk since the latest call.
    fn fading(&self, at_ms: u64) -> f64 {
        let since = at_ms.saturating_sub(self.last_ms);
        0.5_f64.powf(since as f64 / MEMORY)
    }

    fn add(&mut self, at_ms: u64) {
        self.calls = self.calls * self.decay(at_ms) + 1.0;
        self.remembered = self.remembered * self.fading(at_ms) + 1.0;
        self.first_ms.get_or_insert(at_ms);
        self.last_ms = at_ms;
    }

    /// Returns the number of calls that are expected in ninety days.
    fn expected(&self) -> f64 {
        let age = self
            .last_ms
            .saturating_sub(self.first_ms.unwrap_or(self.last_ms));
        let age = age.max(DAY) as f64;
        // The time to which the decayed number of calls amounts.
        let span = HALF_LIFE / std::f64::consts::LN_2 * (1.0 - 0.5_f64.powf(age / HALF_LIFE));
        self.calls / span * PERIOD as f64
    }
}

impl CallSeries {
    /// Adds a call and returns the alarms that it raises. Calls must come in the order of their times.
    pub fn add(&mut self, call: &MeasuredCall) -> Vec<AlarmRecord> {
        let others = self.others(call);
        let key = (call.tool.clone(), call.model.clone());
        let tool = self.tools.entry(key).or_default();
        let mut alarms = tool.add(call, &others);
        for alarm in &mut alarms {
            alarm.tool.clone_from(&call.tool);
            alarm.model.clone_from(&call.model);
            alarm.at_ms = call.at_ms;
        }
        alarms
    }

    /// Returns the calls of other models with the tool, and their failures by class.
    fn others(&self, call: &MeasuredCall) -> (f64, BTreeMap<String, f64>) {
        let first = (call.tool.clone(), String::new());
        let of_tool = self
            .tools
            .range(first..)
            .take_while(|((tool, _), _)| *tool == call.tool);
        let (mut calls, mut failures) = (0.0, BTreeMap::new());
        for (_, series) in of_tool.filter(|((_, model), _)| *model != call.model) {
            let fading = series.history.fading(call.at_ms);
            calls += series.history.remembered * fading;
            for (class, series) in &series.failures {
                *failures.entry(class.clone()).or_insert(0.0) += series.failures * fading;
            }
        }
        (calls, failures)
    }
}

impl ToolSeries {
    fn add(
        &mut self,
        call: &MeasuredCall,
        (calls, failures): &(f64, BTreeMap<String, f64>),
    ) -> Vec<AlarmRecord> {
        let mut alarms = Vec::new();
        let fading = self.history.fading(call.at_ms);
        let outcome = call.outcome.as_str();
        if outcome != OK && outcome != UNKNOWN {
            let series = self.failures.entry(call.outcome.clone());
            series.or_insert_with(|| FailureSeries::after(self.history.remembered));
        }
        for (class, series) in &mut self.failures {
            let share = failures.get(class).copied().unwrap_or_default() / calls.max(1.0);
            let prior = (calls.min(PRIOR_CALLS), share);
            let alarm = series.add(call, class == outcome, (&self.history, fading), prior);
            alarms.extend(alarm.map(|alarm| AlarmRecord {
                class: class.clone(),
                ..alarm
            }));
        }
        // A call that did not work says nothing about the time that the tool takes.
        if outcome == OK && !UNTIMED.contains(&call.tool.as_str()) {
            alarms.extend(self.durations.add(call, &self.history));
        }
        if outcome == UNKNOWN {
            alarms.extend(self.add_unknown(call));
        }
        self.history.add(call.at_ms);
        alarms
    }

    /// Counts unknown outcomes, each of which is a defect.
    fn add_unknown(&mut self, call: &MeasuredCall) -> Option<AlarmRecord> {
        let is_recent = |climb: &Climb| call.at_ms.saturating_sub(climb.since_ms) < HOUR;
        self.unknowns.retain(is_recent);
        let mut climb = Climb::default();
        climb.add(call, true);
        self.unknowns.push_back(climb);
        let is_silent = |at: u64| call.at_ms.saturating_sub(at) < SILENCE;
        if self.unknowns.len() < UNKNOWNS || self.unknown_ms.is_some_and(is_silent) {
            return None;
        }
        self.unknown_ms = Some(call.at_ms);
        let count = self.unknowns.len();
        let examples = self
            .unknowns
            .iter()
            .rev()
            .take(3)
            .flat_map(|it| it.examples.clone());
        Some(AlarmRecord {
            class: UNKNOWN.to_owned(),
            since_ms: self.unknowns.front().map_or(call.at_ms, |it| it.since_ms),
            sum: count as f64,
            bound: UNKNOWNS as f64,
            now: 1.0,
            calls: count as u64,
            examples: examples.collect(),
            ..AlarmRecord::default()
        })
    }
}

impl AlarmRecord {
    /// Returns the alarm as a clause.
    pub fn sentence(&self) -> String {
        let Self {
            class,
            usual,
            now,
            calls,
            ..
        } = self;
        match class.as_str() {
            UNKNOWN => format!(
                "{calls} calls within an hour ended with an unknown outcome, which is a defect"
            ),
            duration::SLOWER | duration::FASTER => {
                format!(
                    "{class}: {now:.0} ms in the middle of {calls} calls, and {usual:.0} ms were usual"
                )
            }
            _ => {
                let (now, usual) = (100.0 * now, 100.0 * usual);
                format!("{class}: {now:.1} % of {calls} calls, and {usual:.1} % were usual")
            }
        }
    }
}

/// Returns the alarms of calls in any order.
pub fn alarms(calls: &[MeasuredCall]) -> Vec<AlarmRecord> {
    let mut ordered: Vec<&MeasuredCall> = calls.iter().collect();
    ordered.sort_by_key(|call| call.at_ms);
    let mut series = CallSeries::default();
    ordered
        .into_iter()
        .flat_map(|call| series.add(call))
        .collect()
}

#[cfg(test)]
mod tests;
