//! Trees where environments of other processes cannot be read: macOS, and the portable build.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use base::AbsPath;
use rustix::process::{Pid, Signal};

use super::orphans;
use super::system_table::SystemTable;
use super::table::ProcessTable;
use super::tracker::TrackedSearch;
use super::{TreeMember, TreeScan, TreeSearch};
use crate::process::guard::program;
use crate::process::{file_limit, guard};

/// Whether a process is found that no scan saw before it lost its parent.
#[cfg(test)]
pub(in crate::process) const KEEPS_PARENTS: bool = super::system_table::KEEPS_PARENTS;

/// The search for one tree.
#[derive(Debug)]
pub(super) struct SystemSearch(TrackedSearch);

impl SystemSearch {
    pub(super) fn of(first: Pid, _mark: &str) -> Self {
        let table = Arc::new(SystemTable);
        Self(TrackedSearch::of_started(
            first,
            table,
            program::tell_changes,
        ))
    }

    pub(super) fn watch(&self) {
        self.0.watch();
    }

    pub(super) fn registration(&self) -> String {
        self.0.registration()
    }
}

impl TreeSearch for SystemSearch {
    fn scan(&self) -> TreeScan {
        self.0.scan()
    }

    fn signal_group(&self, signal: Signal) {
        self.0.signal_group(signal);
    }

    fn signal(&self, member: TreeMember, signal: Signal) {
        self.0.signal(member, signal);
    }

    fn is_running(&self, member: TreeMember) -> bool {
        self.0.is_running(member)
    }
}

/// Makes the process that `command` will start lead a session of its own, with the file limit that
/// Burin itself was started with. Members of Burin's own session would share its terminal.
#[expect(unsafe_code, reason = "std has no stable way to call setsid")]
pub(super) fn lead(command: &mut Command) {
    let restore = file_limit::restorer();
    // SAFETY: both are plain system calls, which are allowed between `fork` and `exec`.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            restore()
        })
    };
}

/// Prepares a process with a terminal as `lead` does; it leads a session already.
#[expect(unsafe_code, reason = "a limit has to be set in the child")]
pub(in crate::process) fn lead_terminal(
    command: pty_process::blocking::Command,
) -> pty_process::blocking::Command {
    let restore = file_limit::restorer();
    // SAFETY: a plain system call is allowed between `fork` and `exec`.
    unsafe { command.pre_exec(restore) }
}

/// Does nothing: the child restored the file limit itself.
pub(in crate::process) fn adopt(_pid: Pid) {}

/// Returns the command of the guard: this program, if it can serve as one (`guard_main`), else a
/// shell that ends process groups only.
pub(in crate::process) fn guard_command() -> Command {
    program::program().unwrap_or_else(|| guard::shell(""))
}

/// Serves as a guard if this process was started as one; notes this program as a guard otherwise.
pub(in crate::process) fn serve_as_guard() -> Option<ExitCode> {
    if !program::is_guard() {
        return None;
    }
    ignore_signals();
    let table: Arc<dyn ProcessTable> = Arc::new(SystemTable);
    Some(program::serve(std::io::stdin().lock(), &table))
}

/// Ignores the signals by which a terminal or a session ends its programs: the guard outlives them.
#[expect(
    unsafe_code,
    reason = "the disposition of signals has no safe wrapper here"
)]
fn ignore_signals() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: ignoring a signal runs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Keeps the record of this program's trees in `folder` from now on.
pub(in crate::process) fn keep_record(folder: &AbsPath) {
    orphans::keep_record(folder, &super::system_table::boot_id());
}

/// Returns the identity of a process; 0 if there is none.
pub(in crate::process) fn start_time(pid: i32) -> u64 {
    SystemTable.find(pid).map_or(0, |entry| entry.identity)
}

pub(super) fn end_orphans() -> usize {
    orphans::end_recorded(Arc::new(SystemTable), &super::system_table::boot_id())
}
