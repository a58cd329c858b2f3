//! A series of one class of failure.

use statistics::FailureCusum;

use super::climb::Climb;
use super::{CallHistory, MIN_HISTORY, SILENCE};
use crate::outcomes::MeasuredCall;
use crate::record::AlarmRecord;

/// Minimum bound of a sum.
const MIN_BOUND: f64 = 3.0;

/// The failures of one class, with the evidence that they became more frequent.
#[derive(Debug, Default)]
pub(super) struct FailureSeries {
    /// Number of failures and of calls with the memory of usual levels, at the time of the latest call of the tool.
    pub(super) failures: f64,
    calls: f64,
    sum: FailureCusum,
    climb: Climb,
    /// The usual share and the bound since the climb began: a rise must not become usual before it is noticed.
    frozen: Option<(f64, f64)>,
    /// Time of the latest alarm.
    alarm_ms: Option<u64>,
}

impl FailureSeries {
    /// Creates a series after this many calls without a failure of the class.
    pub(super) fn after(calls: f64) -> Self {
        Self {
            calls,
            ..Self::default()
        }
    }

    /// Adds a call. `history` are the earlier calls of the tool, whose weights have shrunk by `fading` since; `prior` is
    /// the weight in calls and the share of the same failure with other models.
    pub(super) fn add(
        &mut self,
        call: &MeasuredCall,
        is_failure: bool,
        (history, fading): (&CallHistory, f64),
        (weight, share): (f64, f64),
    ) -> Option<AlarmRecord> {
        self.failures *= fading;
        let calls = self.calls * fading;
        let usual = (self.failures + 0.5 + weight * share) / (calls + 1.0 + weight);
        let bound = (usual * history.expected()).ln().max(MIN_BOUND);
        let (usual, bound) = self.frozen.unwrap_or((usual, bound));
        self.failures += f64::from(u8::from(is_failure));
        self.calls = calls + 1.0;
        let is_silent = self
            .alarm_ms
            .is_some_and(|at| call.at_ms.saturating_sub(at) < SILENCE);
        if calls + weight < MIN_HISTORY || is_silent {
            return None;
        }
        let sum = self.sum.add(is_failure, usual);
        if sum <= 0.0 {
            self.climb = Climb::default();
            self.frozen = None;
            return None;
        }
        self.climb.add(call, is_failure);
        self.frozen = Some((usual, bound));
        if sum < bound {
            return None;
        }
        self.alarm_ms = Some(call.at_ms);
        self.sum = FailureCusum::default();
        self.frozen = None;
        let climb = std::mem::take(&mut self.climb);
        self.adapt(climb.failed as f64, climb.calls as f64);
        Some(AlarmRecord {
            since_ms: climb.since_ms,
            sum,
            bound,
            usual,
            now: climb.failed as f64 / climb.calls.max(1) as f64,
            calls: climb.calls,
            examples: climb.examples,
            ..AlarmRecord::default()
        })
    }

    /// Takes over the level of a climb. The memory from before counts as much as the climb: if the alarm was false, the
    /// usual level must not be lost.
    fn adapt(&mut self, failed: f64, calls: f64) {
        let before = (self.calls - calls).max(0.0);
        let keep = (calls / before.max(1.0)).min(1.0);
        self.failures = (self.failures - failed).max(0.0) * keep + failed;
        self.calls = before * keep + calls;
    }
}
