//! Each model's health in the last day, from the ledger.

use std::collections::BTreeMap;
use std::fmt;

use host::Dirs;
use ledger::Ledger;
use serde_json::{Value, json};

use crate::usage_store::ledger_path;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The models that were called in the last day.
#[derive(Default)]
pub struct Health {
    models: BTreeMap<String, ModelHealth>,
    now_ms: u64,
}

/// The recent calls of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelHealth {
    calls: u64,
    failed: u64,
    /// The end of the last call: `ok`, or the class of its failure.
    last: String,
    minutes_ago: u64,
}

/// Reads the health of all models. Also returns a sentence if the ledger cannot be read; a missing
/// ledger is none.
pub fn read(dirs: &Dirs, now_ms: u64) -> (Health, Option<String>) {
    let path = ledger_path(dirs);
    if !path.as_path().exists() {
        return (Health::default(), None);
    }
    let calls = Ledger::open(&path, now_ms)
        .and_then(|opened| opened.ledger.calls(now_ms.saturating_sub(DAY_MS)));
    let calls = match calls {
        Ok(calls) => calls,
        Err(error) => return (Health::default(), Some(error.to_string())),
    };
    let mut health = Health {
        now_ms,
        ..Health::default()
    };
    // A cancelled call says nothing about the model.
    for call in calls.iter().filter(|call| call.outcome != "cancelled") {
        health.count(&call.model, &call.outcome, call.at_ms);
    }
    (health, None)
}

impl Health {
    /// Returns the health of a model, which `model` names as `provider/model`. Returns `None` if
    /// the model was not called in the last day.
    pub fn of(&self, model: &str) -> Option<&ModelHealth> {
        self.models.get(model)
    }

    fn count(&mut self, model: &str, outcome: &str, at_ms: u64) {
        let model_health = self.models.entry(model.to_owned()).or_default();
        model_health.calls += 1;
        model_health.failed += u64::from(outcome != "ok");
        outcome.clone_into(&mut model_health.last);
        model_health.minutes_ago = self.now_ms.saturating_sub(at_ms) / 60_000;
    }
}

impl ModelHealth {
    /// Returns the health as JSON, for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "calls": self.calls, "failed": self.failed, "last": self.last, "minutes_ago": self.minutes_ago,
        })
    }
}

impl fmt::Display for ModelHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            calls,
            failed,
            last,
            minutes_ago,
        } = self;
        write!(
            f,
            "{failed} of {calls} failed today, last: {last}, {minutes_ago} min ago"
        )
    }
}
