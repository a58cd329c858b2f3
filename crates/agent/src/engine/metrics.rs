//! Statistics of a session: calls, responses, its part in an experiment.

use ledger::MetricRow;
use model::Usage;
use quality::QualityRecord;
use quality::outcomes::MeasuredCall;
use serde_json::json;

use super::session::SessionTask;
use crate::outcome::CallOutcome;
use crate::stats::{TOKENS, TOOL_CALL};

impl SessionTask {
    /// Stores a finished call as a measurement named `TOOL_CALL`, which may be lost, and the alarms that it raises.
    pub(super) fn measure_call(&self, call: &str, tool: &str, outcome: CallOutcome, millis: u64) {
        let model = self.transcript.last_model().unwrap_or(&self.model);
        let measured = MeasuredCall {
            at_ms: self.harness().parts.sources.clock.wall_ms(),
            millis: millis as f64,
            tool: tool.to_owned(),
            model: model.to_owned(),
            outcome: outcome.name().to_owned(),
            session: self.id.as_ref().to_owned(),
            call: call.to_owned(),
        };
        self.store().measure(MetricRow {
            at_ms: measured.at_ms,
            name: TOOL_CALL.to_owned(),
            value: measured.millis,
            tags: json!({
                "tool": measured.tool,
                "model": measured.model,
                "outcome": measured.outcome,
                "session": measured.session,
                "call": measured.call,
            })
            .to_string(),
        });
        let alarms = self.harness().tool_health().add(measured).into_iter();
        let rows = alarms.map(|alarm| (alarm.at_ms, QualityRecord::Alarm(alarm)));
        self.store().record_quality(rows.collect());
    }

    /// Stores which variant of an experiment a new session has. A subagent shares that of the session above.
    pub(super) fn record_exposure(&self) {
        let at_ms = self.harness().parts.sources.clock.wall_ms();
        let variant = self
            .start
            .variant
            .as_ref()
            .filter(|_| self.start.parent.is_none());
        let exposure = variant.and_then(|variant| variant.exposure(at_ms));
        let rows = exposure.map(|exposure| (at_ms, exposure));
        self.store().record_quality(rows.into_iter().collect());
    }

    /// Stores the tokens of an answer as a measurement named `TOKENS`; it may be lost.
    pub(super) fn measure_answer(&self, model: &str, usage: &Usage) {
        self.store().measure(MetricRow {
            at_ms: self.harness().parts.sources.clock.wall_ms(),
            name: TOKENS.to_owned(),
            value: usage.total().0 as f64,
            tags: json!({
                "model": model,
                "session": self.id.as_ref(),
                "turn": self.turn,
                "prompt": usage.prompt().0,
                "cache_read": usage.cache_read.0,
                "output": usage.output.0,
            })
            .to_string(),
        });
    }
}
