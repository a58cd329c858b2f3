//! Random interleavings of two agents, the user, formatters, the shell and Git, with actions at random,
//! compared with a model that knows the author of every line.
//!
//! In every fourth run the folder is a repository, in which a real Git commits and checks out.

mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::slice;

use rand::prelude::*;

use super::*;
use crate::change_history::AgentCall;
use model::{Chosen, Hand, ModelLine, Part, Presence};

const PATHS: [&str; 4] = ["a", "src/b", "src/c", "new"];
/// The files of Git that only Git changes.
const GIT_FILES: [&str; 4] = [
    ".git/HEAD",
    ".git/index",
    ".git/refs/stash",
    ".git/logs/HEAD",
];

type Texts = BTreeMap<&'static str, Option<String>>;

/// A state of the folder to which a restore goes back.
struct Mark {
    session: &'static str,
    turn: u64,
    /// The texts, as long as only this session changed anything since.
    texts: Option<Texts>,
}

struct World {
    folder: Folder,
    lines: BTreeMap<&'static str, Vec<ModelLine>>,
    marks: Vec<Mark>,
    turns: BTreeMap<&'static str, u64>,
    /// The texts of each commit; empty without a repository.
    commits: Vec<Texts>,
    next: u32,
    /// The number of the last line that the log may know.
    observed: u32,
    calls: u32,
    rewritings: u32,
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
        let is_repository = seed % 4 == 3;
        let mut world = Self {
            folder: if is_repository {
                Folder::in_git(&files)
            } else {
                Folder::new(&files)
            },
            lines: lines.collect(),
            marks: Vec::new(),
            turns: BTreeMap::from([("s", 1), ("t", 1)]),
            commits: Vec::new(),
            next: 0,
            observed: 0,
            calls: 0,
            rewritings: 0,
            random: StdRng::seed_from_u64(seed),
        };
        if is_repository {
            world.commit();
        }
        world
    }

    fn texts(&self) -> Texts {
        let read = |path: &&'static str| {
            let bytes = self.folder.read(path);
            (*path, bytes.map(|bytes| String::from_utf8(bytes).unwrap()))
        };
        PATHS.iter().map(read).collect()
    }

    fn live(&self, path: &str) -> Vec<String> {
        let text = self.folder.text(path);
        text.split_inclusive('\n').map(str::to_owned).collect()
    }

    fn observe(&mut self, author: &ChangeAuthor) {
        self.folder.observe(author);
        self.observed = self.next;
    }

    /// The lines around some lines. Between two looks at the folder, the order of new lines and of
    /// removed ones is unknown.
    fn around(&self, live: &[String], lines: Range<usize>) -> (Option<String>, Option<String>) {
        let is_observed = |text: &&String| {
            let number = text.trim_end().strip_prefix('n').map(str::parse::<u32>);
            !number.is_some_and(|it| it.is_ok_and(|it| it > self.observed))
        };
        let mut before = live[..lines.start].iter().rev();
        let mut behind = live[lines.end..].iter();
        (
            before.find(is_observed).cloned(),
            behind.find(is_observed).cloned(),
        )
    }

    fn new_text(&mut self) -> String {
        self.next += 1;
        format!("n{}\n", self.next)
    }

    fn line(&mut self, path: &'static str, text: &str) -> &mut ModelLine {
        let lines = self.lines.entry(path).or_default();
        lines.iter_mut().find(|it| it.text == text).unwrap()
    }

    /// Changes a few lines of a file on the disk and in the model.
    fn edit(&mut self, path: &'static str, hand: Hand) {
        let live = self.live(path);
        let start = self.random.random_range(0..=live.len());
        let count = self.random.random_range(0..=3.min(live.len() - start));
        let added = self.random.random_range(u32::from(count == 0)..=3);
        let around = self.around(&live, start..start + count);
        for gone in &live[start..start + count] {
            self.line(path, gone).remove(hand, Some(around.clone()));
        }
        let mut new = live[..start].to_vec();
        for _ in 0..added {
            let text = self.new_text();
            let lines = self.lines.entry(path).or_default();
            lines.push(ModelLine::new(&text, hand));
            new.push(text);
        }
        new.extend_from_slice(&live[start + count..]);
        self.folder.write(path, new.concat());
    }

    fn path(&mut self) -> &'static str {
        PATHS.choose(&mut self.random).unwrap()
    }

    fn session(&mut self) -> &'static str {
        ["s", "t"].choose(&mut self.random).copied().unwrap()
    }

    fn next_call(&mut self, session: &'static str) -> AgentCall {
        self.calls += 1;
        AgentCall {
            session: session.to_owned(),
            turn: self.turns[session],
            call: format!("c{}", self.calls),
            tool: "exec_command".to_owned(),
        }
    }

    /// Records what happened before a call, which changes the folder from here on.
    fn begin_call(&mut self, session: &'static str) {
        self.observe(&ChangeAuthor::Disk);
        self.folder.turn(session, self.turns[session]);
        for mark in &mut self.marks {
            if mark.session != session {
                mark.texts = None;
            }
        }
    }

    /// One call of an agent: an edit tool or a command that changes several files.
    fn call(&mut self, session: &'static str) {
        let turn = self.turns[session];
        let is_command = self.random.random_bool(0.4);
        let call = self.next_call(session);
        let author = if is_command {
            ChangeAuthor::Command(call)
        } else {
            ChangeAuthor::Agent(call)
        };
        self.begin_call(session);
        for _ in 0..if is_command { 3 } else { 1 } {
            let path = self.path();
            self.edit(path, Hand::Agent(session, turn));
        }
        self.observe(&author);
    }

    fn begin_turn(&mut self, session: &'static str) {
        let turn = self.turns[session] + 1;
        self.turns.insert(session, turn);
        self.observe(&ChangeAuthor::Disk);
        self.folder.turn(session, turn);
        let texts = Some(self.texts());
        self.marks.push(Mark {
            session,
            turn,
            texts,
        });
    }

    /// The user or another program edits.
    fn other(&mut self) {
        let path = self.path();
        self.marks.iter_mut().for_each(|it| it.texts = None);
        self.edit(path, Hand::Other);
        if self.random.random_bool(0.5) {
            let author = [ChangeAuthor::Person, ChangeAuthor::Disk];
            let author = author.choose(&mut self.random).unwrap().clone();
            self.observe(&author);
        }
    }

    /// A formatter writes lines in another form, after a save of the user or an edit of an agent.
    fn format(&mut self) {
        let path = self.path();
        let live = self.live(path);
        let Some(start) = (0..live.len()).choose(&mut self.random) else {
            return;
        };
        let (hand, cause) = if self.random.random_bool(0.5) {
            self.observe(&ChangeAuthor::Disk);
            self.marks.iter_mut().for_each(|it| it.texts = None);
            (Hand::Other, ChangeAuthor::Person)
        } else {
            let session = self.session();
            self.begin_call(session);
            let call = self.next_call(session);
            let hand = Hand::Agent(session, self.turns[session]);
            (hand, ChangeAuthor::Agent(call))
        };
        let count = self.random.random_range(1..=4.min(live.len() - start));
        let new = if self.random.random_bool(0.6) {
            count
        } else {
            self.random.random_range(1..=3)
        };
        let texts: Vec<String> = (0..new).map(|_| self.new_text()).collect();
        let around = self.around(&live, start..start + count);
        let old = &live[start..start + count];
        if new == count {
            for (old, new) in old.iter().zip(&texts) {
                self.rewrite(
                    path,
                    hand,
                    (slice::from_ref(old), slice::from_ref(new)),
                    &around,
                );
            }
        } else {
            self.rewrite(path, hand, (old, &texts), &around);
        }
        let written = [&live[..start], &texts[..], &live[start + count..]].concat();
        self.folder.write(path, written.concat());
        let cause = Box::new(cause);
        self.observe(&ChangeAuthor::Formatter { cause });
    }

    /// Writes old lines of the model as new ones, whose text remains that of its authors.
    fn rewrite(
        &mut self,
        path: &'static str,
        hand: Hand,
        (old, new): (&[String], &[String]),
        around: &(Option<String>, Option<String>),
    ) {
        self.rewritings += 1;
        let rewriting = Some(self.rewritings);
        let mut shares = Vec::new();
        for text in old {
            let line = self.line(path, text);
            for share in line.authors() {
                if !shares.contains(&share) {
                    shares.push(share);
                }
            }
            line.remove(hand, Some(around.clone()));
            line.rewritten_as = rewriting;
        }
        if shares
            .iter()
            .all(|(hand, _)| !matches!(hand, Hand::Agent(..)))
        {
            shares.clear();
        }
        for text in new {
            let mut line = ModelLine::new(text, hand);
            line.rewrites = rewriting;
            line.is_addition_kept = !shares.is_empty() && shares.iter().all(|it| it.1);
            line.shares = shares.clone();
            self.lines.entry(path).or_default().push(line);
        }
    }

    /// Another program puts a file back to its first state: lines of everybody go, old ones return.
    fn reset_file(&mut self) {
        let path = PATHS[self.random.random_range(0..3)];
        self.marks.iter_mut().for_each(|it| it.texts = None);
        let base = base_of(path);
        for line in self.lines.entry(path).or_default() {
            let is_base = base.split_inclusive('\n').any(|it| it == line.text);
            if is_base && line.removed.is_some() {
                line.removed = None;
                line.undone = None;
                line.added = Hand::Other;
            } else if !is_base && line.removed.is_none() {
                line.remove(Hand::Other, None);
            }
        }
        self.folder.write(path, &base);
        self.observe(&ChangeAuthor::Disk);
    }

    /// Commits all files, which changes none.
    fn commit(&mut self) {
        let name = format!("c{}", self.commits.len());
        self.folder.git(&["add", "-A"]);
        self.folder
            .git(&["commit", "-q", "--allow-empty", "-m", "work"]);
        self.folder.git(&["branch", &name]);
        self.commits.push(self.texts());
    }

    /// Checks out an earlier commit, after a commit of all files: the user does, or an agent's command.
    fn check_out(&mut self) {
        if self.commits.is_empty() {
            return;
        }
        self.observe(&ChangeAuthor::Disk);
        let session = self.session();
        let call = self
            .random
            .random_bool(0.3)
            .then(|| ChangeAuthor::Command(self.next_call(session)));
        if call.is_some() {
            self.begin_call(session);
        }
        self.commit();
        let at = self.random.random_range(0..self.commits.len());
        self.folder
            .git(&["checkout", "-q", "--detach", &format!("c{at}")]);
        self.marks.iter_mut().for_each(|it| it.texts = None);
        let texts = self.commits[at].clone();
        assert_eq!(self.texts(), texts, "the model of Git");
        for (path, lines) in &mut self.lines {
            let text = texts[path].clone().unwrap_or_default();
            let live: BTreeSet<&str> = text.split_inclusive('\n').collect();
            for line in lines {
                line.check_out(live.contains(line.text.as_str()));
            }
        }
        if call.is_none() && self.random.random_bool(0.5) {
            // A part of the files is looked at first.
            self.folder.changes(session);
        }
        self.observe(&call.unwrap_or(ChangeAuthor::Disk));
    }

    fn keep(&mut self, session: &'static str) {
        let hunks = self.folder.changes(session).hunks;
        let Some(hunk) = hunks.choose(&mut self.random).cloned() else {
            return;
        };
        let (before, git) = (self.texts(), self.git_state());
        let target = ReviewTarget::Hunk {
            path: hunk.path.clone(),
            hunk: hunk.id.clone(),
        };
        self.folder
            .run(session, &FolderAction::Keep(target.clone()))
            .unwrap();
        assert_eq!(self.texts(), before, "keep changes no bytes");
        assert_eq!(self.git_state(), git, "nor anything of Git");
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

    /// Rejects one hunk: its lines alone go and return.
    fn reject_hunk(&mut self, session: &'static str) {
        self.observe(&ChangeAuthor::Disk);
        let hunks = self.folder.changes(session).hunks;
        let Some(hunk) = hunks.choose(&mut self.random).cloned() else {
            return;
        };
        let before = self.texts();
        let target = ReviewTarget::Hunk {
            path: hunk.path.clone(),
            hunk: hunk.id.clone(),
        };
        match self.folder.run(session, &FolderAction::Reject(target)) {
            Ok(outcome) => assert_eq!(outcome.paths, [hunk.path.as_str()]),
            Err(Error::UndoConflicts(_) | Error::NothingToUndo) => return,
            Err(error) => panic!("{error}"),
        }
        let after = self.texts();
        for (path, text) in &after {
            let lines = |text: &Option<String>| -> BTreeSet<String> {
                let text = text.clone().unwrap_or_default();
                text.lines().map(str::to_owned).collect()
            };
            let mut expected = lines(&before[path]);
            if *path == hunk.path {
                expected.retain(|line| !hunk.after.contains(line));
                expected.extend(hunk.before.iter().cloned());
            }
            assert_eq!(lines(text), expected, "{path} without {hunk:?}");
        }
        let turns = (0, u64::MAX);
        let chosen = Chosen {
            session,
            turns,
            spares_kept: true,
        };
        self.take_over(&chosen, &after);
    }

    /// Takes out changes, compares with the model, and sometimes undoes it.
    fn take_out(&mut self, session: &'static str) {
        let turn = self.random.random_range(1..=self.turns[session]);
        let (action, turns) = match self.random.random_range(0..3) {
            0 => (FolderAction::Reject(ReviewTarget::Turn(turn)), (turn, turn)),
            1 => (FolderAction::Restore(turn), (turn, u64::MAX)),
            _ => (FolderAction::Reject(ReviewTarget::All), (0, u64::MAX)),
        };
        let chosen = Chosen {
            session,
            turns,
            spares_kept: !matches!(action, FolderAction::Restore(_)),
        };
        self.observe(&ChangeAuthor::Disk);
        let (before, git) = (self.texts(), self.git_state());
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
        assert_eq!(self.git_state(), git, "Git's files stay");
        for path in PATHS {
            let contested = contested.iter().any(|it| it.path == path);
            self.check(path, &chosen, contested);
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
            self.take_over(&chosen, &after);
            let again = self.folder.run(session, &action);
            assert!(
                matches!(again, Err(Error::NothingToUndo | Error::UndoConflicts(_))),
                "{action:?} twice is once: {again:?}"
            );
        }
    }

    /// A restore goes back to the state of the mark if nobody else changed anything since.
    fn check_mark(&self, action: &FolderAction, session: &str, after: &Texts) {
        let FolderAction::Restore(turn) = action else {
            return;
        };
        let mut marks = self.marks.iter();
        let mark = marks.find(|it| it.session == session && it.turn == *turn);
        if let Some(texts) = mark.and_then(|it| it.texts.as_ref()) {
            assert_eq!(after, texts, "restored to turn {turn} of {session}");
        }
    }

    fn git_state(&self) -> Vec<Option<Vec<u8>>> {
        GIT_FILES
            .iter()
            .map(|path| self.folder.read(path))
            .collect()
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
    /// their order. Lines of a contested file may also be as before.
    fn check(&self, path: &'static str, chosen: &Chosen, is_contested: bool) {
        let text = self.folder.text(path);
        let live: Vec<&str> = text.split_inclusive('\n').collect();
        let distinct: BTreeSet<&str> = live.iter().copied().collect();
        assert_eq!(
            distinct.len(),
            live.len(),
            "no line is doubled in {path}: {text}"
        );
        let at = |text: &str| live.iter().position(|it| *it == text);
        let lines = self.lines.get(path).map_or(&[][..], Vec::as_slice);
        for line in lines {
            let position = at(&line.text);
            let presence = chosen.presence(line, lines);
            let is_as_before = position.is_some() == line.removed.is_none();
            let is_right = match presence {
                Presence::There => position.is_some(),
                Presence::Gone => position.is_none(),
                Presence::Joined => false,
            };
            assert!(
                is_right || (is_contested && is_as_before),
                "{path}: {presence:?}, {line:?}\n{text}"
            );
            if is_contested {
                continue;
            }
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
    fn take_over(&mut self, chosen: &Chosen, after: &Texts) {
        self.marks.iter_mut().for_each(|it| it.texts = None);
        for (path, lines) in &mut self.lines {
            let text = after[path].clone().unwrap_or_default();
            let live: BTreeSet<&str> = text.split_inclusive('\n').collect();
            let additions: Vec<Part> = lines.iter().map(|it| chosen.addition(it, lines)).collect();
            for (line, addition) in lines.iter_mut().zip(additions) {
                line.take_out(live.contains(line.text.as_str()), addition);
            }
        }
    }

    fn step(&mut self) {
        let session = self.session();
        match self.random.random_range(0..15) {
            0..=4 => self.call(session),
            5 => self.begin_turn(session),
            6 | 7 => self.other(),
            8 => self.reset_file(),
            9 => self.keep(session),
            10 => self.folder.open(),
            11 => self.format(),
            12 => self.check_out(),
            13 => self.reject_hunk(session),
            _ => self.take_out(session),
        }
    }
}

/// The seeds of a run: in the gate a few, and with `BURIN_SOAK` 10,000. `BURIN_REVIEW_SEEDS` names
/// others, such as `639` or `2000..4000`.
fn seeds() -> Range<u64> {
    let Ok(named) = std::env::var("BURIN_REVIEW_SEEDS") else {
        let is_soak = std::env::var_os("BURIN_SOAK").is_some();
        return 0..if is_soak { 10_000 } else { 60 };
    };
    let number = |text: &str| {
        text.parse()
            .expect("BURIN_REVIEW_SEEDS is a number or a range")
    };
    match named.split_once("..") {
        Some((start, end)) => number(start)..number(end),
        None => number(&named)..number(&named) + 1,
    }
}

#[test]
fn random_work_of_all_authors_is_taken_out_exactly() {
    for seed in seeds() {
        let run = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for _ in 0..24 {
                world.step();
            }
        });
        assert!(run.is_ok(), "seed {seed}");
    }
}
