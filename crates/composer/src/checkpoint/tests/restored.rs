//! Turns of two agents, with edits of a user and commands in between, restored at random and
//! undone, compared with a model that knows which changes are in effect.

use std::collections::{BTreeMap, BTreeSet};

use super::interleaved::{PATHS, base_text};
use super::*;
use crate::change_history::AgentCall;

/// A line that was added or removed.
#[derive(Debug)]
struct Done {
    path: usize,
    line: String,
    is_removal: bool,
    /// The session, if an agent or its command made the change.
    session: Option<&'static str>,
    is_in_effect: bool,
}

struct World {
    place: Place,
    authored: ChangeHistory,
    random: StdRng,
    done: Vec<Done>,
    turns: BTreeMap<&'static str, u64>,
    /// The changes of a session in effect when one of its turns began, by turn.
    found: BTreeMap<(&'static str, u64), Vec<usize>>,
    /// Lines changed by several authors, one of whom was restored. Their position is ambiguous, so
    /// it is not checked.
    unsure: BTreeSet<(usize, String)>,
}

const SESSIONS: [&str; 2] = ["s", "t"];

impl World {
    fn new(seed: u64) -> Self {
        let texts: Vec<String> = (0..2).map(base_text).collect();
        let files = [(PATHS[0], texts[0].as_str()), (PATHS[1], texts[1].as_str())];
        let (place, authored) = opened(&files);
        let mut world = Self {
            place,
            authored,
            random: StdRng::seed_from_u64(seed),
            done: Vec::new(),
            turns: BTreeMap::new(),
            found: BTreeMap::new(),
            unsure: BTreeSet::new(),
        };
        for session in SESSIONS {
            world.begin(session);
        }
        world
    }

    /// Begins the next turn of a session.
    fn begin(&mut self, session: &'static str) {
        self.authored
            .observe(ObserveScope::All, &ChangeAuthor::Disk)
            .unwrap();
        let turn = self.turns.entry(session).or_default();
        *turn += 1;
        let turn = *turn;
        self.authored.checkpoint(session, turn).unwrap();
        let found = self.in_effect(session);
        self.found.insert((session, turn), found);
    }

    fn in_effect(&self, session: &str) -> Vec<usize> {
        let its = |(_, it): &(usize, &Done)| it.session == Some(session) && it.is_in_effect;
        let done = self.done.iter().enumerate().filter(its);
        done.map(|(number, _)| number).collect()
    }

    fn lines(&self, path: usize) -> Vec<String> {
        let text = self.place.read(PATHS[path]).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn texts(&self) -> Vec<Option<String>> {
        PATHS.iter().map(|path| self.place.read(path)).collect()
    }

    /// Changes a few adjacent lines of a file as a random author.
    fn work(&mut self) {
        let session = *[None, None, Some("s"), Some("s"), Some("t")]
            .choose(&mut self.random)
            .unwrap();
        let author = match session {
            None if self.random.random_bool(0.5) => ChangeAuthor::Person,
            None => ChangeAuthor::Disk,
            Some(session) => {
                let turn = self.turns[session];
                let doing = AgentCall {
                    session: session.to_owned(),
                    turn,
                    call: format!("{session}-{turn}"),
                    tool: "exec_command".to_owned(),
                };
                if self.random.random_bool(0.5) {
                    ChangeAuthor::Agent(doing)
                } else {
                    ChangeAuthor::Command(doing)
                }
            }
        };
        let path = self.random.random_range(0..PATHS.len());
        let mut lines = self.lines(path);
        let at = self.random.random_range(0..=lines.len());
        let gone = self.random.random_range(0..2).min(lines.len() - at);
        let came = self.random.random_range(1 - gone..3);
        let mut did = |line: &str, is_removal| {
            self.done.push(Done {
                path,
                line: line.to_owned(),
                is_removal,
                session,
                is_in_effect: true,
            });
        };
        for line in lines.drain(at..at + gone) {
            did(&line, true);
        }
        for number in 0..came {
            let line = format!("line {}", self.random.random::<u64>());
            did(&line, false);
            lines.insert(at + number, line);
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if text.is_empty() && self.place.read(PATHS[path]).is_some() {
            self.place.remove(PATHS[path])
        } else if text.is_empty() {
        } else {
            self.place.write(PATHS[path], &text)
        }
        self.authored.observe(ObserveScope::All, &author).unwrap();
    }

    /// Restores a turn of a session, and sometimes undoes that. Returns whether it was possible.
    fn restore(&mut self) -> bool {
        let session = *SESSIONS.choose(&mut self.random).unwrap();
        let turn = self.random.random_range(1..=self.turns[session]);
        let (before, was) = (self.texts(), self.in_effect(session));
        let stood: Vec<Vec<String>> = (0..PATHS.len()).map(|path| self.lines(path)).collect();
        let found = self.found[&(session, turn)].clone();
        let operation = match self.authored.restore(&[session.to_owned()], turn) {
            Ok(undone) => undone.operation,
            Err(Error::UndoConflicts(conflicts)) => {
                assert!(!conflicts.is_empty());
                assert_eq!(self.texts(), before, "nothing half done");
                return false;
            }
            Err(Error::NothingToUndo) => {
                assert_eq!(self.texts(), before);
                self.take_effect(session, &found);
                self.check(&stood);
                self.be_unsure(session);
                return true;
            }
            Err(error) => panic!("{error}"),
        };
        self.take_effect(session, &found);
        self.check(&stood);
        self.be_unsure(session);
        if self.random.random_bool(0.4) {
            // An immediate undo of the undo restores everything.
            self.authored
                .undo(&UndoSelection::of_operation(operation))
                .unwrap();
            assert_eq!(self.texts(), before, "a restore is undone");
            self.take_effect(session, &was);
        }
        true
    }

    fn take_effect(&mut self, session: &str, these: &[usize]) {
        for (number, done) in self.done.iter_mut().enumerate() {
            if done.session == Some(session) {
                done.is_in_effect = these.contains(&number);
            }
        }
    }

    fn be_unsure(&mut self, session: &'static str) {
        let its = self.done.iter().filter(|it| it.session == Some(session));
        for one in its {
            let is_same = |it: &&Done| (it.path, &it.line) == (one.path, &one.line);
            let mut all = self.done.iter().filter(is_same);
            if all.any(|it| it.session != one.session) {
                self.unsure.insert((one.path, one.line.clone()));
            }
        }
    }

    /// Checks that every line exists whose addition is in effect and whose removal is not, and that
    /// the unchanged lines keep their order.
    fn check(&self, stood: &[Vec<String>]) {
        for (path, stood) in stood.iter().enumerate() {
            let lines = self.lines(path);
            let own = self.done.iter().filter(|it| it.path == path);
            let in_effect = own.clone().filter(|it| it.is_in_effect);
            let removed = |line: &str| {
                let mut removals = in_effect.clone().filter(|it| it.is_removal);
                removals.any(|it| it.line == line)
            };
            for it in own.clone().filter(|it| !it.is_removal) {
                let should_be = it.is_in_effect && !removed(&it.line);
                let is_unsure = self.unsure.contains(&(path, it.line.clone()));
                assert!(is_unsure || lines.contains(&it.line) == should_be, "{it:?}");
            }
            if path < 2 {
                for line in base_text(path).lines() {
                    let is_there = lines.iter().any(|it| it == line);
                    let is_unsure = self.unsure.contains(&(path, line.to_owned()));
                    assert!(is_unsure || is_there != removed(line), "{line}");
                }
            }
            let both = |one: &[String], two: &[String]| -> Vec<String> {
                let both = one.iter().filter(|line| two.contains(line));
                both.cloned().collect()
            };
            assert_eq!(both(stood, &lines), both(&lines, stood), "in their order");
        }
    }
}

#[test]
fn a_restore_takes_back_its_agents_turns_and_nothing_else() {
    let (mut done, mut refused) = (0, 0);
    for seed in 0..40 {
        let mut world = World::new(seed);
        for _ in 0..40 {
            match world.random.random_range(0..10) {
                0..=5 => world.work(),
                6 | 7 => {
                    let session = *SESSIONS.choose(&mut world.random).unwrap();
                    world.begin(session);
                }
                _ => {
                    if world.restore() {
                        done += 1
                    } else {
                        refused += 1
                    }
                }
            }
        }
    }
    assert!(done > 100 && refused > 20, "{done} done, {refused} refused");
}

#[test]
fn restore_undoes_a_redone_change() {
    let mut tree = Tree::new(&[("a", TEXT)]);
    tree.authored.checkpoint("s", 1).unwrap();
    tree.by(&agent("s", 1), "a", "A");
    let sessions = ["s".to_owned()];
    let first = tree.authored.restore(&sessions, 1).unwrap();
    tree.authored.checkpoint("s", 2).unwrap();
    let operation = UndoSelection::of_operation(first.operation);
    tree.authored.undo(&operation).unwrap();
    tree.check("a", "A");
    tree.authored.restore(&sessions, 2).unwrap();
    tree.check("a", ALL);
}

#[test]
fn redone_change_excludes_the_restored_turn() {
    let mut tree = Tree::new(&[("a", TEXT)]);
    tree.authored.checkpoint("s", 1).unwrap();
    tree.by(&agent("s", 1), "a", "A");
    tree.authored.checkpoint("s", 2).unwrap();
    tree.by(&agent("s", 2), "a", "B");
    let sessions = ["s".to_owned()];
    tree.authored.restore(&sessions, 1).unwrap();
    tree.check("a", ALL);
    tree.authored.restore(&sessions, 2).unwrap();
    tree.check("a", "A");
}
