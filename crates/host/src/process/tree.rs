//! Finds and kills all descendants of a process.
//!
//! A child can leave its parent's group with `setsid` and its parents with a double fork, and
//! ignores `SIGHUP` under `nohup`. Two implementations find it nevertheless:
//!
//! - `marks`, on Linux: every process of a tree inherits an environment variable, which `/proc`
//!   shows. A process that cleared its environment, left its session *and* lost its parents is not
//!   found.
//! - `tracked`, on macOS and in the portable build: a thread looks at the process table again and
//!   again and remembers the members that it saw, dead ones included. On macOS the table names the
//!   process that forked another, even after it has ended. The portable build lacks this name: a
//!   process that left its session and lost its parent before the first look is not found.
//!
//! Processes left behind by a Burin that was killed are ended by the next one: see `end_orphans`.

#[cfg(all(target_os = "linux", not(burin_portable)))]
mod marks;
#[cfg(any(test, burin_portable, target_os = "macos"))]
pub(super) mod orphans;
#[cfg(target_os = "linux")]
mod stat;
#[cfg(any(test, burin_portable, target_os = "macos"))]
pub(super) mod table;
#[cfg(any(test, burin_portable, target_os = "macos"))]
pub(super) mod tracked;
#[cfg(any(test, burin_portable, target_os = "macos"))]
mod tracker;
#[cfg(any(test, burin_portable, target_os = "macos"))]
#[cfg_attr(
    all(target_os = "linux", not(burin_portable)),
    expect(
        dead_code,
        reason = "its tests alone need what it uses where `marks` is chosen"
    )
)]
mod unmarked;

#[cfg(target_os = "macos")]
#[path = "tree/kqueue_events.rs"]
mod fork_events;
#[cfg(all(any(test, burin_portable), target_os = "linux"))]
#[path = "tree/polled_events.rs"]
mod fork_events;
#[cfg(target_os = "macos")]
#[path = "tree/libproc_table.rs"]
pub(super) mod system_table;
#[cfg(all(any(test, burin_portable), target_os = "linux"))]
#[path = "tree/stat_table.rs"]
pub(super) mod system_table;

#[cfg(all(target_os = "linux", not(burin_portable)))]
use marks as system;
#[cfg(any(burin_portable, target_os = "macos"))]
use unmarked as system;

use std::collections::HashMap;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

#[cfg(test)]
pub(super) use system::KEEPS_PARENTS;
pub(super) use system::{
    adopt, guard_command, keep_record, lead_terminal, serve_as_guard, start_time,
};

/// Time limit for killed processes to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// Pause between two scans.
const PAUSE: Duration = Duration::from_millis(2);
/// Maximum number of scans that are repeated because a process may belong to the tree.
const MAX_UNCERTAIN_SCANS: usize = 25;

/// A process and its descendants.
#[derive(Debug)]
pub(super) struct ProcessTree {
    /// The first process, which leads its group. Not reaped yet, so its id is not reused.
    pub(super) first: Pid,
    search: system::SystemSearch,
}

/// Number of consecutive empty scans required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanPasses {
    /// For a process that ended on its own, as every command does.
    Once = 1,
    /// For one that is stopped while running: a member may fork between a scan and its signal, and
    /// a process in the middle of `execve` shows no environment for a moment.
    Twice = 2,
}

/// A living process of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TreeMember {
    pub(super) pid: i32,
    /// Distinguishes processes that had the same id one after the other: the start time or the
    /// system's unique id.
    pub(super) identity: u64,
}

/// The processes that one scan found.
#[derive(Debug)]
pub(super) struct TreeScan {
    /// The living members, the first process included.
    pub(super) members: Vec<TreeMember>,
    /// Whether a living process may belong to the tree: it shows no environment, since it is in the
    /// middle of `execve` or was started without variables.
    pub(super) is_uncertain: bool,
}

/// Finds the members of one tree and signals them.
pub(super) trait TreeSearch {
    /// Looks at all processes of the machine once.
    fn scan(&self) -> TreeScan;

    /// Signals the group of the first process; does nothing if its id may have been reused.
    fn signal_group(&self, signal: Signal);

    /// Signals a member that an earlier scan found; does nothing if it has ended.
    fn signal(&self, member: TreeMember, signal: Signal);

    /// Returns whether a member still runs or is exiting. Zombies do not run.
    fn is_running(&self, member: TreeMember) -> bool;
}

/// Kills the processes that earlier Burin processes left running because they were killed
/// themselves. Returns the number of processes killed. Blocks for a few milliseconds if there are
/// none, for at most two seconds otherwise.
///
/// On Linux a process is an orphan if it carries only marks of dead programs' trees, or descends
/// from such a process; processes in another PID namespace are left alone, since ids have other
/// meanings there. Elsewhere the orphans are those in the records of dead programs
/// (`keep_process_record`). This process, its ancestors and its descendants are never killed.
pub fn end_orphans() -> usize {
    system::end_orphans()
}

impl ProcessTree {
    /// Returns the tree of a process that was just started and carries the variable `mark`.
    pub(super) fn of(first: Pid, mark: &str) -> Self {
        Self {
            first,
            search: system::SystemSearch::of(first, mark),
        }
    }

    /// Returns the line that registers the tree with the guard.
    pub(super) fn registration(&self) -> String {
        self.search.registration()
    }

    /// Watches the tree from now on, where its members could be missed otherwise. The guard must know
    /// the tree already: it ignores the members of others.
    pub(super) fn watch(&self) {
        self.search.watch();
    }

    /// Kills the whole tree: with SIGTERM during `grace`, if that is not zero, then with SIGKILL.
    /// Returns the number of processes besides the first. On return none is left, or two seconds
    /// have passed.
    pub(super) fn terminate(&self, grace: Duration, look: ScanPasses) -> usize {
        let first = self.first.as_raw_nonzero().get();
        let mut ended = terminate(&self.search, grace, look);
        ended.remove(&first);
        ended.len()
    }

    /// Returns the ids of the tree's living processes.
    pub(super) fn members(&self) -> Vec<i32> {
        let members = self.search.scan().members.into_iter();
        members.map(|member| member.pid).collect()
    }
}

/// Kills all members, as `ProcessTree::terminate`. Returns them, with their identities.
pub(super) fn terminate(
    search: &impl TreeSearch,
    grace: Duration,
    look: ScanPasses,
) -> HashMap<i32, u64> {
    let mut ended = HashMap::new();
    if !grace.is_zero() {
        signal_all(search, Signal::TERM, &mut ended);
        let until = Instant::now() + grace;
        while Instant::now() < until && !search.scan().members.is_empty() {
            thread::sleep(PAUSE);
        }
    }
    let until = Instant::now() + KILL_TIMEOUT;
    let (mut calm, mut uncertain) = (0, 0);
    while calm < look as usize && Instant::now() < until {
        let is_exiting = |(pid, identity): (&i32, &u64)| {
            search.is_running(TreeMember {
                pid: *pid,
                identity: *identity,
            })
        };
        let scan = signal_all(search, Signal::KILL, &mut ended);
        let is_any = !scan.members.is_empty() || ended.iter().any(is_exiting);
        let is_uncertain = scan.is_uncertain && uncertain < MAX_UNCERTAIN_SCANS;
        uncertain += usize::from(is_uncertain);
        calm = if is_any || is_uncertain { 0 } else { calm + 1 };
        if calm < look as usize {
            thread::sleep(PAUSE);
        }
    }
    ended
}

/// Sends a signal to all members, records them, and returns the scan that found them.
fn signal_all(search: &impl TreeSearch, signal: Signal, sent: &mut HashMap<i32, u64>) -> TreeScan {
    // The group comes first, since the scan takes a moment.
    search.signal_group(signal);
    let scan = search.scan();
    for member in &scan.members {
        search.signal(*member, signal);
    }
    let members = scan.members.iter();
    sent.extend(members.map(|member| (member.pid, member.identity)));
    scan
}

/// Makes the process that `command` will start lead a group of its own.
pub(super) fn lead(command: &mut Command) {
    system::lead(command);
}
