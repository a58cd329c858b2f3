//! The process table of Linux without environments: what `/proc/…/stat` shows.

use std::collections::HashMap;

use super::stat::{ProcStat, all_processes, read_proc_stat};
use super::table::{ProcessEntry, ProcessTable};

/// Whether an entry still names the process that forked it after that process has ended.
#[cfg(test)]
pub(in crate::process) const KEEPS_PARENTS: bool = false;

/// Bits of an identity that hold the process id; the others hold the start time in ticks.
const PID_BITS: u32 = 22;

/// The processes of this machine.
#[derive(Clone, Copy, Debug)]
pub(in crate::process) struct SystemTable;

impl ProcessTable for SystemTable {
    fn list(&self) -> Vec<ProcessEntry> {
        let all = all_processes();
        let by_pid: HashMap<i32, &ProcStat> = all.iter().map(|seen| (seen.pid, seen)).collect();
        let entry = |seen: &ProcStat| {
            // A younger process with that id is another one.
            let parent = by_pid.get(&seen.parent);
            let parent = parent.filter(|parent| parent.began <= seen.began);
            entry_of(seen, parent.copied())
        };
        all.iter().map(entry).collect()
    }

    fn find(&self, pid: i32) -> Option<ProcessEntry> {
        let seen = read_proc_stat(pid)?;
        let parent = read_proc_stat(seen.parent).filter(|parent| parent.began <= seen.began);
        Some(entry_of(&seen, parent.as_ref()))
    }
}

/// Returns a text that changes when the machine restarts.
pub(super) fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    text.unwrap_or_default().trim().to_owned()
}

fn entry_of(seen: &ProcStat, parent: Option<&ProcStat>) -> ProcessEntry {
    ProcessEntry {
        pid: seen.pid,
        identity: identity_of(seen),
        parent: parent.map(identity_of),
        group: seen.group,
        session: seen.session,
        is_zombie: seen.is_dead,
    }
}

fn identity_of(seen: &ProcStat) -> u64 {
    (seen.began << PID_BITS) | u64::from(seen.pid.cast_unsigned())
}
