//! Turns of two agents, a person and commands in between, restored at random and that taken back, beside a model that
//! knows which of what was done is in effect.

use std::collections::{BTreeMap, BTreeSet};

use super::interleaved::{PATHS, base_text};
use super::*;
use crate::authored::Doing;

/// A line that somebody wrote or removed.
#[derive(Debug)]
struct Done {
    path: usize,
    line: String,
    is_removal: bool,
    /// The session, where an agent did it or had a command do it.
    session: Option<&'static str>,
    is_in_effect: bool,
}

struct World {
    place: Place,
    authored: Authored,
    random: StdRng,
    done: Vec<Done>,
    turns: BTreeMap<&'static str, u64>,
    /// What was in effect of a session when a turn of it began, by number.
    found: BTreeMap<(&'static str, u64), Vec<usize>>,
    /// Lines that several had a hand in and one of them was restored: where such a line belongs afterwards is told by
    /// the lines around it only, so nothing is asked of it.
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

    /// Another turn begins.
    fn begin(&mut self, session: &'static str) {
        self.authored.observe(Scope::All, &Author::Disk).unwrap();
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

    /// Somebody changes a few lines of a file that stand together.
    fn work(&mut self) {
        let session = *[None, None, Some("s"), Some("s"), Some("t")]
            .choose(&mut self.random)
            .unwrap();
        let author = match session {
            None if self.random.random_bool(0.5) => Author::Person,
            None => Author::Disk,
            Some(session) => {
                let turn = self.turns[session];
                let doing = Doing {
                    session: session.to_owned(),
                    turn,
                    call: format!("{session}-{turn}"),
                    tool: "exec_command".to_owned(),
                };
                match self.random.random_bool(0.5) {
                    true => Author::Agent(doing),
                    false => Author::Command(doing),
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
        match text.is_empty() {
            true if self.place.read(PATHS[path]).is_some() => self.place.remove(PATHS[path]),
            true => {}
            false => self.place.write(PATHS[path], &text),
        }
        self.authored.observe(Scope::All, &author).unwrap();
    }

    /// A turn of a session is restored, and sometimes that is taken back. Whether it could be done.
    fn restore(&mut self) -> bool {
        let session = *SESSIONS.choose(&mut self.random).unwrap();
        let turn = self.random.random_range(1..=self.turns[session]);
        let (before, was) = (self.texts(), self.in_effect(session));
        let stood: Vec<Vec<String>> = (0..PATHS.len()).map(|path| self.lines(path)).collect();
        let found = self.found[&(session, turn)].clone();
        let operation = match self.authored.restore(&[session.to_owned()], turn) {
            Ok(undone) => undone.operation,
            Err(Stuck::Conflicts(conflicts)) => {
                assert!(!conflicts.is_empty());
                assert_eq!(self.texts(), before, "nothing half done");
                return false;
            }
            Err(Stuck::Nothing) => {
                assert_eq!(self.texts(), before);
                self.take_effect(session, &found);
                self.check(&stood);
                self.be_unsure(session);
                return true;
            }
            Err(Stuck::Failed(sentence)) => panic!("{sentence}"),
        };
        self.take_effect(session, &found);
        self.check(&stood);
        self.be_unsure(session);
        if self.random.random_bool(0.4) {
            // Whoever takes it back at once has everything as it was.
            self.authored
                .undo(&Selection::of_operation(operation))
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

    /// Every line is there that somebody wrote and nobody removed, as far as that is in effect; and those that stayed
    /// are in their order.
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
                _ => match world.restore() {
                    true => done += 1,
                    false => refused += 1,
                },
            }
        }
    }
    assert!(done > 100 && refused > 20, "{done} done, {refused} refused");
}

#[test]
fn what_a_turn_found_taken_back_and_was_done_again_is_taken_back_again() {
    let mut tree = Tree::new(&[("a", TEXT)]);
    tree.authored.checkpoint("s", 1).unwrap();
    tree.by(&agent("s", 1), "a", "A");
    let sessions = ["s".to_owned()];
    let first = tree.authored.restore(&sessions, 1).unwrap();
    tree.authored.checkpoint("s", 2).unwrap();
    let operation = Selection::of_operation(first.operation);
    tree.authored.undo(&operation).unwrap();
    tree.check("a", "A");
    tree.authored.restore(&sessions, 2).unwrap();
    tree.check("a", ALL);
}

#[test]
fn what_comes_again_does_not_bring_along_what_a_turn_did() {
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
