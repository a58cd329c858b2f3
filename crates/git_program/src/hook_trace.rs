//! Names the hook that failed, from Git's own trace.
//!
//! Git prints nothing about a failed hook but the hook's output. Its trace names each hook and its exit code.
//! Limitations: the trace of a hook that calls Git very often is not read, and its failure is then reported as one of Git.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{AbsPath, LogErr};
use host::{Files, RealFiles};
use serde_json::Value;

/// Bytes read of a trace.
const TRACE_BYTES: u64 = 16 << 20;

/// A file that receives the trace of one call; removed on drop.
#[derive(Debug)]
pub(crate) struct HookTrace {
    path: AbsPath,
}

impl HookTrace {
    /// Creates a trace in the folder with Git's own files.
    pub(crate) fn new(git_dir: &AbsPath) -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = git_dir.join(format!("burin-trace-{}-{count}", std::process::id()));
        RealFiles.write_private(&path, b"").log_err()?;
        Some(Self { path })
    }

    /// Returns the variables that make Git write the trace.
    pub(crate) fn variables(&self) -> [(OsString, OsString); 2] {
        [
            ("GIT_TRACE2_EVENT".into(), self.path.as_path().into()),
            ("GIT_TRACE2_EVENT_BRIEF".into(), "1".into()),
        ]
    }

    /// Returns the name of the last hook that failed.
    pub(crate) fn failed_hook(&self) -> Option<String> {
        let trace = RealFiles.read(&self.path, TRACE_BYTES).ok()?;
        failed_hook(&trace)
    }
}

impl Drop for HookTrace {
    fn drop(&mut self) {
        RealFiles.remove(&self.path).log_err();
    }
}

/// Returns the name of the last hook of the outermost process that failed.
fn failed_hook(trace: &[u8]) -> Option<String> {
    let mut started: Vec<(u64, String)> = Vec::new();
    let mut failed = None;
    for line in trace.split(|byte| *byte == b'\n') {
        // Most events are about something else.
        if !line.starts_with(b"{\"event\":\"child_") {
            continue;
        }
        let Ok(event) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        let is_inner = event["sid"].as_str().is_none_or(|sid| sid.contains('/'));
        let Some(child) = event["child_id"].as_u64().filter(|_| !is_inner) else {
            continue;
        };
        match event["event"].as_str() {
            Some("child_start") => {
                if let Some(hook) = event["hook_name"].as_str() {
                    started.push((child, hook.to_owned()));
                }
            }
            Some("child_exit") if event["code"].as_i64() != Some(0) => {
                let hook = started.iter().rev().find(|(id, _)| *id == child);
                failed = hook.map(|(_, hook)| hook.clone()).or(failed);
            }
            _ => {}
        }
    }
    failed
}

#[cfg(test)]
mod tests {
    use super::failed_hook;

    #[test]
    fn the_failed_hook_of_the_outer_process_is_named() {
        let trace = concat!(
            r#"{"event":"child_start","sid":"a","child_id":0,"child_class":"hook","hook_name":"pre-commit"}"#,
            "\n",
            r#"{"event":"child_exit","sid":"a","child_id":0,"code":0}"#,
            "\n",
            r#"{"event":"child_start","sid":"a","child_id":1,"child_class":"hook","hook_name":"commit-msg"}"#,
            "\n",
            r#"{"event":"child_start","sid":"a/b","child_id":1,"hook_name":"inner"}"#,
            "\n",
            r#"{"event":"child_exit","sid":"a/b","child_id":1,"code":3}"#,
            "\n",
            r#"{"event":"child_exit","sid":"a","child_id":1,"code":1}"#,
            "\nnot json\n{\"event\":\"child_\n",
        );
        assert_eq!(failed_hook(trace.as_bytes()).as_deref(), Some("commit-msg"));
        let first = trace.lines().take(2).collect::<Vec<_>>().join("\n");
        assert_eq!(failed_hook(first.as_bytes()), None);
    }
}
