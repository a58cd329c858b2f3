//! Trees on Linux: a process belongs to a tree if it descends from the first process, shares its
//! group or session, or carries the tree's environment variable.

use std::collections::HashSet;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Instant;

use base::AbsPath;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::stat::{ProcStat, all_processes, read_proc_stat};
use super::{KILL_TIMEOUT, PAUSE, ScanPasses, TreeMember, TreeScan, TreeSearch};
use crate::environment::MARK;
use crate::process::{file_limit, guard};

/// Whether a process is found that no scan saw before it lost its parent.
#[cfg(test)]
pub(in crate::process) const KEEPS_PARENTS: bool = true;

/// The search for one tree.
#[derive(Debug)]
pub(super) struct SystemSearch {
    first: Pid,
    /// The variable that the first process and its children carry, as `NAME=`.
    mark: Vec<u8>,
    /// The start time of the first process in ticks since boot; older processes do not belong to
    /// the tree.
    since: u64,
}

impl SystemSearch {
    pub(super) fn of(first: Pid, mark: &str) -> Self {
        Self {
            first,
            mark: format!("{mark}=").into_bytes(),
            since: start_time(first.as_raw_nonzero().get()),
        }
    }

    pub(super) fn registration(&self) -> String {
        format!("begins {} {}", self.first.as_raw_nonzero(), self.since)
    }

    /// Does nothing: a scan finds members that no earlier one saw.
    pub(super) fn watch(&self) {}

    /// Returns whether a process carries the tree's variable; `None` if its environment is empty, as
    /// in the middle of `execve`.
    fn is_marked(&self, pid: i32) -> Option<bool> {
        // Environments of other users' processes are unreadable, and such processes are not
        // descendants.
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
            return Some(false);
        };
        let mut variables = environment.split(|byte| *byte == 0);
        (!environment.is_empty())
            .then(|| variables.any(|variable| variable.starts_with(&self.mark)))
    }
}

impl TreeSearch for SystemSearch {
    fn scan(&self) -> TreeScan {
        let all = all_processes();
        let first = self.first.as_raw_nonzero().get();
        let own = std::process::id().cast_signed();
        let young = all
            .iter()
            .filter(|seen| seen.began >= self.since && seen.pid != own);
        let (mut members, mut unknown) = (HashSet::new(), Vec::new());
        for seen in young.clone() {
            let is_near = seen.pid == first || seen.group == first || seen.session == first;
            match is_near.then_some(true).or_else(|| self.is_marked(seen.pid)) {
                Some(true) => drop(members.insert(seen.pid)),
                Some(false) => {}
                None if seen.is_dead || seen.is_kernel_thread => {}
                None => unknown.push(seen.pid),
            }
        }
        join_children(young, &mut members);
        let is_uncertain = unknown.iter().any(|pid| !members.contains(pid));
        let living = all
            .into_iter()
            .filter(|seen| !seen.is_dead && members.contains(&seen.pid));
        let member = |seen: ProcStat| TreeMember {
            pid: seen.pid,
            identity: seen.began,
        };
        TreeScan {
            members: living.map(member).collect(),
            is_uncertain,
        }
    }

    fn signal_group(&self, signal: Signal) {
        // An error means that the group is empty.
        kill_process_group(self.first, signal).ok();
    }

    fn signal(&self, member: TreeMember, signal: Signal) {
        if let Some(pid) = Pid::from_raw(member.pid) {
            // An error means that it has just ended.
            kill_process(pid, signal).ok();
        }
    }

    fn is_running(&self, member: TreeMember) -> bool {
        // A killed process that is still exiting shows no environment.
        read_proc_stat(member.pid)
            .is_some_and(|seen| seen.began == member.identity && !seen.is_dead)
    }
}

/// Makes the process that `command` will start lead a group of its own.
pub(super) fn lead(command: &mut Command) {
    command.process_group(0);
}

/// Prepares a process with a terminal as `lead` does; it leads a session already.
pub(in crate::process) fn lead_terminal(
    command: pty_process::blocking::Command,
) -> pty_process::blocking::Command {
    command
}

/// Gives a process that was just started the file limit that Burin itself was started with.
pub(in crate::process) fn adopt(pid: Pid) {
    file_limit::restore_in(pid);
}

/// Returns the command of the guard.
pub(in crate::process) fn guard_command() -> Command {
    guard::shell(crate::process::handle::own_marks())
}

/// Does nothing: the guard is a shell.
pub(in crate::process) fn serve_as_guard() -> Option<ExitCode> {
    None
}

/// Does nothing: marks need no record.
pub(in crate::process) fn keep_record(_folder: &AbsPath) {}

/// Returns a process's start time in ticks since boot; 0 if unknown.
pub(in crate::process) fn start_time(pid: i32) -> u64 {
    read_proc_stat(pid).map_or(0, |seen| seen.began)
}

pub(super) fn end_orphans() -> usize {
    let until = Instant::now() + KILL_TIMEOUT;
    let mut ended = HashSet::new();
    let mut calm = 0;
    while calm < ScanPasses::Twice as usize && Instant::now() < until {
        let orphans = orphans();
        for seen in &orphans {
            if let Some(pid) = Pid::from_raw(seen.pid) {
                // An error means that it has just ended.
                kill_process(pid, Signal::KILL).ok();
            }
            ended.insert((seen.pid, seen.began));
        }
        calm = if orphans.is_empty() { calm + 1 } else { 0 };
        if !orphans.is_empty() {
            thread::sleep(PAUSE);
        }
    }
    ended.len()
}

/// Returns the living processes that dead Burin processes left behind.
fn orphans() -> Vec<ProcStat> {
    let all = all_processes();
    let own = std::process::id().cast_signed();
    let living: HashSet<(i32, u64)> = all
        .iter()
        .filter(|seen| !seen.is_dead)
        .map(|seen| (seen.pid, seen.began))
        .collect();
    let is_orphan = |seen: &&ProcStat| {
        let owners = owners(seen.pid);
        !owners.is_empty() && owners.iter().all(|owner| !living.contains(owner))
    };
    let space = fs::read_link(format!("/proc/{own}/ns/pid")).ok();
    let is_here =
        |seen: &&ProcStat| fs::read_link(format!("/proc/{}/ns/pid", seen.pid)).ok() == space;
    let mut members: HashSet<i32> = all
        .iter()
        .filter(is_orphan)
        .filter(is_here)
        .map(|seen| seen.pid)
        .collect();
    join_children(&all, &mut members);
    // Within a command of a dead program, this process and its own children carry the dead marks.
    let mut spared = HashSet::from([own]);
    join_children(&all, &mut spared);
    spared.extend(ancestors(&all, own));
    let found = all
        .into_iter()
        .filter(|seen| !seen.is_dead && !spared.contains(&seen.pid));
    found.filter(|seen| members.contains(&seen.pid)).collect()
}

/// Returns the id and start time of the programs that started the trees to which a process belongs.
fn owners(pid: i32) -> Vec<(i32, u64)> {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let variables = environment.split(|byte| *byte == 0);
    let names = variables.filter_map(|variable| variable.strip_prefix(MARK.as_bytes()));
    names
        .filter_map(|name| {
            let mut parts = str::from_utf8(name).ok()?.split('_');
            Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
        })
        .collect()
}

/// Returns a process and its ancestors.
fn ancestors(all: &[ProcStat], pid: i32) -> HashSet<i32> {
    let mut above = HashSet::from([pid]);
    let mut at = pid;
    while let Some(seen) = all.iter().find(|seen| seen.pid == at) {
        if !above.insert(seen.parent) {
            break;
        }
        at = seen.parent;
    }
    above
}

/// Adds the descendants of `members`.
fn join_children<'a>(
    all: impl IntoIterator<Item = &'a ProcStat> + Clone,
    members: &mut HashSet<i32>,
) {
    loop {
        let more = all
            .clone()
            .into_iter()
            .filter(|seen| members.contains(&seen.parent) && !members.contains(&seen.pid));
        let more: Vec<i32> = more.map(|seen| seen.pid).collect();
        if more.is_empty() {
            break;
        }
        members.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::process::handle::fresh_mark;
    use crate::process::probe::{is_alive, kill, start_orphan};
    use crate::reexec::{is_reexec, reexec_test};

    /// Held by a test while it has orphans, which any other search for orphans would kill.
    static ORPHANS: Mutex<()> = Mutex::new(());

    #[test]
    fn only_orphans_of_dead_programs_are_killed() {
        let _turn = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
        // A mark with this process's id but another start time: its program is dead, although the
        // id is in use.
        let dead = format!("{MARK}{}_1_2_3", std::process::id());
        let left = start_orphan(std::slice::from_ref(&dead));
        let living = start_orphan(&[fresh_mark()]);
        let both = start_orphan(&[dead, fresh_mark()]);
        let other = start_orphan(&["NO_MARK".to_owned()]);
        assert!(is_alive(left));
        assert!(end_orphans() >= 1);
        assert!(!is_alive(left));
        for pid in [living, both, other] {
            assert!(is_alive(pid));
            kill(pid);
        }
    }

    #[test]
    fn a_program_within_a_dead_ones_command_keeps_its_children() {
        const THIS: &str = "process::tree::marks::tests::\
                            a_program_within_a_dead_ones_command_keeps_its_children";
        let _turn = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_reexec() {
            let dead = format!("{MARK}{}_1_2_4", std::process::id());
            reexec_test(THIS, &["env"], &[(&dead, "1")]).expect("`env` runs a program");
            return;
        }
        let mut child = Command::new("sleep").arg("300").spawn().expect("sleep");
        let left = start_orphan(&[]);
        assert!(is_alive(left));
        assert!(end_orphans() >= 1);
        assert!(!is_alive(left), "its parent has ended");
        assert_eq!(child.try_wait().expect("its state"), None);
        child.kill().expect("killed");
        child.wait().expect("its end");
    }

    #[test]
    fn an_empty_environment_leaves_the_tree_of_a_process_open() {
        let mark = fresh_mark();
        let sleep = |variables: &[&str]| {
            let mut command = Command::new("sleep");
            command.arg("300").env_clear();
            for variable in variables {
                command.env(variable, "1");
            }
            command.spawn().expect("sleep")
        };
        let search = SystemSearch {
            first: Pid::from_raw(i32::MAX).expect("an id"),
            mark: format!("{mark}=").into_bytes(),
            since: 0,
        };
        for (variables, expected) in [
            (&[][..], None),
            (&["OTHER"][..], Some(false)),
            (&["OTHER", &mark][..], Some(true)),
        ] {
            let mut child = sleep(variables);
            assert_eq!(search.is_marked(child.id().cast_signed()), expected);
            child.kill().expect("killed");
            child.wait().expect("its end");
        }
    }
}
