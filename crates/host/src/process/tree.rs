//! Finds and kills all descendants of a process.
//!
//! A child can leave its parent's group with `setsid`, its parents with a double fork, and ignores
//! the hang-up under `nohup`; its environment, however, stays. A process therefore belongs to a
//! tree if it descends from the first process, shares its group or session, or carries the tree's
//! own environment variable.
//!
//! Processes left behind by a Burin that was killed are ended by the next one: see `end_orphans`.
//!
//! Limitations: a process that cleared its environment, left its session *and* lost its parents is
//! not found. Without `/proc` only the process group is killed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::environment::MARK;

/// Time limit for killed processes to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// Pause between two scans.
const PAUSE: Duration = Duration::from_millis(2);
/// Maximum number of scans that are repeated because of a process whose environment is empty: it
/// may be in the middle of `execve`, or have been started without variables.
const MAX_UNCERTAIN_SCANS: usize = 25;

/// A process and its descendants.
#[derive(Clone, Debug)]
pub(super) struct ProcessTree {
    /// The first process, which leads its group. Not reaped yet, so its id is not reused.
    pub(super) first: Pid,
    /// The variable that it and its children carry, as `NAME=`.
    pub(super) mark: Vec<u8>,
    /// Its start time in ticks since boot; older processes do not belong to the tree.
    pub(super) since: u64,
}

/// Number of consecutive empty scans required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanPasses {
    /// For a process that ended on its own, as every command does.
    Once = 1,
    /// For one that is stopped while running: a process in the middle of `execve` shows no
    /// environment for a moment.
    Twice = 2,
}

/// The processes that one scan found.
struct TreeScan {
    /// The living processes of the tree.
    members: Vec<ProcStat>,
    /// Whether a living process may belong to the tree: it is young enough and shows no environment.
    is_uncertain: bool,
}

/// The fields of `/proc/…/stat` that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcStat {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    began: u64,
    is_dead: bool,
    /// Whether it is a thread of the kernel, which never has an environment.
    is_kernel_thread: bool,
}

/// Kills the processes that earlier Burin processes left running because they were killed
/// themselves. Returns the number of processes killed. Blocks for a few milliseconds if there are
/// none, for at most two seconds otherwise.
///
/// A process is an orphan if it carries only variables of dead programs' trees, or descends from
/// such a process. Processes in another PID namespace are left alone, since ids have other meanings
/// there; so are the ancestors of this process.
pub fn end_orphans() -> usize {
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
    let above = ancestors(&all, own);
    let found = all
        .into_iter()
        .filter(|seen| !seen.is_dead && !above.contains(&seen.pid));
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

impl ProcessTree {
    /// Returns the tree of a process that was just started.
    pub(super) fn of(first: Pid, mark: &str) -> Self {
        Self {
            first,
            mark: format!("{mark}=").into_bytes(),
            since: start_time(first.as_raw_nonzero().get()),
        }
    }

    /// Kills the whole tree: with SIGTERM during `grace`, if that is not zero, then with SIGKILL.
    /// Returns the number of processes besides the first. On return none is left, or two seconds
    /// have passed.
    pub(super) fn terminate(&self, grace: Duration, look: ScanPasses) -> usize {
        let mut ended = HashMap::new();
        if !grace.is_zero() {
            self.signal(Signal::TERM, &mut ended);
            let until = Instant::now() + grace;
            while Instant::now() < until && !self.members().is_empty() {
                thread::sleep(PAUSE);
            }
        }
        let until = Instant::now() + KILL_TIMEOUT;
        let (mut calm, mut uncertain) = (0, 0);
        while calm < look as usize && Instant::now() < until {
            let scan = self.signal(Signal::KILL, &mut ended);
            let is_any = !scan.members.is_empty() || ended.iter().any(is_exiting);
            let is_uncertain = scan.is_uncertain && uncertain < MAX_UNCERTAIN_SCANS;
            uncertain += usize::from(is_uncertain);
            calm = if is_any || is_uncertain { 0 } else { calm + 1 };
            if calm < look as usize {
                thread::sleep(PAUSE);
            }
        }
        ended.remove(&self.first.as_raw_nonzero().get());
        ended.len()
    }

    /// Sends a signal to all members, records their start times, and returns the scan that found
    /// them.
    fn signal(&self, signal: Signal, sent: &mut HashMap<i32, u64>) -> TreeScan {
        // The group comes first, since the scan takes a moment. An error means that the group is
        // empty.
        kill_process_group(self.first, signal).ok();
        let scan = self.scan();
        for seen in &scan.members {
            if let Some(pid) = Pid::from_raw(seen.pid) {
                kill_process(pid, signal).ok();
            }
        }
        sent.extend(scan.members.iter().map(|seen| (seen.pid, seen.began)));
        scan
    }

    /// Returns the ids of the tree's living processes.
    pub(super) fn members(&self) -> Vec<i32> {
        let members = self.scan().members.into_iter();
        members.map(|seen| seen.pid).collect()
    }

    /// Looks at all processes of the machine once.
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
        let living = all.into_iter().filter(|seen| !seen.is_dead);
        TreeScan {
            members: living.filter(|seen| members.contains(&seen.pid)).collect(),
            is_uncertain,
        }
    }

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

/// Returns whether a killed process is still exiting; it shows no environment then.
fn is_exiting((pid, began): (&i32, &u64)) -> bool {
    read_proc_stat(*pid).is_some_and(|seen| seen.began == *began && !seen.is_dead)
}

fn all_processes() -> Vec<ProcStat> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter_map(|name| name.parse().ok())
        .filter_map(read_proc_stat)
        .collect()
}

/// Returns a process's start time in ticks since boot; 0 if unknown.
pub(super) fn start_time(pid: i32) -> u64 {
    read_proc_stat(pid).map_or(0, |seen| seen.began)
}

/// Reads `/proc/…/stat` of a process; `None` if there is no such process or its line cannot be
/// parsed.
fn read_proc_stat(pid: i32) -> Option<ProcStat> {
    read_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The flag of a kernel thread in `/proc/…/stat`: `PF_KTHREAD` in the kernel's `sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Parses `/proc/…/stat`. The second field is a name in parentheses that may contain anything.
fn read_stat(pid: i32, line: &str) -> Option<ProcStat> {
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |ix: usize| fields.get(ix)?.parse().ok();
    Some(ProcStat {
        pid,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        began: fields.get(19)?.parse().ok()?,
        is_dead: matches!(*fields.first()?, "Z" | "X" | "x"),
        is_kernel_thread: fields.get(6)?.parse::<u64>().ok()? & KERNEL_THREAD != 0,
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::handle::fresh_mark;
    use super::*;

    #[test]
    fn only_orphans_of_dead_programs_are_killed() {
        let sleep = |marks: &[String]| {
            let mut command = Command::new("sleep");
            command.arg("300");
            for mark in marks {
                command.env(mark, "1");
            }
            command.spawn().expect("sleep")
        };
        // A mark with this process's id but another start time: its program is dead, although the
        // id is in use.
        let dead = format!("{MARK}{}_1_2_3", std::process::id());
        let mut left = sleep(std::slice::from_ref(&dead));
        let mut living = sleep(&[fresh_mark()]);
        let mut both = sleep(&[dead, fresh_mark()]);
        let mut other = sleep(&["NO_MARK".to_owned()]);
        assert!(end_orphans() >= 1);
        assert!(!left.wait().expect("its end").success());
        for child in [&mut living, &mut both, &mut other] {
            assert_eq!(child.try_wait().expect("its state"), None);
            child.kill().expect("killed");
            child.wait().expect("its end");
        }
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
        let tree = ProcessTree {
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
            assert_eq!(tree.is_marked(child.id().cast_signed()), expected);
            child.kill().expect("killed");
            child.wait().expect("its end");
        }
    }

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_confuse() {
        let line = "42 (a) b) S 1 7 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1";
        let seen = read_stat(42, line).expect("a line");
        assert_eq!((seen.parent, seen.group, seen.session), (1, 7, 9));
        assert_eq!((seen.began, seen.is_dead), (12345, false));
        assert!(!seen.is_kernel_thread);
        let kernel = "9 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 5 0 0 20 0 1 0 42 0 0";
        assert!(read_stat(9, kernel).expect("a line").is_kernel_thread);
        assert_eq!(read_stat(1, "1 (x"), None);
    }
}
