//! One process for the whole program, which outlives us only to end what we leave behind when we are killed.
//!
//! It is started with the first process that needs it, and told of each group as it begins and ends. The end of its
//! input means that we are gone, however that came about: then it kills the groups that are left, and whoever carries
//! a mark of ours.
//!
//! Invariant: it forgets a number before that is free for others, as it hears everything in order.
//! Limits: where there is no `/proc`, only the groups are killed.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::LogErr;
use rustix::process::Pid;

use super::held::own_marks;

/// A process that is just becoming another program shows no environment for a moment, so it looks until it found
/// nobody twice.
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

/// A group that ends with us. Dropping it takes that back.
#[derive(Debug)]
pub(super) struct Ward(Pid);

struct Guard {
    process: Option<(Child, ChildStdin)>,
    groups: BTreeSet<i32>,
}

static GUARD: Mutex<Guard> = Mutex::new(Guard {
    process: None,
    groups: BTreeSet::new(),
});

/// Has a group killed when we die.
pub(super) fn watch(group: Pid) -> Ward {
    let mut guard = lock();
    let number = group.as_raw_nonzero().get();
    if !guard.tell("begins", number) {
        // It is not there yet, or somebody killed it.
        guard.start();
        guard.tell("begins", number);
    }
    guard.groups.insert(number);
    Ward(group)
}

impl Drop for Ward {
    fn drop(&mut self) {
        let mut guard = lock();
        let number = self.0.as_raw_nonzero().get();
        guard.groups.remove(&number);
        // One that is gone is told of what is left when it is started again.
        guard.tell("ends", number);
    }
}

impl Guard {
    fn tell(&mut self, what: &str, group: i32) -> bool {
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
            self.tell("begins", group);
        }
    }
}

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

fn lock() -> MutexGuard<'static, Guard> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
