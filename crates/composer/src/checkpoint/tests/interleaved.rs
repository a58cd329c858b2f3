//! Random edits of a user, agents and commands to the same files, undone at random, compared with a
//! model that knows the authors of all additions and removals.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::change_history::AgentCall;

pub(super) const PATHS: [&str; 3] = ["a", "src/b", "new"];

/// All lines are distinct, so that the model knows the position of each.
#[derive(Default)]
struct Model {
    next: u32,
    /// The author of a line and of its removal, by file and line.
    wrote: BTreeMap<(usize, String), ChangeAuthor>,
    removed: BTreeMap<(usize, String), ChangeAuthor>,
}

struct World {
    place: Place,
    authored: ChangeHistory,
    model: Model,
    random: StdRng,
}

pub(super) fn base_text(path: usize) -> String {
    (0..12)
        .map(|line| format!("base {path} {line}\n"))
        .collect()
}

fn authors() -> Vec<ChangeAuthor> {
    let doing = |session: &str, turn: u64| AgentCall {
        session: session.to_owned(),
        turn,
        call: format!("c{turn}"),
        tool: "exec_command".to_owned(),
    };
    vec![
        ChangeAuthor::Person,
        ChangeAuthor::Disk,
        agent("s", 1),
        agent("s", 2),
        agent("t", 1),
        ChangeAuthor::Command(doing("s", 1)),
        ChangeAuthor::Command(doing("t", 2)),
    ]
}

impl World {
    fn new(seed: u64) -> Self {
        let texts: Vec<String> = (0..2).map(base_text).collect();
        let files = [(PATHS[0], texts[0].as_str()), (PATHS[1], texts[1].as_str())];
        let (place, authored) = opened(&files);
        Self {
            place,
            authored,
            model: Model::default(),
            random: StdRng::seed_from_u64(seed),
        }
    }

    fn lines(&self, path: usize) -> Vec<String> {
        let text = self.place.read(PATHS[path]).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn texts(&self) -> Vec<Option<String>> {
        PATHS.iter().map(|path| self.place.read(path)).collect()
    }

    /// Changes a few lines of a file as a random author.
    fn work(&mut self) {
        let author = authors().choose(&mut self.random).unwrap().clone();
        let path = self.random.random_range(0..PATHS.len());
        self.authored
            .observe(ObserveScope::All, &ChangeAuthor::Disk)
            .unwrap();
        let mut lines = self.lines(path);
        for _ in 0..self.random.random_range(1..4) {
            let at = self.random.random_range(0..=lines.len());
            let goes = at < lines.len() && self.random.random_bool(0.4);
            if goes {
                let line = lines.remove(at);
                self.model.removed.insert((path, line), author.clone());
            }
            if !goes || self.random.random_bool(0.5) {
                self.model.next += 1;
                let line = format!("line {}", self.model.next);
                self.model
                    .wrote
                    .insert((path, line.clone()), author.clone());
                lines.insert(at, line);
            }
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

    /// Undoes the changes of some sessions and checks that all others stay. Returns whether it was
    /// possible.
    fn take_back(&mut self) -> bool {
        let session = ["s", "t"].choose(&mut self.random).unwrap().to_string();
        let selection = UndoSelection {
            turn: self.random.random_bool(0.3).then_some(1),
            ..undo_of(&session)
        };
        let takes = |author: &ChangeAuthor| {
            let doing = author.agent_call();
            doing.is_some_and(|it| {
                it.session == session && selection.turn.is_none_or(|turn| it.turn == turn)
            })
        };
        let before = self.texts();
        let lines_before: Vec<Vec<String>> =
            (0..PATHS.len()).map(|path| self.lines(path)).collect();
        match self.authored.undo(&selection) {
            Ok(undone) => {
                for (path, before) in lines_before.iter().enumerate() {
                    self.check(path, before, &takes);
                }
                let after = self.texts();
                let back = UndoSelection::of_operation(undone.operation);
                let back = self.authored.undo(&back).unwrap();
                assert_eq!(self.texts(), before, "an undo is undone");
                let again = UndoSelection::of_operation(back.operation);
                self.authored.undo(&again).unwrap();
                assert_eq!(self.texts(), after, "and done again");
                self.model.forget(&takes);
                true
            }
            Err(Error::NothingToUndo) => {
                assert_eq!(self.texts(), before);
                false
            }
            Err(Error::UndoConflicts(conflicts)) => {
                assert!(!conflicts.is_empty());
                assert_eq!(self.texts(), before, "nothing half done");
                false
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Checks that the expected lines exist and that the unchanged ones keep their order.
    fn check(&self, path: usize, before: &[String], takes: &dyn Fn(&ChangeAuthor) -> bool) {
        let after = self.lines(path);
        let there: BTreeSet<&String> = after.iter().collect();
        let was: BTreeSet<&String> = before.iter().collect();
        for line in &was {
            let author = self.model.wrote.get(&(path, (*line).clone()));
            let should_go = author.is_some_and(takes);
            assert_eq!(there.contains(*line), !should_go, "{line} of {author:?}");
        }
        for ((at, line), author) in &self.model.removed {
            let wrote = self.model.wrote.get(&(*at, line.clone()));
            if *at == path && !was.contains(line) {
                let should_come = takes(author) && !wrote.is_some_and(takes);
                assert_eq!(
                    there.contains(line),
                    should_come,
                    "{line} removed by {author:?}"
                );
            }
        }
        let stayed = |lines: &[String]| -> Vec<String> {
            let both = lines
                .iter()
                .filter(|it| there.contains(it) && was.contains(it));
            both.cloned().collect()
        };
        assert_eq!(stayed(before), stayed(&after), "in their order");
    }
}

impl Model {
    /// Removes undone changes from the model.
    fn forget(&mut self, takes: &dyn Fn(&ChangeAuthor) -> bool) {
        let gone = self.wrote.iter().filter(|(_, it)| takes(it));
        let gone: Vec<_> = gone.map(|(line, _)| line.clone()).collect();
        for line in gone {
            self.wrote.remove(&line);
            self.removed.remove(&line);
        }
        self.removed.retain(|_, author| !takes(author));
    }
}

#[test]
fn whatever_is_taken_back_others_keep_what_they_did() {
    let (mut done, mut refused) = (0, 0);
    for seed in 0..24 {
        let mut world = World::new(seed);
        for _ in 0..6 {
            for _ in 0..world.random.random_range(1..7) {
                world.work();
            }
            if world.take_back() {
                done += 1
            } else {
                refused += 1
            }
        }
    }
    assert!(done > 30 && refused > 10, "{done} done, {refused} refused");
}
