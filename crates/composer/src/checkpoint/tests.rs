//! Changes taken back on the real disk, also by programs that died half way.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::*;
use crate::authored::tests::{Place, agent};
use crate::authored::{FakeBase, Scope};

mod interleaved;

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n";

fn opened(files: &[(&str, &str)]) -> (Place, Authored) {
    let place = Place::new(files);
    let authored = place.open(FakeBase::new(files, &[]));
    (place, authored)
}

impl Place {
    /// Somebody changes a file, and it is seen.
    fn change(&self, authored: &mut Authored, author: &Author, path: &str, text: &str) {
        self.write(path, text);
        authored.observe(Scope::All, author).unwrap();
    }
}

fn undo_of(session: &str) -> Selection {
    Selection::of_sessions(vec![session.to_owned()])
}

#[test]
fn what_an_agent_did_goes_and_what_the_person_did_beside_it_stays() {
    let (place, mut authored) = opened(&[("a", TEXT)]);
    place.change(
        &mut authored,
        &agent("s", 1),
        "a",
        "1\nA\n2\n3\n4\n5\n6\n7\n8\n",
    );
    place.change(
        &mut authored,
        &Author::Person,
        "a",
        "1\nA\n2\n3\n4\n5\n6\nP\n8\n",
    );
    place.change(&mut authored, &agent("s", 2), "new", "made\n");
    let undone = authored.undo(&undo_of("s")).unwrap();
    assert_eq!(undone.paths, ["a", "new"]);
    assert_eq!(place.read("a").unwrap(), "1\n2\n3\n4\n5\n6\nP\n8\n");
    assert_eq!(place.read("new"), None);
    assert_eq!(authored.undo(&undo_of("s")), Err(Stuck::Nothing));
    // And back again.
    let again = authored
        .undo(&Selection::of_operation(undone.operation))
        .unwrap();
    assert_eq!(place.read("a").unwrap(), "1\nA\n2\n3\n4\n5\n6\nP\n8\n");
    assert_eq!(place.read("new").unwrap(), "made\n");
    authored
        .undo(&Selection::of_operation(again.operation))
        .unwrap();
    assert_eq!(place.read("new"), None);
}

#[test]
fn where_both_changed_the_same_lines_nothing_is_done() {
    let (place, mut authored) = opened(&[("a", TEXT), ("b", TEXT)]);
    place.change(
        &mut authored,
        &agent("s", 1),
        "a",
        "1\nA\n3\n4\n5\n6\n7\n8\n",
    );
    place.change(
        &mut authored,
        &agent("s", 1),
        "b",
        "B\n2\n3\n4\n5\n6\n7\n8\n",
    );
    place.change(
        &mut authored,
        &Author::Person,
        "a",
        "1\nA by me\n3\n4\n5\n6\n7\n8\n",
    );
    let Err(Stuck::Conflicts(conflicts)) = authored.undo(&undo_of("s")) else {
        panic!("a conflict");
    };
    assert_eq!(conflicts.len(), 1);
    assert_eq!(
        (conflicts[0].path.as_str(), conflicts[0].rows.clone()),
        ("a", Some(1..2))
    );
    assert_eq!(place.read("b").unwrap(), "B\n2\n3\n4\n5\n6\n7\n8\n");
    // The other file can be had by itself.
    let only = Selection {
        paths: Some(vec!["b".to_owned()]),
        ..undo_of("s")
    };
    authored.undo(&only).unwrap();
    assert_eq!(place.read("b").unwrap(), TEXT);
}

#[test]
fn a_turn_finds_things_again_as_it_found_them() {
    let (place, mut authored) = opened(&[("a", TEXT)]);
    authored.checkpoint("s", 1).unwrap();
    place.change(
        &mut authored,
        &agent("s", 1),
        "a",
        "1\n2\n3\n4\n5\n6\n7\nend\n",
    );
    authored.checkpoint("s", 2).unwrap();
    place.change(
        &mut authored,
        &agent("s", 2),
        "a",
        "1\n2\n3\nX\n5\n6\n7\nend\n",
    );
    place.change(
        &mut authored,
        &agent("t", 1),
        "a",
        "T\n1\n2\n3\nX\n5\n6\n7\nend\n",
    );
    let sessions = ["s".to_owned()];
    let first = authored.restore(&sessions, 2).unwrap();
    assert_eq!(place.read("a").unwrap(), "T\n1\n2\n3\n4\n5\n6\n7\nend\n");
    authored.restore(&sessions, 1).unwrap();
    assert_eq!(place.read("a").unwrap(), "T\n1\n2\n3\n4\n5\n6\n7\n8\n");
    // What was taken back since then comes again: the second turn found the first one's change.
    authored.restore(&sessions, 2).unwrap();
    assert_eq!(place.read("a").unwrap(), "T\n1\n2\n3\n4\n5\n6\n7\nend\n");
    assert_eq!(first.paths, ["a"]);
    assert_eq!(authored.restore(&sessions, 9), Err(Stuck::Nothing));
}

#[test]
fn an_agent_that_goes_on_after_a_restore_is_restored_again() {
    let (place, mut authored) = opened(&[("a", TEXT)]);
    authored.checkpoint("s", 1).unwrap();
    place.change(
        &mut authored,
        &agent("s", 1),
        "a",
        "A\n2\n3\n4\n5\n6\n7\n8\n",
    );
    place.change(
        &mut authored,
        &agent("s", 1),
        "a",
        "B\n2\n3\n4\n5\n6\n7\n8\n",
    );
    let sessions = ["s".to_owned()];
    authored.restore(&sessions, 1).unwrap();
    place.change(
        &mut authored,
        &agent("s", 2),
        "a",
        "C\n2\n3\n4\n5\n6\n7\n8\n",
    );
    authored.restore(&sessions, 1).unwrap();
    assert_eq!(place.read("a").unwrap(), TEXT);
}

#[test]
fn removed_files_and_binary_ones_come_back_whole_or_not_at_all() {
    let (place, mut authored) = opened(&[("a", TEXT)]);
    place.remove("a");
    authored.observe(Scope::All, &agent("s", 1)).unwrap();
    authored.undo(&undo_of("s")).unwrap();
    assert_eq!(place.read("a").unwrap(), TEXT);
    place.change(&mut authored, &agent("s", 2), "made", "one\n");
    place.change(&mut authored, &Author::Person, "made", "one\nmine\n");
    let Err(Stuck::Conflicts(conflicts)) = authored.undo(&undo_of("s")) else {
        panic!("a conflict");
    };
    assert!(conflicts[0].why.contains("changed since"), "{conflicts:?}");
    assert_eq!(place.read("made").unwrap(), "one\nmine\n");
}

#[test]
fn lines_become_those_of_the_base() {
    let (place, mut authored) = opened(&[("a", TEXT)]);
    place.change(
        &mut authored,
        &agent("s", 1),
        "a",
        "A\n2\n3\n4\n5\n6\n7\nB\nC\n",
    );
    let undone = authored.undo_rows("a", 7..8).unwrap();
    assert_eq!(place.read("a").unwrap(), "A\n2\n3\n4\n5\n6\n7\n8\n");
    authored
        .undo(&Selection::of_operation(undone.operation))
        .unwrap();
    assert_eq!(place.read("a").unwrap(), "A\n2\n3\n4\n5\n6\n7\nB\nC\n");
    assert_eq!(authored.undo_rows("a", 3..4), Err(Stuck::Nothing));
}

#[test]
fn lines_that_come_back_are_those_of_whoever_wrote_them() {
    let (place, mut authored) = opened(&[("a", TEXT)]);
    place.change(
        &mut authored,
        &Author::Person,
        "a",
        "mine\n1\n2\n3\n4\n5\n6\n7\n8\n",
    );
    place.change(
        &mut authored,
        &agent("s", 1),
        "a",
        "1\n2\n3\n4\n5\n6\n7\n8\n",
    );
    authored.undo(&undo_of("s")).unwrap();
    assert_eq!(authored.authors("a", 0..1).unwrap(), [Some(Author::Person)]);
}

#[test]
fn work_is_taken_over_into_another_tree_and_can_be_taken_back() {
    let files = [("a", TEXT), ("gone", "x\n")];
    let (place, mut agents) = opened(&files);
    let (own, mut persons) = opened(&files);
    place.change(&mut agents, &agent("s", 1), "a", "A\n2\n3\n4\n5\n6\n7\n8\n");
    place.change(&mut agents, &agent("s", 1), "sub/new", "made\n");
    place.remove("gone");
    own.write("a", "1\n2\n3\n4\n5\n6\n7\nmine\n");
    let over = persons.take_over(&mut agents).unwrap();
    assert_eq!(own.read("a").unwrap(), "A\n2\n3\n4\n5\n6\n7\nmine\n");
    assert_eq!(
        (own.read("sub/new").as_deref(), own.read("gone")),
        (Some("made\n"), None)
    );
    assert_eq!(persons.take_over(&mut agents), Err(Stuck::Nothing));
    persons
        .undo(&Selection::of_operation(over.operation))
        .unwrap();
    assert_eq!(own.read("a").unwrap(), "1\n2\n3\n4\n5\n6\n7\nmine\n");
    assert_eq!(
        (own.read("sub/new"), own.read("gone").as_deref()),
        (None, Some("x\n"))
    );
    own.write("a", "my own\n2\n3\n4\n5\n6\n7\n8\n");
    assert!(matches!(
        persons.take_over(&mut agents),
        Err(Stuck::Conflicts(_))
    ));
    assert_eq!(own.read("sub/new"), None);
}

/// A program dies after `done` files of an operation; somebody else may write another text into the first.
fn die(done: usize, meddling: Option<&str>) -> (Place, Authored, Vec<String>) {
    let files = [("a", TEXT), ("b", TEXT), ("c", TEXT)];
    let (place, mut authored) = opened(&files);
    for path in ["a", "b", "c"] {
        place.change(&mut authored, &agent("s", 1), path, "other\n");
    }
    let chosen = authored.chosen(&undo_of("s"));
    let writes: Vec<Write> = ["a", "b", "c"]
        .iter()
        .map(|path| authored.without(path, &chosen).unwrap().unwrap())
        .collect();
    let journal = Journal {
        operation: 1,
        at_ms: 1,
        writes,
    };
    let bytes = serde_json::to_vec(&journal).unwrap();
    authored.write_journal(&bytes).unwrap();
    for write in &journal.writes[..done] {
        authored.carry_out(write).unwrap();
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
        assert_eq!(authored.read_journal(), Ok(None));
        authored.undo(&Selection::of_operation(1)).unwrap();
        assert_eq!(place.read("b").unwrap(), "other\n");
    }
}

#[test]
fn an_operation_that_somebody_got_into_is_taken_back() {
    for done in 0..=3 {
        let (_place, authored, texts) = die(done, Some("meddled\n"));
        assert_eq!(texts, ["meddled\n", "other\n", "other\n"], "{done}");
        assert_eq!(authored.read_journal(), Ok(None));
        assert_eq!(authored.changes().last().unwrap().author, Author::Disk);
    }
}
