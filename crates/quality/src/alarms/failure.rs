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
    /// Decayed number of failures, at the time of the latest call of the tool.
    pub(super) failures: f64,
    sum: FailureCusum,
    climb: Climb,
    /// The usual share and the bound while the sum is above half of the bound: a rise must not become usual before
    /// it is noticed.
    frozen: Option<(f64, f64)>,
    /// Time of the latest alarm.
    alarm_ms: Option<u64>,
}

impl FailureSeries {
    /// Adds a call. `history` are the earlier calls, whose weights have shrunk by `decay` since; `prior` is the weight
    /// in calls and the share of the same failure with other models.
    pub(super) fn add(
        &mut self,
        call: &MeasuredCall,
        is_failure: bool,
        (history, decay): (&CallHistory, f64),
        (weight, share): (f64, f64),
    ) -> Option<AlarmRecord> {
        self.failures *= decay;
        let calls = history.calls * decay;
        let usual = (self.failures + 0.5 + weight * share) / (calls + 1.0 + weight);
        let bound = (usual * history.expected()).ln().max(MIN_BOUND);
        let (usual, bound) = self.frozen.unwrap_or((usual, bound));
        self.failures += f64::from(u8::from(is_failure));
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
        self.frozen = (sum > bound / 2.0).then_some((usual, bound));
        if sum < bound {
            return None;
        }
        self.alarm_ms = Some(call.at_ms);
        self.sum = FailureCusum::default();
        self.frozen = None;
        let climb = std::mem::take(&mut self.climb);
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
}
