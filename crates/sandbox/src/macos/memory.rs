//! Ends a process tree that exceeds its memory or its number of processes.
//!
//! macOS has no limit for a tree, so a thread adds up what the processes use.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use host::process::OwnedProcess;

use crate::ResourceLimits;

/// Time between two looks; a tree can exceed its limit for that long.
const PAUSE: Duration = Duration::from_millis(200);

/// Watches a tree until it is dropped.
#[derive(Debug)]
pub(super) struct TreeWatch {
    _stop: Sender<()>,
}

impl TreeWatch {
    /// Watches a tree if there is a limit, and kills it when it exceeds one.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub(super) fn start(
        process: &Arc<OwnedProcess>,
        limits: Option<&ResourceLimits>,
    ) -> io::Result<Option<Self>> {
        let is_limited =
            |limits: &&ResourceLimits| limits.memory.is_some() || limits.processes.is_some();
        let Some(limits) = limits.filter(is_limited).cloned() else {
            return Ok(None);
        };
        let process = Arc::downgrade(process);
        let (stop, stopped) = mpsc::channel::<()>();
        let watch = move || {
            while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let Some(process) = process.upgrade() else {
                    return;
                };
                if exceeds(&limits, &process.members(), resident_bytes) {
                    return process.kill();
                }
            }
        };
        thread::Builder::new()
            .name("sandbox limits".to_owned())
            .spawn(watch)?;
        Ok(Some(Self { _stop: stop }))
    }
}

/// Returns whether processes exceed a limit together.
pub(super) fn exceeds(
    limits: &ResourceLimits,
    members: &[u32],
    bytes: impl Fn(u32) -> u64,
) -> bool {
    let is_over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used > limit);
    let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
    // Adding up costs a call for each process.
    is_over(limits.processes, count)
        || limits.memory.is_some()
            && is_over(limits.memory, members.iter().map(|id| bytes(*id)).sum())
}

/// Returns the bytes of memory that a process is charged for; 0 if it has ended.
#[cfg(target_os = "macos")]
#[expect(unsafe_code, reason = "the call has no safe wrapper here")]
fn resident_bytes(process: u32) -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage_info_v2>::zeroed();
    let process = process.cast_signed();
    // SAFETY: the buffer has the layout of the requested version.
    let failed =
        unsafe { libc::proc_pid_rusage(process, libc::RUSAGE_INFO_V2, usage.as_mut_ptr().cast()) };
    // SAFETY: the buffer was zeroed, and all zeroes are a valid value.
    let usage = unsafe { usage.assume_init() };
    if failed == 0 {
        usage.ri_phys_footprint
    } else {
        0
    }
}

/// Returns the bytes of memory that a process has in use; 0 if it has ended.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "/proc describes a process; it is not a user's file"
)]
fn resident_bytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = resident.and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.map_or(0, |kilobytes: u64| kilobytes << 10)
}
