//! A guard process that kills Burin's child processes if Burin itself is killed.
//!
//! It starts with the first process that needs it, and is notified when each process group begins
//! and ends. When its standard input closes, Burin is gone: the guard then kills the remaining
//! groups and every process that carries one of Burin's marks.
//!
//! Invariant: the guard forgets a group id before the id can be reused, since it receives
//! notifications in order.
//! Limitations: without `/proc` only the groups are killed.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::LogErr;
use rustix::process::Pid;

use super::handle::own_marks;

/// A process in the middle of `execve` shows no environment for a moment, so the script scans until
/// two consecutive scans find nothing.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
all=' '
while read -r what group; do
  case $what in
  begins) all="$all$group " ;;
  ends) case $all in *" $group "*) all="${all%% $group *} ${all#* $group }" ;; esac ;;
  esac
done
[ -n "$1" ] || exit
for group in $all; do kill -s KILL -- "-$group"; done
calm=0
looks=0
while [ "$calm" -lt 2 ] && [ "$looks" -lt 50 ]; do
  calm=$((calm + 1))
  looks=$((looks + 1))
  for process in /proc/[0-9]*; do
    if grep -qF "$1" "$process/environ" 2>/dev/null; then
      kill -s KILL "${process#/proc/}" && calm=0
    fi
  done
done
"#;

/// A process group registered with the guard. Dropping it unregisters the group.
#[derive(Debug)]
pub(super) struct GuardRegistration(Pid);

struct ProcessGuard {
    process: Option<(Child, ChildStdin)>,
    groups: BTreeSet<i32>,
}

static GUARD: Mutex<ProcessGuard> = Mutex::new(ProcessGuard {
    process: None,
    groups: BTreeSet::new(),
});

/// Registers a group to be killed if this process dies.
pub(super) fn watch(group: Pid) -> GuardRegistration {
    let mut guard = lock();
    let number = group.as_raw_nonzero().get();
    if !guard.notify("begins", number) {
        // The guard was not started yet, or was killed.
        guard.start();
        guard.notify("begins", number);
    }
    guard.groups.insert(number);
    GuardRegistration(group)
}

impl Drop for GuardRegistration {
    fn drop(&mut self) {
        let mut guard = lock();
        let number = self.0.as_raw_nonzero().get();
        guard.groups.remove(&number);
        // If the guard is gone, its restart registers the remaining groups.
        guard.notify("ends", number);
    }
}

impl ProcessGuard {
    /// Tells the guard that a group `begins` or `ends`. Returns false if the guard is not running
    /// or does not read any more.
    fn notify(&mut self, what: &str, group: i32) -> bool {
        let Some((_, input)) = &mut self.process else {
            return false;
        };
        input
            .write_all(format!("{what} {group}\n").as_bytes())
            .is_ok()
    }

    fn start(&mut self) {
        if let Some((mut old, input)) = self.process.take() {
            drop(input);
            old.wait().log_err();
        }
        let started = start().log_err();
        self.process = started.and_then(|mut child| {
            let input = child.stdin.take()?;
            Some((child, input))
        });
        for group in self.groups.clone() {
            self.notify("begins", group);
        }
    }
}

/// Starts the guard process, with a pipe as its standard input.
fn start() -> io::Result<Child> {
    Command::new("/bin/sh")
        .args(["-c", SCRIPT, "burin-guard", own_marks()])
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn lock() -> MutexGuard<'static, ProcessGuard> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
