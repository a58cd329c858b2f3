//! A series of durations: a tool that became slower or faster.
//!
//! Durations are compared by their logarithms, with the median of the past and its median deviation, so that neither
//! long calls nor a skewed distribution matter.

use std::collections::VecDeque;

use statistics::{LevelCusum, median, median_deviation};

use super::climb::Climb;
use super::{CallHistory, MIN_HISTORY, SILENCE};
use crate::outcomes::{DAY, MeasuredCall};
use crate::record::AlarmRecord;

/// The class of an alarm about calls that take longer than usual.
pub(super) const SLOWER: &str = "slower";
/// The class of an alarm about calls that end sooner than usual.
pub(super) const FASTER: &str = "faster";

/// Maximum number and age of calls from which the usual duration is taken.
const PAST_CALLS: usize = 500;
const PAST_AGE: u64 = 28 * DAY;
/// Number of calls after which the usual duration is taken anew.
const RENEWAL: usize = 25;
/// Minimum bound of a sum.
const MIN_BOUND: f64 = 5.0;
/// Difference between the bound and the logarithm of the number of calls in which one false alarm is expected, for
/// normal distances (Siegmund's approximation of the run length, both directions together).
const BOUND_SHIFT: f64 = 1.166;
/// Tolerated distance from the usual level, in its standard errors: the median of a small past is off by about one.
const TOLERANCE: f64 = 2.0;
/// Minimum deviation of the logarithm of a duration. Durations within a few percent are the same.
const MIN_DEVIATION: f64 = 0.1;

/// The durations of the calls of one tool and model.
#[derive(Debug, Default)]
pub(super) struct DurationSeries {
    /// Times and logarithms of durations, oldest first.
    past: VecDeque<(u64, f64)>,
    /// Usual logarithm and its deviation, and the number of calls since they were taken.
    usual: Option<(f64, f64)>,
    /// Number of calls from which it was taken.
    usual_calls: usize,
    age: usize,
    sums: LevelCusum,
    climb: Climb,
    /// Durations in the climb.
    durations: Vec<f64>,
    alarm_ms: Option<u64>,
}

impl DurationSeries {
    /// Adds a call. `history` are the earlier calls of the tool.
    pub(super) fn add(
        &mut self,
        call: &MeasuredCall,
        history: &CallHistory,
    ) -> Option<AlarmRecord> {
        let value = call.millis.max(1.0).ln();
        let bound = (history.expected().ln() - BOUND_SHIFT).max(MIN_BOUND);
        let found = self.compare(call, value, bound);
        self.past.push_back((call.at_ms, value));
        let is_old = |at: u64| call.at_ms.saturating_sub(at) > PAST_AGE;
        while self.past.len() > PAST_CALLS || self.past.front().is_some_and(|it| is_old(it.0)) {
            self.past.pop_front();
        }
        self.age += 1;
        // A change must not become usual before it is noticed.
        if self.sums.sum() <= bound / 2.0 && (self.age >= RENEWAL || self.usual.is_none()) {
            self.renew();
        }
        found
    }

    fn compare(&mut self, call: &MeasuredCall, value: f64, bound: f64) -> Option<AlarmRecord> {
        let (usual, deviation) = self.usual?;
        let is_silent = self
            .alarm_ms
            .is_some_and(|at| call.at_ms.saturating_sub(at) < SILENCE);
        if is_silent {
            return None;
        }
        let distance = (value - usual) / deviation;
        let tolerance = TOLERANCE / (self.usual_calls as f64).max(1.0).sqrt();
        let (above, below) = self.sums.add(distance, tolerance);
        let sum = above.max(below);
        if sum <= 0.0 {
            self.climb = Climb::default();
            self.durations.clear();
            return None;
        }
        let is_higher = above >= below;
        self.climb.add(call, (distance > 0.0) == is_higher);
        self.durations.push(call.millis);
        if sum < bound {
            return None;
        }
        self.alarm_ms = Some(call.at_ms);
        self.sums = LevelCusum::default();
        let climb = std::mem::take(&mut self.climb);
        let durations = std::mem::take(&mut self.durations);
        Some(AlarmRecord {
            class: if is_higher { SLOWER } else { FASTER }.to_owned(),
            since_ms: climb.since_ms,
            sum,
            bound,
            usual: usual.exp(),
            now: median(&durations).unwrap_or_default(),
            calls: climb.calls,
            examples: climb.examples,
            ..AlarmRecord::default()
        })
    }

    /// Takes the usual duration from the past.
    fn renew(&mut self) {
        if (self.past.len() as f64) < MIN_HISTORY {
            return;
        }
        let values: Vec<f64> = self.past.iter().map(|(_, value)| *value).collect();
        let usual = median(&values);
        let deviation = usual.and_then(|usual| median_deviation(&values, usual));
        self.usual_calls = values.len();
        self.usual = usual.zip(deviation.map(|it| it.max(MIN_DEVIATION)));
        self.age = 0;
    }
}
