//! Statistics of a session: calls and responses.

use ledger::MetricRow;
use model::Usage;
use serde_json::json;

use super::session::SessionTask;
use crate::outcome::CallOutcome;
use crate::stats::{TOKENS, TOOL_CALL};

impl SessionTask {
    /// Stores a finished call as a measurement named `TOOL_CALL`; it may be lost.
    pub(super) fn measure_call(&self, tool: &str, outcome: CallOutcome, millis: u64) {
        let model = self.transcript.last_model().unwrap_or(&self.model);
        self.store().measure(MetricRow {
            at_ms: self.harness().parts.sources.clock.wall_ms(),
            name: TOOL_CALL.to_owned(),
            value: millis as f64,
            tags: json!({
                "tool": tool,
                "model": model,
                "outcome": outcome.name(),
                "session": self.id.as_ref(),
            })
            .to_string(),
        });
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
