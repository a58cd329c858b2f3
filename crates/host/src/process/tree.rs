//! Everything a process started, found again and ended.
//!
//! A child leaves its parent's group with `setsid`, its parents with a double fork, and hears no hang-up
//! under `nohup`; what it keeps is its environment. So a process belongs to a tree when it descends from
//! the first one, shares its group or session, or carries the tree's own variable.
//!
//! What a program of ours leaves behind that is killed itself is ended by the next one: see `end_orphans`.
//!
//! Limits: a process that cleared its environment, left its session *and* lost its parents is not found.
//! Where there is no `/proc`, the group alone is ended.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How the name of a tree's variable begins. The number of the program that started the tree comes next, then when
/// that program began, and then what tells its trees apart.
pub(crate) const MARK: &str = "BURIN_TREE_";
/// How long processes that were killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// A process and everything it started.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The first process; it leads its group. Not collected yet, so that its number is its own.
    pub(super) first: Pid,
    /// The variable that it and its children carry, as `NAME=`.
    pub(super) mark: Vec<u8>,
    /// When it began, in ticks since the machine did; what is older does not belong to it.
    pub(super) since: u64,
}

/// How often nobody must be found before it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    /// For a process that ended by itself, which happens with every command.
    Once = 1,
    /// For one that is stopped in the middle of things: a process that is just becoming another program
    /// shows no environment for a moment.
    Twice = 2,
}

/// What `/proc` says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    began: u64,
    is_dead: bool,
}

/// Ends what programs of ours left running that were killed before they could end it. Answers how many processes
/// there were. Blocks for a few milliseconds where there are none, for two seconds at most.
///
/// A process belongs to the dead when it carries variables of their trees alone, or descends from one that does. What
/// lives in another space of process numbers is left alone, since its numbers mean something else there; and so is
/// whatever this program itself descends from.
pub fn end_orphans() -> usize {
    let until = Instant::now() + PATIENCE;
    let mut ended = HashSet::new();
    let mut calm = 0;
    while calm < Looks::Twice as usize && Instant::now() < until {
        let orphans = orphans();
        for seen in &orphans {
            if let Some(pid) = Pid::from_raw(seen.pid) {
                // It may have ended this very moment.
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

/// The living processes that dead programs of ours left behind.
fn orphans() -> Vec<Seen> {
    let all = everybody();
    let own = std::process::id().cast_signed();
    let living: HashSet<(i32, u64)> = all
        .iter()
        .filter(|seen| !seen.is_dead)
        .map(|seen| (seen.pid, seen.began))
        .collect();
    let is_orphan = |seen: &&Seen| {
        let owners = owners(seen.pid);
        !owners.is_empty() && owners.iter().all(|owner| !living.contains(owner))
    };
    let space = fs::read_link(format!("/proc/{own}/ns/pid")).ok();
    let is_here = |seen: &&Seen| fs::read_link(format!("/proc/{}/ns/pid", seen.pid)).ok() == space;
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

/// The programs that started the trees which a process belongs to: number, and when it began.
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

/// A process and what it descends from.
fn ancestors(all: &[Seen], pid: i32) -> HashSet<i32> {
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

/// Adds what descends from processes.
fn join_children<'a>(all: impl IntoIterator<Item = &'a Seen> + Clone, members: &mut HashSet<i32>) {
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

impl Tree {
    /// The tree of a process that was just started.
    pub(super) fn of(first: Pid, mark: &str) -> Self {
        Self {
            first,
            mark: format!("{mark}=").into_bytes(),
            since: began(first.as_raw_nonzero().get()),
        }
    }

    /// Ends all of it: politely, if `grace` gives time for that, and then for good. Answers how many there
    /// were beside the first. Afterwards none is left, or two seconds have passed.
    pub(super) fn end(&self, grace: Duration, look: Looks) -> usize {
        let mut ended = HashMap::new();
        if !grace.is_zero() {
            self.signal(Signal::TERM, &mut ended);
            let until = Instant::now() + grace;
            while Instant::now() < until && !self.members().is_empty() {
                thread::sleep(PAUSE);
            }
        }
        let until = Instant::now() + PATIENCE;
        let mut calm = 0;
        while calm < look as usize && Instant::now() < until {
            let is_any = self.signal(Signal::KILL, &mut ended) || ended.iter().any(lingers);
            calm = if is_any { 0 } else { calm + 1 };
            if calm < look as usize {
                thread::sleep(PAUSE);
            }
        }
        ended.remove(&self.first.as_raw_nonzero().get());
        ended.len()
    }

    /// Sends a signal to all that are there, and notes when they began; whether there were any.
    fn signal(&self, signal: Signal, sent: &mut HashMap<i32, u64>) -> bool {
        // At once, before the look around, which takes a moment. An empty group is what we want.
        kill_process_group(self.first, signal).ok();
        let members = self.seen_members();
        for seen in &members {
            if let Some(pid) = Pid::from_raw(seen.pid) {
                kill_process(pid, signal).ok();
            }
        }
        sent.extend(members.iter().map(|seen| (seen.pid, seen.began)));
        !members.is_empty()
    }

    /// The numbers of the living processes of the tree.
    pub(super) fn members(&self) -> Vec<i32> {
        let members = self.seen_members().into_iter();
        members.map(|seen| seen.pid).collect()
    }

    /// The living processes of the tree.
    fn seen_members(&self) -> Vec<Seen> {
        let all = everybody();
        let first = self.first.as_raw_nonzero().get();
        let own = std::process::id().cast_signed();
        let belongs = |seen: &Seen| {
            seen.pid == first
                || seen.group == first
                || seen.session == first
                || self.is_marked(seen)
        };
        let young = all
            .iter()
            .filter(|seen| seen.began >= self.since && seen.pid != own);
        let mut members: HashSet<i32> = young
            .clone()
            .filter(|seen| belongs(seen))
            .map(|seen| seen.pid)
            .collect();
        join_children(young, &mut members);
        let living = all.into_iter().filter(|seen| !seen.is_dead);
        living.filter(|seen| members.contains(&seen.pid)).collect()
    }

    fn is_marked(&self, seen: &Seen) -> bool {
        // Other people's environments cannot be read, and theirs are not our children's.
        let environment = fs::read(format!("/proc/{}/environ", seen.pid));
        environment.is_ok_and(|environment| {
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable.starts_with(&self.mark))
        })
    }
}

/// Whether a process that was told to end is still on its way out. It shows no environment then.
fn lingers((pid, began): (&i32, &u64)) -> bool {
    look(*pid).is_some_and(|seen| seen.began == *began && !seen.is_dead)
}

fn everybody() -> Vec<Seen> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter_map(|name| name.parse().ok())
        .filter_map(look)
        .collect()
}

/// When a process began, in ticks since the machine did; 0 where nobody can tell.
pub(super) fn began(pid: i32) -> u64 {
    look(pid).map_or(0, |seen| seen.began)
}

fn look(pid: i32) -> Option<Seen> {
    read_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads a line of `/proc/…/stat`. The second field is a name in brackets that may hold anything.
fn read_stat(pid: i32, line: &str) -> Option<Seen> {
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |ix: usize| fields.get(ix)?.parse().ok();
    Some(Seen {
        pid,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        began: fields.get(19)?.parse().ok()?,
        is_dead: matches!(*fields.first()?, "Z" | "X" | "x"),
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::held::fresh_mark;
    use super::*;

    #[test]
    fn what_a_dead_program_left_is_ended_and_what_a_living_one_runs_is_not() {
        let sleep = |marks: &[String]| {
            let mut command = Command::new("sleep");
            command.arg("300");
            for mark in marks {
                command.env(mark, "1");
            }
            command.spawn().expect("sleep")
        };
        // A number that is ours, of a program that began at another time: it is dead, whoever has its number.
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
    fn a_name_with_brackets_and_spaces_does_not_confuse() {
        let line = "42 (a) b) S 1 7 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1";
        let seen = read_stat(42, line).expect("a line");
        assert_eq!((seen.parent, seen.group, seen.session), (1, 7, 9));
        assert_eq!((seen.began, seen.is_dead), (12345, false));
        assert_eq!(read_stat(1, "1 (x"), None);
    }
}
