//! Tests of membership with a scripted process table.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::Signal;

use super::super::table::ProcessTable;
use super::super::tracker::TrackedSearch;
use super::super::{ScanPasses, TreeSearch as _, terminate};
use super::*;

/// The parent that a scripted table reports for a process whose parent has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parents {
    /// The process that forked it, as on macOS.
    Kept,
    /// Process 1, as in `/proc`.
    Lost,
}

/// A scripted machine.
#[derive(Debug)]
struct Machine {
    parents: Parents,
    processes: HashMap<i32, Scripted>,
    next_identity: u64,
    /// Runs before a list is taken, last one first.
    before_lists: Vec<Step>,
    killed: Vec<(i32, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Scripted {
    identity: u64,
    forked_by: u64,
    parent: u64,
    group: i32,
    session: i32,
    is_zombie: bool,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A process forks another one.
    Fork(i32, i32),
    SetSid(i32),
    SetPgid(i32),
    /// A process ends and is reaped.
    End(i32),
    /// A process ends and stays a zombie.
    Die(i32),
}

impl Machine {
    /// One with process 1, an editor 10 and a shell 20 of the editor that leads its session.
    fn new(parents: Parents) -> Self {
        let mut machine = Self {
            parents,
            processes: HashMap::new(),
            next_identity: 100,
            before_lists: Vec::new(),
            killed: Vec::new(),
        };
        let init = Scripted {
            identity: 1,
            forked_by: 0,
            parent: 0,
            group: 1,
            session: 1,
            is_zombie: false,
        };
        machine.processes.insert(1, init);
        machine.run(&[
            Step::Fork(1, 10),
            Step::SetSid(10),
            Step::Fork(10, 20),
            Step::SetSid(20),
        ]);
        machine
    }

    fn run(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.step(*step));
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Fork(parent, child) => {
                let parent = self.processes[&parent];
                self.next_identity += 1;
                let child_entry = Scripted {
                    identity: self.next_identity,
                    forked_by: parent.identity,
                    parent: parent.identity,
                    is_zombie: false,
                    ..parent
                };
                assert!(
                    self.processes.insert(child, child_entry).is_none(),
                    "{child} is used"
                );
            }
            Step::SetSid(pid) => {
                let process = self.processes.get_mut(&pid).expect("it runs");
                (process.session, process.group) = (pid, pid);
            }
            Step::SetPgid(pid) => self.processes.get_mut(&pid).expect("it runs").group = pid,
            Step::End(pid) => {
                if let Some(gone) = self.processes.remove(&pid) {
                    self.orphan(gone.identity);
                }
            }
            Step::Die(pid) => {
                let process = self.processes.get_mut(&pid).expect("it runs");
                process.is_zombie = true;
                let identity = process.identity;
                self.orphan(identity);
            }
        }
    }

    fn orphan(&mut self, parent: u64) {
        let children = self.processes.values_mut();
        for child in children.filter(|child| child.parent == parent) {
            child.parent = 1;
        }
    }

    fn entry(&self, pid: i32) -> Option<ProcessEntry> {
        let process = self.processes.get(&pid)?;
        let parent = match self.parents {
            Parents::Kept => process.forked_by,
            Parents::Lost => process.parent,
        };
        Some(ProcessEntry {
            pid,
            identity: process.identity,
            parent: Some(parent),
            group: process.group,
            session: process.session,
            is_zombie: process.is_zombie,
        })
    }
}

#[derive(Clone, Debug)]
struct ScriptedTable(Arc<Mutex<Machine>>);

impl ScriptedTable {
    fn with(parents: Parents) -> Self {
        Self(Arc::new(Mutex::new(Machine::new(parents))))
    }

    fn run(&self, steps: &[Step]) {
        self.0.lock().expect("no panic").run(steps);
    }

    fn before_lists(&self, steps: &[Step]) {
        self.0.lock().expect("no panic").before_lists = steps.iter().rev().copied().collect();
    }

    fn search(&self) -> TrackedSearch {
        let identity = self.find(20).map(|entry| entry.identity);
        let tree = TrackedTree::new(20, identity);
        TrackedSearch::new(tree, Arc::new(self.clone()), |_, _| {})
    }

    fn members(&self, search: &TrackedSearch) -> Vec<i32> {
        let mut pids: Vec<i32> = search
            .scan()
            .members
            .iter()
            .map(|member| member.pid)
            .collect();
        pids.sort_unstable();
        pids
    }

    fn living(&self) -> Vec<i32> {
        let machine = self.0.lock().expect("no panic");
        let living = machine
            .processes
            .iter()
            .filter(|(_, process)| !process.is_zombie);
        let mut pids: Vec<i32> = living.map(|(pid, _)| *pid).collect();
        pids.sort_unstable();
        pids
    }
}

impl ProcessTable for ScriptedTable {
    fn list(&self) -> Vec<ProcessEntry> {
        let mut machine = self.0.lock().expect("no panic");
        if let Some(step) = machine.before_lists.pop() {
            machine.step(step);
        }
        let mut pids: Vec<i32> = machine.processes.keys().copied().collect();
        pids.sort_unstable();
        pids.into_iter()
            .filter_map(|pid| machine.entry(pid))
            .collect()
    }

    fn find(&self, pid: i32) -> Option<ProcessEntry> {
        self.0.lock().expect("no panic").entry(pid)
    }

    fn signal(&self, pid: i32, signal: Signal) {
        if signal == Signal::KILL {
            let mut machine = self.0.lock().expect("no panic");
            let Some(entry) = machine.entry(pid).filter(|entry| !entry.is_zombie) else {
                return;
            };
            machine.killed.push((pid, entry.identity));
            // The first process is reaped after the tree was killed; process 1 reaps the others.
            machine.step(if pid == 20 {
                Step::Die(pid)
            } else {
                Step::End(pid)
            });
        }
    }

    fn signal_group(&self, group: i32, signal: Signal) {
        let members: Vec<i32> = {
            let machine = self.0.lock().expect("no panic");
            let of_group = machine.processes.iter().filter(|(_, it)| it.group == group);
            of_group.map(|(pid, _)| *pid).collect()
        };
        members.iter().for_each(|pid| self.signal(*pid, signal));
    }
}

const BOTH: [Parents; 2] = [Parents::Kept, Parents::Lost];

#[test]
fn children_groups_and_sessions_are_members_and_others_are_not() {
    for parents in BOTH {
        let table = ScriptedTable::with(parents);
        let search = table.search();
        table.run(&[
            Step::Fork(20, 21),
            Step::Fork(21, 22),
            Step::SetPgid(22),
            Step::Fork(10, 30),
            Step::SetSid(30),
        ]);
        assert_eq!(table.members(&search), [20, 21, 22], "{parents:?}");
    }
}

#[test]
fn a_seen_process_stays_a_member_whatever_it_does() {
    for parents in BOTH {
        let table = ScriptedTable::with(parents);
        let search = table.search();
        table.run(&[Step::Fork(20, 21), Step::Fork(21, 22)]);
        assert_eq!(table.members(&search), [20, 21, 22]);
        table.run(&[Step::SetSid(22), Step::End(21)]);
        assert_eq!(table.members(&search), [20, 22], "{parents:?}");
        // So do its later children, even if it ends unseen: they share its session.
        table.run(&[Step::Fork(22, 23), Step::End(22)]);
        assert_eq!(table.members(&search), [20, 23], "{parents:?}");
    }
}

#[test]
fn a_double_fork_between_two_looks_is_found_where_parents_are_kept() {
    let script = [
        Step::Fork(20, 21),
        Step::Fork(21, 22),
        Step::SetSid(22),
        Step::End(21),
    ];
    // The parent was seen: the table names it for ever, or the process stays lost.
    for (parents, expected) in [(Parents::Kept, &[20, 22][..]), (Parents::Lost, &[20])] {
        let table = ScriptedTable::with(parents);
        let search = table.search();
        table.run(&script[..1]);
        assert_eq!(table.members(&search), [20, 21]);
        table.run(&script[1..]);
        assert_eq!(table.members(&search), expected, "{parents:?}");
    }
    // Without `setsid` the session is enough.
    let table = ScriptedTable::with(Parents::Lost);
    let search = table.search();
    table.run(&[Step::Fork(20, 21), Step::Fork(21, 22), Step::End(21)]);
    assert_eq!(table.members(&search), [20, 22]);
}

#[test]
fn zombies_link_their_children_and_are_no_members() {
    let table = ScriptedTable::with(Parents::Kept);
    let search = table.search();
    table.run(&[
        Step::Fork(20, 21),
        Step::Fork(21, 22),
        Step::SetSid(22),
        Step::Die(21),
    ]);
    assert_eq!(table.members(&search), [20, 22]);
    table.run(&[Step::Die(20)]);
    assert_eq!(table.members(&search), [22]);
}

#[test]
fn a_reused_id_is_another_process() {
    for parents in BOTH {
        let table = ScriptedTable::with(parents);
        let search = table.search();
        table.run(&[Step::Fork(20, 21), Step::SetSid(21), Step::Fork(20, 22)]);
        assert_eq!(table.members(&search), [20, 21, 22]);
        // A process of the user gets the id of the session's leader and leads a session of its own.
        table.run(&[
            Step::End(21),
            Step::Fork(10, 21),
            Step::SetSid(21),
            Step::Fork(21, 25),
        ]);
        assert_eq!(table.members(&search), [20, 22], "{parents:?}");
        // Nor is a stale member signalled.
        let stale = search
            .scan()
            .members
            .into_iter()
            .find(|member| member.pid == 22);
        table.run(&[Step::End(22), Step::Fork(10, 22)]);
        search.signal(stale.expect("a member"), Signal::KILL);
        assert!(table.living().contains(&22));
    }
}

#[test]
fn a_group_is_not_signalled_once_its_id_was_reused() {
    let table = ScriptedTable::with(Parents::Kept);
    let search = table.search();
    table.run(&[Step::Fork(20, 21), Step::SetSid(21)]);
    assert_eq!(table.members(&search), [20, 21]);
    table.run(&[Step::End(20), Step::Fork(10, 20), Step::SetSid(20)]);
    let ended = terminate(&search, Duration::ZERO, ScanPasses::Twice);
    assert_eq!(ended.keys().copied().collect::<Vec<_>>(), [21]);
    assert_eq!(table.living(), [1, 10, 20]);
}

#[test]
fn a_program_within_a_tree_spares_itself_its_ancestors_and_its_children() {
    for parents in BOTH {
        let table = ScriptedTable::with(parents);
        table.run(&[
            Step::Fork(20, 21),
            Step::Fork(21, 22),
            Step::SetSid(22),
            Step::Fork(22, 23),
            Step::Fork(20, 24),
            Step::SetPgid(24),
        ]);
        let identity = |pid| table.find(pid).map(|entry| entry.identity);
        let tree = TrackedTree::new(20, identity(20));
        let tree = tree.with_known(identity(21)).sparing(21);
        let search = TrackedSearch::new(tree, Arc::new(table.clone()), |_, _| {});
        assert_eq!(table.members(&search), [24], "{parents:?}");
        terminate(&search, Duration::ZERO, ScanPasses::Twice);
        assert_eq!(table.living(), [1, 10, 20, 21, 22, 23], "{parents:?}");
    }
}

#[test]
fn termination_outruns_processes_that_fork_between_two_looks() {
    for parents in BOTH {
        let table = ScriptedTable::with(parents);
        table.run(&[
            Step::Fork(20, 21),
            Step::SetPgid(21),
            Step::Fork(21, 22),
            Step::SetPgid(22),
        ]);
        let search = table.search();
        assert_eq!(table.members(&search), [20, 21, 22]);
        // One forks before the look, and another one after a look that found nothing to do.
        table.before_lists(&[Step::Fork(22, 23), Step::Fork(1, 40)]);
        let ended = terminate(&search, Duration::ZERO, ScanPasses::Twice);
        assert_eq!(
            ended.len(),
            3,
            "the group died before the first look: {ended:?}"
        );
        assert_eq!(table.living(), [1, 10, 40], "{parents:?}");
    }
}

#[test]
fn ended_members_are_forgotten_after_some_looks() {
    let table = ScriptedTable::with(Parents::Kept);
    let mut tree = TrackedTree::new(20, table.find(20).map(|entry| entry.identity));
    table.run(&[Step::Fork(20, 21)]);
    let new = tree.look(&table.list()).new;
    assert_eq!(new.len(), 1);
    table.run(&[Step::End(21), Step::End(20)]);
    let looks = usize::from(LOOKS_AFTER_END);
    for _ in 0..looks {
        assert_eq!(tree.look(&table.list()), Look::default());
    }
    assert_eq!(tree.look(&table.list()).gone, new);
    assert_eq!(tree.known.len(), 1, "the first process stays known");
    assert_eq!(tree.look(&table.list()), Look::default());
}

#[test]
fn any_history_that_was_seen_step_by_step_is_complete() {
    let soak = std::env::var_os("BURIN_SOAK").is_some();
    for seed in 0..if soak { 20_000_u64 } else { 300 } {
        let table = ScriptedTable::with(BOTH[(seed % 2) as usize]);
        let search = table.search();
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % below as u64) as usize
        };
        let (mut inside, mut outside) = (vec![20], vec![10]);
        for pid in 50..90 {
            let is_inside = next(3) > 0;
            let own = if is_inside { &mut inside } else { &mut outside };
            let chosen = own[next(own.len())];
            match next(4) {
                0 | 1 => {
                    own.push(pid);
                    table.run(&[Step::Fork(chosen, pid)]);
                }
                2 if chosen > 20 => table.run(&[Step::SetSid(chosen)]),
                3 if chosen > 20 => {
                    own.retain(|pid| *pid != chosen);
                    table.run(&[Step::End(chosen)]);
                }
                _ => table.run(&[]),
            }
            let mut expected = inside.clone();
            expected.sort_unstable();
            assert_eq!(table.members(&search), expected, "seed {seed}");
        }
        terminate(&search, Duration::ZERO, ScanPasses::Once);
        outside.push(1);
        outside.sort_unstable();
        assert_eq!(table.living(), outside, "seed {seed}");
    }
}
