//! The latest runs of hooks, kept as measurements in the ledger.

use std::collections::HashMap;
use std::sync::Arc;

use agent::access::HookResult;
use agent::hooks::{HookObserver, HookRun};
use agent::store::SessionStore;
use base::AbsPath;
use host::Clock;
use ledger::MetricRow;
use serde_json::{Value, json};

use crate::Error;

/// The name of the measurements.
const METRIC: &str = "hook_run";
/// The age of the oldest runs that are read, in milliseconds: 30 days.
const MAX_AGE_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// The latest run of each hook of a project, by event and command.
pub(crate) type LatestRuns = HashMap<(String, String), HookResult>;

/// Returns an observer that records the runs of a project's hooks.
pub(crate) fn recorder(
    store: SessionStore,
    clock: Arc<dyn Clock>,
    project: &AbsPath,
) -> HookObserver {
    let project = project.to_string();
    Arc::new(move |run: &HookRun| {
        let tags = json!({
            "project": project,
            "event": run.event.name(),
            "command": run.command,
            "result": run.result,
        });
        store.measure(MetricRow {
            at_ms: clock.wall_ms(),
            name: METRIC.to_owned(),
            value: 1.0,
            tags: tags.to_string(),
        });
    })
}

/// Returns the latest runs of a project's hooks at the time `now_ms`. Blocks on the disk.
pub(crate) fn latest(
    store: &SessionStore,
    project: &AbsPath,
    now_ms: u64,
) -> Result<LatestRuns, Error> {
    let since = now_ms.saturating_sub(MAX_AGE_MS);
    let rows = store.metrics(METRIC, since).map_err(Error::session)?;
    let project = project.to_string();
    let mut latest = LatestRuns::new();
    for row in rows {
        let tags: Value = serde_json::from_str(&row.tags).unwrap_or_default();
        let text = |key: &str| tags.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("project") != project {
            continue;
        }
        let key = (text("event").to_owned(), text("command").to_owned());
        let is_newer = latest
            .get(&key)
            .is_none_or(|known| known.at_ms <= row.at_ms);
        if is_newer {
            let result = HookResult {
                at_ms: row.at_ms,
                result: text("result").to_owned(),
            };
            latest.insert(key, result);
        }
    }
    Ok(latest)
}
