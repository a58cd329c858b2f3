//! The system's table of processes, as far as trees need it.

use std::fmt;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// One process in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::process) struct ProcessEntry {
    pub(in crate::process) pid: i32,
    /// A number that no other process has until the machine restarts, whatever its id.
    pub(in crate::process) identity: u64,
    /// The identity of the process that forked it. A table that does not remember parents (see
    /// `KEEPS_PARENTS`) has the current parent here, which changes when the original parent ends.
    pub(in crate::process) parent: Option<u64>,
    pub(in crate::process) group: i32,
    pub(in crate::process) session: i32,
    /// Whether it has ended and was not reaped.
    pub(in crate::process) is_zombie: bool,
}

/// Lists the processes of a machine and sends signals to them. Tests use a scripted table.
pub(in crate::process) trait ProcessTable: fmt::Debug + Send + Sync {
    /// Returns all processes that this user may see, zombies included.
    fn list(&self) -> Vec<ProcessEntry>;

    /// Returns the process that has this id now, even if it is a zombie.
    fn find(&self, pid: i32) -> Option<ProcessEntry>;

    /// Sends a signal to a process; does nothing if there is none.
    fn signal(&self, pid: i32, signal: Signal) {
        if let Some(pid) = Pid::from_raw(pid) {
            // An error means that it has just ended.
            kill_process(pid, signal).ok();
        }
    }

    /// Sends a signal to a process group; does nothing if it is empty.
    fn signal_group(&self, group: i32, signal: Signal) {
        if let Some(group) = Pid::from_raw(group) {
            // An error means that it is empty.
            kill_process_group(group, signal).ok();
        }
    }
}
