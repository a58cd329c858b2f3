//! Everything a process started, found again and ended.
//!
//! A child leaves its parent's group with `setsid`, its parents with a double fork, and hears no hang-up
//! under `nohup`; what it keeps is its environment. So a process belongs to a tree when it descends from
//! the first one, shares its group or session, or carries the tree's own variable.
//!
//! Limits: a process that cleared its environment, left its session *and* lost its parents is not found.
//! Where there is no `/proc`, the group alone is ended.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

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
        loop {
            let more = young.clone().filter(|seen| members.contains(&seen.parent));
            let more: Vec<i32> = more
                .map(|seen| seen.pid)
                .filter(|pid| !members.contains(pid))
                .collect();
            if more.is_empty() {
                break;
            }
            members.extend(more);
        }
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
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_confuse() {
        let line = "42 (a) b) S 1 7 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1";
        let seen = read_stat(42, line).expect("a line");
        assert_eq!((seen.parent, seen.group, seen.session), (1, 7, 9));
        assert_eq!((seen.began, seen.is_dead), (12345, false));
        assert_eq!(read_stat(1, "1 (x"), None);
    }
}
