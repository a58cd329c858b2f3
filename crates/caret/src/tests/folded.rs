//! Tests commands on rows that folds join into one line.

use base::ByteOffset;

use crate::clipboard::{copy, cut};
use crate::command::Command::{
    self, Delete, DeleteRows, DuplicateDown, DuplicateSelection, DuplicateUp, Indent, JoinRows,
    MoveRowsDown, MoveRowsUp, Newline, NewlineAbove, NewlineBelow, Outdent, SelectBetween,
    SelectRow, SortRows, ToggleLineComment, Transpose,
};
use crate::command::SelectionUnit;
use crate::fixture::Fixture;
use crate::motion::Motion;

/// Returns a text with the block of `f` folded between its braces.
fn braces(marked: &str) -> Fixture {
    Fixture::new(marked).fold("\n    b", ";\n")
}

/// Returns a text with the body of `f` folded from the end of its first row to the end of its last.
fn body(marked: &str) -> Fixture {
    Fixture::new(marked).fold("\n    b", "c")
}

#[track_caller]
fn check_braces(before: &str, command: Command, after: &str) {
    braces(before).check(command, after);
}

/// Runs a command and compares the folds it adds.
#[track_caller]
fn check_fold(fixture: Fixture, command: &Command, after: &str, folded: &[&str]) {
    let plan = fixture.plan(command);
    let folds = plan.fold.clone();
    let mut fixture = fixture;
    fixture.apply(plan);
    assert_eq!(fixture.marked(), after);
    let text = fixture.buffer.snapshot().to_string();
    let folds: Vec<&str> = folds.iter().map(|fold| &text[fold.range()]).collect();
    assert_eq!(folds, folded);
}

/// Asserts that a command unfolds all folds and changes nothing else.
#[track_caller]
fn check_unfolds(fixture: Fixture, command: &Command) {
    let before = fixture.marked();
    let plan = fixture.plan(command);
    assert!(plan.edits.is_empty(), "{before:?}: {:?}", plan.edits);
    assert_eq!(plan.unfold, fixture.folds, "{before:?}");
    let mut fixture = fixture;
    fixture.apply(plan);
    assert_eq!(fixture.marked(), before);
}

#[test]
fn copy_cut_and_delete_take_the_whole_folded_row() {
    for before in ["a\nfˇ {\n    b;\n}\nx", "a\nf {\n    b;\n}ˇ\nx"] {
        let copied = braces(before).with(copy).expect("something to copy");
        assert_eq!(copied.text(), "f {\n    b;\n}\n");
        assert!(copied.pieces()[0].is_whole_row);
        let (copied, plan) = braces(before).with(cut).expect("something to cut");
        assert_eq!(copied.text(), "f {\n    b;\n}\n");
        let mut fixture = braces(before);
        fixture.apply(plan);
        assert_eq!(fixture.marked(), "a\nˇx");
    }
    check_braces("a\nfˇ {\n    b;\n}\nxy", DeleteRows, "a\nxˇy");
    check_braces("a\nfˇ {\n    b;\n}", DeleteRows, "aˇ");
    let twice = braces("fˇ {\n    b;\n}ˇ\nx").with(copy);
    assert_eq!(twice.expect("something to copy").pieces().len(), 1);
    let (_, plan) = body("a\nf:\n    b\n    cˇ")
        .with(cut)
        .expect("a row to cut");
    let mut fixture = body("a\nf:\n    b\n    cˇ");
    fixture.apply(plan);
    assert_eq!(fixture.marked(), "aˇ");
}

#[test]
fn a_folded_row_moves_and_is_copied_as_a_whole() {
    check_braces(
        "fˇ {\n    b;\n}\nx\ny",
        MoveRowsDown,
        "x\nfˇ {\n    b;\n}\ny",
    );
    check_braces("fˇ {\n    b;\n}\nx", MoveRowsDown, "x\nfˇ {\n    b;\n}");
    check_braces("x\nfˇ {\n    b;\n}", MoveRowsUp, "fˇ {\n    b;\n}\nx");
    check_fold(
        braces("fˇ {\n    b;\n}\nx"),
        &DuplicateDown,
        "f {\n    b;\n}\nfˇ {\n    b;\n}\nx",
        &["\n    b;\n"],
    );
    check_fold(
        braces("fˇ {\n    b;\n}"),
        &DuplicateUp,
        "fˇ {\n    b;\n}\nf {\n    b;\n}",
        &["\n    b;\n"],
    );
    check_braces(
        "f {\n    b;\n}ˇ\nx",
        DuplicateSelection,
        "f {\n    b;\n}\nf {\n    b;\n}ˇ\nx",
    );
}

#[test]
fn a_row_moves_past_all_of_a_folded_one() {
    check_fold(
        braces("xˇ\nf {\n    b;\n}\ny"),
        &MoveRowsDown,
        "f {\n    b;\n}\nxˇ\ny",
        &["\n    b;\n"],
    );
    check_fold(
        braces("f {\n    b;\n}\nxˇ"),
        &MoveRowsUp,
        "xˇ\nf {\n    b;\n}",
        &["\n    b;\n"],
    );
    check_fold(
        body("f:\n    b\n    c\r\nxˇ"),
        &MoveRowsUp,
        "xˇ\r\nf:\n    b\n    c",
        &["\n    b\n    c"],
    );
}

#[test]
fn selecting_indenting_and_commenting_take_the_whole_folded_row() {
    check_braces(
        "a\nfˇ {\n    b;\n}\nx",
        SelectRow,
        "a\n«f {\n    b;\n}\nˇ»x",
    );
    check_braces(
        "a\nf {\n    b;\n}ˇ\nx",
        SelectRow,
        "a\n«f {\n    b;\n}\nˇ»x",
    );
    check_braces(
        "«aˇ»\nf {\n    b;\n}\nx",
        SelectRow,
        "«a\nˇ»f {\n    b;\n}\nx",
    );
    check_braces(
        "«a\nˇ»f {\n    b;\n}\nx",
        SelectRow,
        "«a\nf {\n    b;\n}\nˇ»x",
    );
    check_braces(
        "fˇ {\n    b;\n}\nx",
        Indent,
        "    fˇ {\n        b;\n    }\nx",
    );
    body("    f:\n    b\n    cˇ").check(Outdent, "f:\nb\ncˇ");
    braces("fˇ {\n    b;\n}\nx")
        .language("Rust")
        .check(ToggleLineComment, "// fˇ {\n//     b;\n// }\nx");
}

#[test]
fn a_pointer_selects_a_folded_row_as_a_whole() {
    let between = |from, to| SelectBetween {
        from: ByteOffset(from),
        to: ByteOffset(to),
        unit: SelectionUnit::Row,
        keep_others: false,
    };
    let before = "ˇa\nf {\n    b;\n}\nx";
    check_braces(before, between(3, 3), "a\n«f {\n    b;\n}\nˇ»x");
    check_braces(before, between(0, 3), "«a\nf {\n    b;\n}\nˇ»x");
    check_braces(before, between(3, 0), "«ˇa\nf {\n    b;\n}\n»x");
}

#[test]
fn joining_a_folded_row_takes_the_next_visible_row() {
    check_braces("fˇ {\n    b;\n}\n  x\ny", JoinRows, "f {\n    b;\n}ˇ x\ny");
    check_braces(
        "«a\nfˇ» {\n    b;\n}\nx",
        JoinRows,
        "«a fˇ» {\n    b;\n}\nx",
    );
    check_braces("fˇ {\n    b;\n}", JoinRows, "fˇ {\n    b;\n}");
    body("fˇ:\n    b\n    c\nx").check(JoinRows, "f:\n    b\n    cˇ x");
}

#[test]
fn sorting_keeps_hidden_rows_with_their_first_one() {
    check_braces(
        "«z\nf {\n    b;\n}\na\nˇ»",
        SortRows,
        "«a\nf {\n    b;\n}\nz\nˇ»",
    );
    check_braces(
        "«z\nq\nf {\n    b;\n}ˇ»",
        SortRows,
        "«f {\n    b;\n}\nq\nzˇ»",
    );
}

#[test]
fn rows_open_beyond_what_is_folded() {
    check_braces("fˇ {\n    b;\n}\nx", NewlineBelow, "f {\n    b;\n}\nˇ\nx");
    check_braces("f {\n    b;\n}ˇ\nx", NewlineAbove, "ˇ\nf {\n    b;\n}\nx");
}

#[test]
fn deleting_at_a_fold_shows_what_it_hides() {
    let before = "x f {ˇ\n    b;\n} y\nz";
    for motion in [
        Motion::Right,
        Motion::WordRight,
        Motion::SubwordRight,
        Motion::RowEnd,
    ] {
        check_unfolds(braces(before), &Delete(motion));
    }
    let behind = "x f {\n    b;\nˇ} y\nz";
    for motion in [
        Motion::Left,
        Motion::WordLeft,
        Motion::SubwordLeft,
        Motion::RowStart,
    ] {
        check_unfolds(braces(behind), &Delete(motion));
    }
    check_unfolds(braces(before), &Delete(Motion::MatchingBracket));
    let indented = Fixture::new("  f {\n    b;\n  }ˇ\nx").fold("\n    b", ";\n  ");
    check_unfolds(indented, &Delete(Motion::RowStart));
    check_unfolds(body("f:\n    b\n    cˇ\nx"), &Delete(Motion::Left));
    check_unfolds(body("f:ˇ\n    b\n    c\nx"), &Delete(Motion::Right));
}

#[test]
fn deleting_beside_a_fold_takes_what_is_in_sight() {
    check_braces(
        "f {ˇ\n    b;\n}\nx",
        Delete(Motion::Left),
        "f ˇ\n    b;\n}\nx",
    );
    check_braces(
        "f {\n    b;\nˇ}\nx",
        Delete(Motion::Right),
        "f {\n    b;\nˇ\nx",
    );
    check_braces(
        "ˇf {\n    b;\n}\nx",
        Delete(Motion::RowEnd),
        "ˇ\n    b;\n}\nx",
    );
    body("f:\n    b\n    cˇ\nx").check(Delete(Motion::Right), "f:\n    b\n    cˇx");
    // A selection and the rest of the file include hidden text.
    check_braces("f «{\n    b;\nˇ»}\nx", Delete(Motion::Right), "f ˇ}\nx");
    check_braces("f ˇ{\n    b;\n}\nx", Delete(Motion::FileEnd), "f ˇ");
    check_braces(
        "f ˇ{\n    b;\n}\nx",
        Delete(Motion::MatchingBracket),
        "f ˇ\nx",
    );
}

#[test]
fn each_caret_deletes_or_unfolds_for_itself() {
    let mut fixture = braces("aˇa\nf {ˇ\n    b;\n}\nx");
    let plan = fixture.plan(&Delete(Motion::Right));
    assert_eq!(plan.unfold, fixture.folds);
    fixture.apply(plan);
    assert_eq!(fixture.marked(), "aˇ\nf {ˇ\n    b;\n}\nx");
}

#[test]
fn characters_do_not_change_places_with_hidden_ones() {
    let behind = Fixture::new("f {\n    b;\n  ˇ}x").fold("\n    b", ";\n  ");
    check_unfolds(behind, &Transpose);
    check_unfolds(body("f:\n    b\n    cˇd"), &Transpose);
}

#[test]
fn a_line_break_at_a_fold_unfolds_it() {
    let fixture = braces("f {ˇ\n    b;\n}\nx");
    assert_eq!(fixture.plan(&Newline).unfold, fixture.folds);
    fixture.check(Newline, "f {\n    ˇ\n    b;\n}\nx");
    let fixture = body("f:\n    b\n    cˇ\nx");
    assert!(fixture.plan(&Newline).unfold.is_empty());
    fixture.check(Newline, "f:\n    b\n    c\n    ˇ\nx");
}
