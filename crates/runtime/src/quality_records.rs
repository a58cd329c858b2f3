//! The recording of quality while the program runs: what is kept, alarms about tools, experiments.
//!
//! Start at `QualityTask::start`.

use std::sync::Arc;
use std::time::Duration;

use agent::engine::{Harness, SessionVariant};
use agent::stats::{self, TOOL_CALL};
use agent::store::SessionStore;
use base::{AbsPath, LogErr as _};
use composer::retention_recorder::RetentionRecorder;
use host::{Clock as _, Dirs, Files as _, RealClock, RealFiles};
use quality::ExperimentSet;
use tokio::task::JoinHandle;

/// Age of the calls from which the usual outcomes are taken, in milliseconds: the weight of older ones is small.
const HISTORY_MS: u64 = 90 * 86_400_000;
/// Interval of the measurements that no change brings about. A measurement is right whenever it is taken.
const INTERVAL: Duration = Duration::from_secs(600);
/// Maximum size of the file with experiments, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Measures what is kept as time passes. Dropping it ends that.
pub(crate) struct QualityTask(JoinHandle<()>);

impl Drop for QualityTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl QualityTask {
    /// Reads the past calls of tools in the background, and measures with `recorder` every ten minutes. Call it on a
    /// tokio runtime.
    pub(crate) fn start(harness: &Arc<Harness>, recorder: RetentionRecorder) -> Self {
        let harness = harness.clone();
        Self(tokio::spawn(async move {
            let reading = tokio::task::spawn_blocking(move || load_history(&harness));
            reading.await.log_err();
            loop {
                tokio::time::sleep(INTERVAL).await;
                let recorder = recorder.clone();
                let now_ms = RealClock::default().wall_ms();
                let measuring = tokio::task::spawn_blocking(move || recorder.advance(now_ms));
                measuring.await.log_err();
            }
        }))
    }
}

fn load_history(harness: &Harness) {
    let since_ms = RealClock::default().wall_ms().saturating_sub(HISTORY_MS);
    match harness.store().metrics(TOOL_CALL, since_ms) {
        Ok(calls) => {
            let calls = calls.iter().filter_map(stats::measured_call);
            harness.tool_health().load(calls.collect());
        }
        Err(error) => log::warn!("past calls of tools are not known: {error}"),
    }
}

/// Returns the recorder of what is kept, which writes to the ledger.
pub(crate) fn recorder(store: &SessionStore) -> RetentionRecorder {
    let store = store.clone();
    RetentionRecorder::new(move |rows| store.record_quality(rows))
}

/// The path of the file with the user's experiments.
fn experiments_path(dirs: &Dirs) -> AbsPath {
    dirs.config.join("experiments.json")
}

/// Reads the experiments of the user; none without a file. Problems are returned as sentences. Blocks on the disk.
pub fn experiments(dirs: &Dirs) -> (ExperimentSet, Vec<String>) {
    let path = experiments_path(dirs);
    match RealFiles.read(&path, MAX_FILE_BYTES) {
        Ok(bytes) => ExperimentSet::parse(&String::from_utf8_lossy(&bytes)),
        Err(error) if error.is_not_found() => (ExperimentSet::default(), Vec::new()),
        Err(error) => (ExperimentSet::default(), vec![error.to_string()]),
    }
}

/// Returns the part of a new session in the experiment that is under way, and the problems of the file as sentences.
/// Blocks on the disk.
pub(crate) fn session_variant(dirs: &Dirs) -> (Option<SessionVariant>, Vec<String>) {
    let (experiments, problems) = experiments(dirs);
    let experiment = experiments.of_sessions().cloned().map(Arc::new);
    (experiment.map(SessionVariant::new), problems)
}

#[cfg(test)]
mod tests {
    use host::TempFolder;

    use super::*;

    #[test]
    fn broken_experiments_are_reported_and_missing_ones_are_not() {
        let folder = TempFolder::new().unwrap();
        let dirs = Dirs::under(folder.path());
        let (experiments, problems) = experiments(&dirs);
        assert!(experiments.all().is_empty() && problems.is_empty());
        RealFiles.create_folder(&dirs.config).unwrap();
        let path = experiments_path(&dirs);
        RealFiles
            .write_private(&path, br#"{"experiments": [{}]}"#)
            .unwrap();
        let (variant, problems) = session_variant(&dirs);
        assert!(variant.is_none());
        assert!(
            problems[0].starts_with("experiment 1: missing field"),
            "{problems:?}"
        );
    }
}
