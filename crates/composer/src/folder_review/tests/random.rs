//! Random edits of the user, two agents, a formatter, a shell and Git, with actions at random,
//! compared with a model that knows the author of every line.

use std::collections::{BTreeMap, BTreeSet};

use rand::prelude::*;

use super::*;
use crate::change_history::AgentCall;

const PATHS: [&str; 4] = ["a", "src/b", "src/c", "new"];

/// A line of the model. All texts are distinct, and a line is never added twice.
#[derive(Clone, Debug)]
struct ModelLine {
    text: String,
    added: Hand,
    /// The author of its removal.
    removed: Option<Hand>,
    is_addition_kept: bool,
    is_removal_kept: bool,
    /// The lines around it when it was removed, which the order of the text must keep.
    around: Option<(Option<String>, Option<String>)>,
}

/// The author of a line or of its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    Agent(&'static str, u64),
    Other,
}

/// A state of the folder to which a restore goes back.
struct Mark {
    session: &'static str,
    turn: u64,
    /// The texts, as long as only this session changed anything since.
    texts: Option<BTreeMap<&'static str, Option<String>>>,
}

struct World {
    folder: Folder,
    lines: BTreeMap<&'static str, Vec<ModelLine>>,
    marks: Vec<Mark>,
    turns: BTreeMap<&'static str, u64>,
    next: u32,
    calls: u32,
    random: StdRng,
}

fn base_of(path: &str) -> String {
    (0..12).map(|line| format!("{path} {line}\n")).collect()
}

impl World {
    fn new(seed: u64) -> Self {
        let texts = PATHS[..3].iter().map(|path| (*path, base_of(path)));
        let texts: Vec<_> = texts.collect();
        let files: Vec<_> = texts
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        let lines = texts.iter().map(|(path, text)| {
            let lines = text
                .split_inclusive('\n')
                .map(|line| ModelLine::new(line, Hand::Other));
            (*path, lines.collect())
        });
        Self {
            folder: Folder::new(&files),
            lines: lines.collect(),
            marks: Vec::new(),
            turns: BTreeMap::from([("s", 1), ("t", 1)]),
            next: 0,
            calls: 0,
            random: StdRng::seed_from_u64(seed),
        }
    }

    fn texts(&self) -> BTreeMap<&'static str, Option<String>> {
        let read = |path: &&'static str| {
            let bytes = self.folder.read(path);
            (*path, bytes.map(|bytes| String::from_utf8(bytes).unwrap()))
        };
        PATHS.iter().map(read).collect()
    }

    /// Changes a few lines of a file on the disk and in the model.
    fn edit(&mut self, path: &'static str, hand: Hand) {
        let live = self.folder.text(path);
        let live: Vec<String> = live.split_inclusive('\n').map(str::to_owned).collect();
        let lines = self.lines.entry(path).or_default();
        let start = self.random.random_range(0..=live.len());
        let count = self.random.random_range(0..=3.min(live.len() - start));
        let added = self.random.random_range(u32::from(count == 0)..=3);
        let around = (
            start.checked_sub(1).map(|at| live[at].clone()),
            live.get(start + count).cloned(),
        );
        for gone in &live[start..start + count] {
            let line = lines.iter_mut().find(|it| it.text == *gone).unwrap();
            line.removed = Some(hand);
            line.is_removal_kept = false;
            line.around = Some(around.clone());
        }
        let mut new = live[..start].to_vec();
        for _ in 0..added {
            self.next += 1;
            let text = format!("n{}\n", self.next);
            lines.push(ModelLine::new(&text, hand));
            new.push(text);
        }
        new.extend_from_slice(&live[start + count..]);
        self.folder.write(path, new.concat());
    }

    fn path(&mut self) -> &'static str {
        PATHS.choose(&mut self.random).unwrap()
    }

    /// One call of an agent: an edit tool or a command that changes several files.
    fn call(&mut self, session: &'static str) {
        let turn = self.turns[session];
        self.calls += 1;
        let is_command = self.random.random_bool(0.4);
        let call = AgentCall {
            session: session.to_owned(),
            turn,
            call: format!("c{}", self.calls),
            tool: "exec_command".to_owned(),
        };
        let author = if is_command {
            ChangeAuthor::Command(call)
        } else {
            ChangeAuthor::Agent(call)
        };
        self.folder.observe(&ChangeAuthor::Disk);
        self.folder.turn(session, turn);
        for mark in &mut self.marks {
            if mark.session != session {
                mark.texts = None;
            }
        }
        for _ in 0..if is_command { 3 } else { 1 } {
            let path = self.path();
            self.edit(path, Hand::Agent(session, turn));
        }
        self.folder.observe(&author);
    }

    fn begin_turn(&mut self, session: &'static str) {
        let turn = self.turns[session] + 1;
        self.turns.insert(session, turn);
        self.folder.observe(&ChangeAuthor::Disk);
        self.folder.turn(session, turn);
        let texts = Some(self.texts());
        self.marks.push(Mark {
            session,
            turn,
            texts,
        });
    }

    /// The user edits, or a formatter changes lines of everybody.
    fn other(&mut self) {
        let path = self.path();
        self.marks.iter_mut().for_each(|it| it.texts = None);
        self.edit(path, Hand::Other);
        if self.random.random_bool(0.5) {
            let author = [ChangeAuthor::Person, ChangeAuthor::Disk];
            let author = author.choose(&mut self.random).unwrap().clone();
            self.folder.observe(&author);
        }
    }

    /// Git puts a file back to its state in the commit: lines of everybody go, old ones return.
    fn checkout(&mut self) {
        let path = PATHS[self.random.random_range(0..3)];
        self.marks.iter_mut().for_each(|it| it.texts = None);
        let base = base_of(path);
        for line in self.lines.entry(path).or_default() {
            let is_base = base.split_inclusive('\n').any(|it| it == line.text);
            if is_base && line.removed.is_some() {
                line.removed = None;
                line.added = Hand::Other;
            } else if !is_base && line.removed.is_none() {
                line.removed = Some(Hand::Other);
                line.around = None;
            }
        }
        self.folder.write(path, &base);
        self.folder.observe(&ChangeAuthor::Disk);
    }

    fn keep(&mut self, session: &'static str) {
        let hunks = self.folder.changes(session).hunks;
        let Some(hunk) = hunks.choose(&mut self.random).cloned() else {
            return;
        };
        let before = self.texts();
        let target = ReviewTarget::Hunk {
            path: hunk.path.clone(),
            hunk: hunk.id.clone(),
        };
        self.folder
            .run(session, &FolderAction::Keep(target.clone()))
            .unwrap();
        assert_eq!(self.texts(), before, "keep changes no bytes");
        for line in self.lines.get_mut(hunk.path.as_str()).into_iter().flatten() {
            let text = line.text.trim_end().to_owned();
            match line.removed {
                None => line.is_addition_kept |= hunk.after.contains(&text),
                Some(_) => line.is_removal_kept |= hunk.before.contains(&text),
            }
        }
        let refused = self.folder.run(session, &FolderAction::Reject(target));
        assert!(matches!(refused, Err(Error::Stale(_))), "{refused:?}");
    }

    /// Takes out changes, compares with the model, and sometimes undoes it.
    fn take_out(&mut self, session: &'static str) {
        let turn = self.random.random_range(1..=self.turns[session]);
        let kind = self.random.random_range(0..3);
        let action = match kind {
            0 => FolderAction::Reject(ReviewTarget::Turn(turn)),
            1 => FolderAction::Restore(turn),
            _ => FolderAction::Reject(ReviewTarget::All),
        };
        let is_chosen = move |hand: Hand| match (kind, hand) {
            (_, Hand::Other) => false,
            (0, Hand::Agent(it, at)) => it == session && at == turn,
            (1, Hand::Agent(it, at)) => it == session && at >= turn,
            (_, Hand::Agent(it, _)) => it == session,
        };
        let spares_kept = !matches!(action, FolderAction::Restore(_));
        self.folder.observe(&ChangeAuthor::Disk);
        let before = self.texts();
        let stamps: Vec<_> = self.stamps();
        let hunks = self.folder.changes(session).hunks;
        let (paths, contested) = match self.folder.run(session, &action) {
            Ok(outcome) => (outcome.paths, outcome.contested),
            Err(Error::NothingToUndo) => (Vec::new(), Vec::new()),
            Err(Error::UndoConflicts(contested)) => (Vec::new(), contested),
            Err(error) => panic!("{error}"),
        };
        let after = self.texts();
        for (path, stamp) in stamps {
            if !paths.iter().any(|it| it == path) {
                assert_eq!(Some(stamp), self.stamp(path), "{path} is not touched");
                assert_eq!(before[path], after[path]);
            }
        }
        for path in PATHS {
            let contested = contested.iter().any(|it| it.path == path);
            self.check(path, &is_chosen, spares_kept, contested);
        }
        self.check_mark(&action, session, &after);
        if self.random.random_bool(0.5) && !paths.is_empty() {
            self.folder.run(session, &FolderAction::UndoLatest).unwrap();
            assert_eq!(self.texts(), before, "the undo is exact");
            assert_eq!(
                self.folder.changes(session).hunks,
                hunks,
                "and reviews the same"
            );
        } else {
            self.take_over(&is_chosen, &after);
        }
    }

    /// A restore goes back to the state of the mark if nobody else changed anything since.
    fn check_mark(
        &self,
        action: &FolderAction,
        session: &str,
        after: &BTreeMap<&'static str, Option<String>>,
    ) {
        let FolderAction::Restore(turn) = action else {
            return;
        };
        let mut marks = self.marks.iter();
        let mark = marks.find(|it| it.session == session && it.turn == *turn);
        if let Some(texts) = mark.and_then(|it| it.texts.as_ref()) {
            assert_eq!(after, texts, "restored to turn {turn} of {session}");
        }
    }

    fn stamps(&self) -> Vec<(&'static str, (u64, i64, i64))> {
        let stamps = PATHS
            .iter()
            .filter_map(|path| Some((*path, self.stamp(path)?)));
        stamps.collect()
    }

    fn stamp(&self, path: &str) -> Option<(u64, i64, i64)> {
        self.folder.read(path).map(|_| self.folder.stamp(path))
    }

    /// Compares a file with the model: the lines of the chosen changes are out, all others stay, in
    /// their order. A contested file may have kept chosen changes, but has lost nothing.
    fn check(
        &self,
        path: &'static str,
        is_chosen: &dyn Fn(Hand) -> bool,
        spares_kept: bool,
        is_contested: bool,
    ) {
        let text = self.folder.text(path);
        let live: Vec<&str> = text.split_inclusive('\n').collect();
        let distinct: BTreeSet<&str> = live.iter().copied().collect();
        assert_eq!(
            distinct.len(),
            live.len(),
            "no line is doubled in {path}: {text}"
        );
        let at = |text: &str| live.iter().position(|it| *it == text);
        for line in self.lines.get(path).into_iter().flatten() {
            let is_added = is_chosen(line.added) && !(spares_kept && line.is_addition_kept);
            let is_removed = line
                .removed
                .is_some_and(|hand| !is_chosen(hand) || (spares_kept && line.is_removal_kept));
            let position = at(&line.text);
            if is_contested {
                let is_foreign = !is_chosen(line.added) && line.removed.is_none();
                assert!(!is_foreign || position.is_some(), "{path} lost {line:?}");
                continue;
            }
            assert_eq!(
                position.is_some(),
                !is_added && !is_removed,
                "{path}: {line:?}\n{text}"
            );
            if let (Some(position), Some((before, behind))) = (position, &line.around) {
                let is_after = |other: &String| at(other).is_none_or(|it| it < position);
                let is_before = |other: &String| at(other).is_none_or(|it| position < it);
                assert!(
                    before.as_ref().is_none_or(is_after),
                    "{path}: {line:?}\n{text}"
                );
                assert!(
                    behind.as_ref().is_none_or(is_before),
                    "{path}: {line:?}\n{text}"
                );
            }
        }
    }

    /// Takes the state of the disk into the model: the chosen changes of the present lines are gone.
    fn take_over(
        &mut self,
        is_chosen: &dyn Fn(Hand) -> bool,
        after: &BTreeMap<&'static str, Option<String>>,
    ) {
        self.marks.iter_mut().for_each(|it| it.texts = None);
        for (path, lines) in &mut self.lines {
            let text = after[path].clone().unwrap_or_default();
            for line in lines {
                let is_live = text.split_inclusive('\n').any(|it| it == line.text);
                match (is_live, line.removed) {
                    (true, Some(_)) => line.removed = None,
                    (false, None) if is_chosen(line.added) => line.removed = Some(Hand::Other),
                    _ => {}
                }
            }
        }
    }

    fn step(&mut self) {
        let session = ["s", "t"].choose(&mut self.random).copied().unwrap();
        match self.random.random_range(0..12) {
            0..=4 => self.call(session),
            5 => self.begin_turn(session),
            6 | 7 => self.other(),
            8 => self.checkout(),
            9 => self.keep(session),
            10 => self.folder.open(),
            _ => self.take_out(session),
        }
    }
}

impl ModelLine {
    fn new(text: &str, added: Hand) -> Self {
        Self {
            text: text.to_owned(),
            added,
            removed: None,
            is_addition_kept: false,
            is_removal_kept: false,
            around: None,
        }
    }
}

/// Runs in the gate, and with `BURIN_SOAK` 10,000 times.
#[test]
fn random_work_of_all_authors_is_taken_out_exactly() {
    let is_soak = std::env::var_os("BURIN_SOAK").is_some();
    for seed in 0..if is_soak { 10_000 } else { 60 } {
        let run = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for _ in 0..24 {
                world.step();
            }
        });
        assert!(run.is_ok(), "seed {seed}");
    }
}
