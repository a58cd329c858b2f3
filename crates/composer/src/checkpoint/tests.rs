//! Tests undo on a real disk, including programs that die midway.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::*;
use crate::change_history::tests::{Place, agent};
use crate::change_history::{FakeBase, ObserveScope};

mod interleaved;
mod restored;

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n";

fn opened(files: &[(&str, &str)]) -> (Place, ChangeHistory) {
    let place = Place::new(files);
    let authored = place.open(FakeBase::new(files, &[]));
    (place, authored)
}

impl Place {
    /// Changes a file as some author and observes it.
    fn change(&self, authored: &mut ChangeHistory, author: &ChangeAuthor, path: &str, text: &str) {
        self.write(path, text);
        authored.observe(ObserveScope::All, author).unwrap();
    }
}

/// The lines of `TEXT`.
const ALL: &str = "1 2 3 4 5 6 7 8";

/// A tree whose texts are written as lines separated by spaces.
struct Tree {
    place: Place,
    authored: ChangeHistory,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let (place, authored) = opened(files);
        Self { place, authored }
    }

    fn by(&mut self, author: &ChangeAuthor, path: &str, lines: &str) {
        let text = lines.replace(' ', "\n") + "\n";
        self.place.change(&mut self.authored, author, path, &text);
    }

    #[track_caller]
    fn check(&self, path: &str, lines: &str) {
        let text = lines.replace(' ', "\n") + "\n";
        assert_eq!(self.place.read(path).unwrap(), text);
    }
}

fn undo_of(session: &str) -> UndoSelection {
    UndoSelection::of_sessions(vec![session.to_owned()])
}

#[test]
fn undo_removes_agent_changes_and_keeps_user_changes() {
    let mut tree = Tree::new(&[("a", TEXT)]);
    tree.by(&agent("s", 1), "a", "1 A 2 3 4 5 6 7 8");
    tree.by(&ChangeAuthor::Person, "a", "1 A 2 3 4 5 6 P 8");
    tree.by(&agent("s", 2), "new", "made");
    let undone = tree.authored.undo(&undo_of("s")).unwrap();
    assert_eq!(undone.paths, ["a", "new"]);
    tree.check("a", "1 2 3 4 5 6 P 8");
    assert_eq!(tree.place.read("new"), None);
    assert!(matches!(
        tree.authored.undo(&undo_of("s")),
        Err(Error::NothingToUndo)
    ));
    // The undo is undone.
    let again = tree
        .authored
        .undo(&UndoSelection::of_operation(undone.operation))
        .unwrap();
    tree.check("a", "1 A 2 3 4 5 6 P 8");
    tree.check("new", "made");
    tree.authored
        .undo(&UndoSelection::of_operation(again.operation))
        .unwrap();
    assert_eq!(tree.place.read("new"), None);
}

#[test]
fn where_both_changed_the_same_lines_nothing_is_done() {
    let mut tree = Tree::new(&[("a", TEXT), ("b", TEXT)]);
    tree.by(&agent("s", 1), "a", "1 A 3 4 5 6 7 8");
    tree.by(&agent("s", 1), "b", "B 2 3 4 5 6 7 8");
    tree.by(&ChangeAuthor::Person, "a", "1 Mine 3 4 5 6 7 8");
    let Err(Error::UndoConflicts(conflicts)) = tree.authored.undo(&undo_of("s")) else {
        panic!("a conflict");
    };
    assert_eq!(conflicts.len(), 1);
    assert_eq!(
        (conflicts[0].path.as_str(), conflicts[0].rows.clone()),
        ("a", Some(1..2))
    );
    tree.check("b", "B 2 3 4 5 6 7 8");
    // The other file can be undone by itself.
    let only = UndoSelection {
        paths: Some(vec!["b".to_owned()]),
        ..undo_of("s")
    };
    tree.authored.undo(&only).unwrap();
    tree.check("b", ALL);
}

#[test]
fn a_turn_finds_things_again_as_it_found_them() {
    let mut tree = Tree::new(&[("a", TEXT)]);
    tree.authored.checkpoint("s", 1).unwrap();
    tree.by(&agent("s", 1), "a", "1 2 3 4 5 6 7 end");
    tree.authored.checkpoint("s", 2).unwrap();
    tree.by(&agent("s", 2), "a", "1 2 3 X 5 6 7 end");
    tree.by(&agent("t", 1), "a", "T 1 2 3 X 5 6 7 end");
    let sessions = ["s".to_owned()];
    let first = tree.authored.restore(&sessions, 2).unwrap();
    tree.check("a", "T 1 2 3 4 5 6 7 end");
    tree.authored.restore(&sessions, 1).unwrap();
    tree.check("a", "T 1 2 3 4 5 6 7 8");
    // The change of the first turn comes back, since it was in effect when the second turn began.
    tree.authored.restore(&sessions, 2).unwrap();
    tree.check("a", "T 1 2 3 4 5 6 7 end");
    assert_eq!(first.paths, ["a"]);
    assert!(matches!(
        tree.authored.restore(&sessions, 9),
        Err(Error::NothingToUndo)
    ));
}

#[test]
fn restore_works_again_after_further_turns() {
    let mut tree = Tree::new(&[("a", TEXT)]);
    tree.authored.checkpoint("s", 1).unwrap();
    tree.by(&agent("s", 1), "a", "A 2 3 4 5 6 7 8");
    tree.by(&agent("s", 1), "a", "B 2 3 4 5 6 7 8");
    let sessions = ["s".to_owned()];
    tree.authored.restore(&sessions, 1).unwrap();
    tree.by(&agent("s", 2), "a", "C 2 3 4 5 6 7 8");
    tree.authored.restore(&sessions, 1).unwrap();
    tree.check("a", ALL);
}

#[test]
fn undo_restores_removed_and_binary_files_whole() {
    let mut tree = Tree::new(&[("a", TEXT)]);
    tree.place.remove("a");
    tree.authored
        .observe(ObserveScope::All, &agent("s", 1))
        .unwrap();
    tree.authored.undo(&undo_of("s")).unwrap();
    tree.check("a", ALL);
    tree.by(&agent("s", 2), "made", "one");
    tree.by(&ChangeAuthor::Person, "made", "one mine");
    let Err(Error::UndoConflicts(conflicts)) = tree.authored.undo(&undo_of("s")) else {
        panic!("a conflict");
    };
    assert!(conflicts[0].why.contains("modified since"), "{conflicts:?}");
    tree.check("made", "one mine");
}

#[test]
fn lines_become_those_of_the_base() {
    let mut tree = Tree::new(&[("a", TEXT)]);
    tree.by(&agent("s", 1), "a", "A 2 3 4 5 6 7 B C");
    let undone = tree.authored.undo_rows("a", 7..8).unwrap();
    tree.check("a", "A 2 3 4 5 6 7 8");
    tree.authored
        .undo(&UndoSelection::of_operation(undone.operation))
        .unwrap();
    tree.check("a", "A 2 3 4 5 6 7 B C");
    assert!(matches!(
        tree.authored.undo_rows("a", 3..4),
        Err(Error::NothingToUndo)
    ));
}

#[test]
fn lines_that_come_back_are_those_of_whoever_wrote_them() {
    let mut tree = Tree::new(&[("a", TEXT)]);
    tree.by(&ChangeAuthor::Person, "a", "mine 1 2 3 4 5 6 7 8");
    tree.by(&agent("s", 1), "a", "1 2 3 4 5 6 7 8");
    tree.authored.undo(&undo_of("s")).unwrap();
    assert_eq!(
        tree.authored.authors("a", 0..1).unwrap(),
        [Some(ChangeAuthor::Person)]
    );
}

#[test]
fn transferred_work_can_be_undone() {
    let files = [("a", TEXT), ("gone", "x\n")];
    let (place, mut agents) = opened(&files);
    let (own, mut persons) = opened(&files);
    place.change(&mut agents, &agent("s", 1), "a", "A\n2\n3\n4\n5\n6\n7\n8\n");
    place.change(&mut agents, &agent("s", 1), "sub/new", "made\n");
    place.remove("gone");
    own.write("a", "1\n2\n3\n4\n5\n6\n7\nmine\n");
    let over = persons.transfer_from(&mut agents).unwrap();
    assert_eq!(own.read("a").unwrap(), "A\n2\n3\n4\n5\n6\n7\nmine\n");
    assert_eq!(
        (own.read("sub/new").as_deref(), own.read("gone")),
        (Some("made\n"), None)
    );
    assert!(matches!(
        persons.transfer_from(&mut agents),
        Err(Error::NothingToUndo)
    ));
    persons
        .undo(&UndoSelection::of_operation(over.operation))
        .unwrap();
    assert_eq!(own.read("a").unwrap(), "1\n2\n3\n4\n5\n6\n7\nmine\n");
    assert_eq!(
        (own.read("sub/new"), own.read("gone").as_deref()),
        (None, Some("x\n"))
    );
    own.write("a", "my own\n2\n3\n4\n5\n6\n7\n8\n");
    assert!(matches!(
        persons.transfer_from(&mut agents),
        Err(Error::UndoConflicts(_))
    ));
    assert_eq!(own.read("sub/new"), None);
}

/// Simulates a program that dies after `done` files of an operation; another program may then write
/// the first file.
fn die(done: usize, meddling: Option<&str>) -> (Place, ChangeHistory, Vec<String>) {
    let files = [("a", TEXT), ("b", TEXT), ("c", TEXT)];
    let (place, mut authored) = opened(&files);
    for path in ["a", "b", "c"] {
        place.change(&mut authored, &agent("s", 1), path, "other\n");
    }
    let chosen = authored.selected_changes(&undo_of("s"));
    let writes: Vec<FileWrite> = ["a", "b", "c"]
        .iter()
        .map(|path| authored.plan_undo(path, &chosen).unwrap().unwrap())
        .collect();
    let journal = UndoJournal {
        operation: 1,
        at_ms: 1,
        writes,
    };
    let bytes = serde_json::to_vec(&journal).unwrap();
    authored.write_journal(&bytes).unwrap();
    for write in &journal.writes[..done] {
        authored.apply_write(write).unwrap();
    }
    drop(authored);
    if let Some(text) = meddling {
        place.write("a", text);
    }
    let authored = place.open(FakeBase::new(&files, &[]));
    let texts = ["a", "b", "c"].iter().map(|path| place.read(path).unwrap());
    let texts = texts.collect();
    (place, authored, texts)
}

#[test]
fn an_operation_that_was_cut_short_is_finished() {
    for done in 0..=3 {
        let (place, mut authored, texts) = die(done, None);
        assert_eq!(texts, [TEXT, TEXT, TEXT], "{done}");
        assert_eq!(authored.read_journal().unwrap(), None);
        authored.undo(&UndoSelection::of_operation(1)).unwrap();
        assert_eq!(place.read("b").unwrap(), "other\n");
    }
}

#[test]
fn an_operation_that_somebody_got_into_is_taken_back() {
    for done in 0..=3 {
        let (_place, authored, texts) = die(done, Some("meddled\n"));
        assert_eq!(texts, ["meddled\n", "other\n", "other\n"], "{done}");
        assert_eq!(authored.read_journal().unwrap(), None);
        assert_eq!(
            authored.changes().last().unwrap().author,
            ChangeAuthor::Disk
        );
    }
}
