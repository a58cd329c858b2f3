//! A guard process that kills Burin's child processes if Burin itself is killed.
//!
//! It starts with the first process that needs it, and receives the lines of `record` when a tree
//! begins, changes and ends. When its standard input closes, Burin is gone, and the guard kills what
//! is left. On Linux it is a shell that kills the groups and every process that carries one of
//! Burin's marks. On macOS and in the portable build it is this program, executed again
//! (`guard_main`), which finds the members as `tree` does; a program that cannot serve as guard has
//! a shell that kills the groups only.
//!
//! Invariant: the guard forgets a group id before the id can be reused, since it receives
//! notifications in order.

use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::LogErr;
use rustix::process::Pid;

use super::record::TreeRecord;
use super::tree;

#[cfg(any(test, burin_portable, target_os = "macos"))]
pub(super) mod program;

/// A process in the middle of `execve` shows no environment for a moment, so the script scans until
/// two consecutive scans find nothing.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
all=' '
while read -r what group rest; do
  case $what in
  begins) all="$all$group " ;;
  ends) case $all in *" $group "*) all="${all%% $group *} ${all#* $group }" ;; esac ;;
  esac
done
for group in $all; do kill -s KILL -- "-$group"; done
[ -n "$1" ] || exit
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

/// A tree registered with the guard. Dropping it unregisters the tree.
#[derive(Debug)]
pub(super) struct GuardRegistration(Pid);

struct ProcessGuard {
    process: Option<(Child, ChildStdin)>,
    trees: TreeRecord,
    /// The file that holds the same lines, after a first one.
    record: Option<(File, String)>,
    /// Bytes in that file.
    recorded: usize,
}

static GUARD: Mutex<ProcessGuard> = Mutex::new(ProcessGuard {
    process: None,
    trees: TreeRecord::new(),
    record: None,
    recorded: 0,
});

/// Size of a record, in bytes, above which it is rewritten with only the running trees.
const MAX_RECORD: usize = 64 << 10;

/// Registers the tree of `first` to be killed if this process dies. `line` is its registration.
pub(super) fn watch(first: Pid, line: &str) -> GuardRegistration {
    lock().tell(line);
    GuardRegistration(first)
}

/// Keeps a record of all trees in `file`, whose first line is `heading`. Starts the guard, so that
/// the first tree need not wait for it.
#[cfg(any(test, burin_portable, target_os = "macos"))]
pub(super) fn record_in(file: File, heading: &str) {
    let mut guard = lock();
    guard.record = Some((file, heading.to_owned()));
    guard.write_record();
    if guard.process.is_none() {
        guard.start();
    }
}

impl Drop for GuardRegistration {
    fn drop(&mut self) {
        let mut guard = lock();
        // If the guard is gone, its restart registers the remaining trees.
        guard.send(&format!("ends {}", self.0.as_raw_nonzero()));
    }
}

impl ProcessGuard {
    /// Sends a line to the guard, which is started if it was not yet, or was killed.
    fn tell(&mut self, line: &str) {
        if !self.send(line) {
            self.start();
        }
    }

    /// Notes a line and sends it; returns whether the guard receives it.
    fn send(&mut self, line: &str) -> bool {
        self.trees.apply(line);
        self.record_line(line);
        self.write(&format!("{line}\n"))
    }

    fn write(&mut self, lines: &str) -> bool {
        let Some((_, input)) = &mut self.process else {
            return false;
        };
        input.write_all(lines.as_bytes()).is_ok()
    }

    fn record_line(&mut self, line: &str) {
        let Some((file, _)) = &mut self.record else {
            return;
        };
        if self.recorded + line.len() > MAX_RECORD {
            self.write_record();
        } else if writeln!(file, "{line}").log_err().is_some() {
            self.recorded += line.len() + 1;
        }
    }

    /// Rewrites the record.
    fn write_record(&mut self) {
        let Some((file, heading)) = &mut self.record else {
            return;
        };
        let text = format!("{heading}\n{}", self.trees.lines());
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()));
        written.log_err();
        self.recorded = text.len();
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
        let lines = self.trees.lines();
        self.write(&lines);
    }
}

/// Starts the guard process, with a pipe as its standard input.
fn start() -> io::Result<Child> {
    tree::guard_command()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Returns the command of a guard that kills the groups and then, unless `marks` is empty, the
/// processes with these marks in their environment.
pub(super) fn shell(marks: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT, "burin-guard", marks])
        .env_clear()
        .env("PATH", "/usr/bin:/bin");
    command
}

/// Serves as the guard of another Burin if this process was started as one, and returns the exit
/// code then. Otherwise returns `None`, and this program serves as the guard of its own processes
/// from now on, where the system needs that. Call it first in `main`. Blocks while the other Burin
/// runs.
pub fn guard_main() -> Option<ExitCode> {
    tree::serve_as_guard()
}

fn lock() -> MutexGuard<'static, ProcessGuard> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
