//! Alarms about the tools of models, raised while the calls end.
//!
//! All sessions of a process share one `ToolHealth`. A trouble is an alarm about failures that began recently; sessions
//! then use a tool in another form, or not at all (`engine::remedies`).
//!
//! Knows: `quality`. Must not know: files, clocks, sessions.
//! Invariant: an alarm that the history raised before is a trouble, but no news.
//! Limitations: calls of other processes count from the next start on.
//! Start at `ToolHealth::add`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use quality::AlarmRecord;
use quality::alarms::CallSeries;
use quality::outcomes::MeasuredCall;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::outcome::CallOutcome;

/// Time in milliseconds after an alarm during which its tool is troubled.
pub(crate) const TROUBLE_MS: u64 = 24 * 3_600_000;
/// Number of calls that are kept until the history is known.
const MAX_EARLY_CALLS: usize = 10_000;

/// The usual outcomes of the tools of each model, and the alarms about them.
#[derive(Default)]
pub struct ToolHealth(Mutex<HealthState>);

#[derive(Default)]
struct HealthState {
    series: CallSeries,
    /// The calls before the history was loaded.
    early: Vec<MeasuredCall>,
    is_loaded: bool,
    /// The latest alarm of each series, oldest first.
    alarms: Vec<AlarmRecord>,
    /// The receivers of new alarms. Unbounded: a series raises one alarm a week.
    listeners: Vec<UnboundedSender<AlarmRecord>>,
}

impl ToolHealth {
    /// Adds the calls of the past, in any order. Alarms among them are not announced again.
    pub fn load(&self, mut past: Vec<MeasuredCall>) {
        past.sort_by_key(|call| call.at_ms);
        let mut series = CallSeries::default();
        let mut alarms: Vec<AlarmRecord> = past.iter().flat_map(|call| series.add(call)).collect();
        let mut state = self.state();
        // They are in the history as well, unless the ledger had not written them yet.
        let last_ms = past.last().map_or(0, |call| call.at_ms);
        let early = std::mem::take(&mut state.early);
        for call in early.iter().filter(|call| call.at_ms > last_ms) {
            alarms.extend(series.add(call));
        }
        state.series = series;
        state.is_loaded = true;
        alarms.into_iter().for_each(|alarm| state.note(alarm));
    }

    /// Adds a call that ended, and returns the alarms that it raises. They are announced to the receivers.
    pub fn add(&self, call: MeasuredCall) -> Vec<AlarmRecord> {
        let mut state = self.state();
        let raised = state.series.add(&call);
        for alarm in &raised {
            state.note(alarm.clone());
            state
                .listeners
                .retain(|listener| listener.send(alarm.clone()).is_ok());
        }
        if !state.is_loaded && state.early.len() < MAX_EARLY_CALLS {
            state.early.push(call);
        }
        raised
    }

    /// Returns the alarms that are raised from now on.
    pub fn alarms(&self) -> UnboundedReceiver<AlarmRecord> {
        let (sender, receiver) = unbounded_channel();
        self.state().listeners.push(sender);
        receiver
    }

    /// Returns the recent alarms about failures of a model's tools that say something about the tool or its use.
    pub(crate) fn troubles(&self, model: &str, now_ms: u64) -> Vec<AlarmRecord> {
        let is_recent = |alarm: &&AlarmRecord| now_ms.saturating_sub(alarm.at_ms) < TROUBLE_MS;
        let state = self.state();
        let of_model = state.alarms.iter().filter(|alarm| alarm.model == model);
        let recent = of_model.filter(is_recent);
        recent
            .filter(|alarm| is_trouble(&alarm.class))
            .cloned()
            .collect()
    }

    // A panic while the lock was held leaves at most a call uncounted.
    fn state(&self) -> MutexGuard<'_, HealthState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HealthState {
    /// Keeps an alarm as the latest one of its series.
    fn note(&mut self, alarm: AlarmRecord) {
        let is_same = |it: &AlarmRecord| {
            (&it.tool, &it.model, &it.class) == (&alarm.tool, &alarm.model, &alarm.class)
        };
        self.alarms.retain(|it| !is_same(it));
        self.alarms.push(alarm);
    }
}

/// Returns whether a class of alarms says that the tool or its use is broken. The user's refusals do not, and a slow
/// tool still works.
fn is_trouble(class: &str) -> bool {
    [
        CallOutcome::InvalidArguments,
        CallOutcome::UnexpectedEnvironment,
        CallOutcome::ProviderError,
        CallOutcome::Timeout,
    ]
    .iter()
    .any(|outcome| outcome.name() == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000;

    fn call(at_ms: u64, outcome: &str) -> MeasuredCall {
        MeasuredCall {
            at_ms,
            millis: 100.0,
            tool: "edit".to_owned(),
            model: "a/b".to_owned(),
            outcome: outcome.to_owned(),
            session: "s".to_owned(),
            call: format!("c{at_ms}"),
        }
    }

    /// A history in which one call in forty fails.
    fn history() -> Vec<MeasuredCall> {
        let outcome = |ix: u64| match ix % 40 {
            0 => "invalid_arguments",
            _ => "ok",
        };
        (0..400).map(|ix| call(ix * HOUR, outcome(ix))).collect()
    }

    #[test]
    fn a_broken_tool_is_announced_once_and_is_in_trouble() {
        let health = ToolHealth::default();
        let mut news = health.alarms();
        health.load(history());
        assert_eq!(health.troubles("a/b", 400 * HOUR), []);
        let raised: Vec<AlarmRecord> = (400..420)
            .flat_map(|ix| health.add(call(ix * HOUR, "invalid_arguments")))
            .collect();
        assert_eq!(raised.len(), 1);
        assert_eq!(news.try_recv().ok().as_ref(), raised.first());
        assert!(news.try_recv().is_err());
        let at_ms = raised[0].at_ms;
        assert_eq!(health.troubles("a/b", at_ms), raised);
        assert_eq!(health.troubles("a/c", at_ms), []);
        assert_eq!(health.troubles("a/b", at_ms + TROUBLE_MS), []);
    }

    #[test]
    fn a_history_with_an_alarm_is_no_news() {
        let mut past = history();
        past.extend((400..420).map(|ix| call(ix * HOUR, "timeout")));
        let health = ToolHealth::default();
        let mut news = health.alarms();
        // Calls that end before the history is read are part of it.
        health.add(call(419 * HOUR, "timeout"));
        health.load(past);
        assert!(news.try_recv().is_err());
        assert_eq!(health.troubles("a/b", 419 * HOUR).len(), 1);
    }

    #[test]
    fn refusals_of_the_user_are_no_trouble() {
        let mut past = history();
        past.extend((400..430).map(|ix| call(ix * HOUR, "user_aborted")));
        let health = ToolHealth::default();
        health.load(past);
        assert_eq!(health.troubles("a/b", 430 * HOUR), []);
    }
}
