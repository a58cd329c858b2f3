//! Tests moving, copying, joining and sorting of rows.

use crate::command::Command::{
    DuplicateDown, DuplicateSelection, DuplicateUp, JoinRows, MoveRowsDown, MoveRowsUp,
    ReverseRows, SelectRow, SortRows, SortRowsDescending, SortRowsIgnoringCase, Transpose,
    UniqueRows, UniqueRowsIgnoringCase,
};
use crate::fixture::{Fixture, check};

#[test]
fn rows_move() {
    check("a\nbˇb\nc", MoveRowsUp, "bˇb\na\nc");
    check("a\nbˇb\nc", MoveRowsDown, "a\nc\nbˇb");
    check("a\r\nbˇ", MoveRowsUp, "bˇ\r\na");
    check("aˇ\r\nb", MoveRowsDown, "b\r\naˇ");
    check("aˇ\nb\n", MoveRowsUp, "aˇ\nb\n");
    check("a\nbˇ", MoveRowsDown, "a\nbˇ");
    check("a\n«b\nc\nˇ»d\ne", MoveRowsUp, "«b\nc\nˇ»a\nd\ne");
    check("a\n«b\nc\nˇ»d\ne", MoveRowsDown, "a\nd\n«b\nc\nˇ»e");
    check("aˇ\nb\ncˇ\nd\n", MoveRowsDown, "b\naˇ\nd\ncˇ\n");
    check("a\nbˇ\nc\ndˇ", MoveRowsUp, "bˇ\na\ndˇ\nc");
    check("aˇ\nbˇ\nc", MoveRowsDown, "c\naˇ\nbˇ");
    check("ˇa\nˇb\nc", MoveRowsDown, "c\nˇa\nˇb");
    check("bˇ\n", MoveRowsDown, "\nbˇ");
}

#[test]
fn rows_are_copied() {
    check("aˇ\nb", DuplicateDown, "a\naˇ\nb");
    check("aˇ\nb", DuplicateUp, "aˇ\na\nb");
    check("a\r\nbˇ", DuplicateDown, "a\r\nb\r\nbˇ");
    check("a\r\nbˇ", DuplicateUp, "a\r\nbˇ\r\nb");
    check("«a\nbˇ»\nc", DuplicateDown, "a\nb\n«a\nbˇ»\nc");
    check("«a\nˇ»b", DuplicateDown, "a\n«a\nˇ»b");
    check("aˇ\nb\ncˇ\n", DuplicateUp, "aˇ\na\nb\ncˇ\nc\n");
    check("ˇ", DuplicateDown, "\nˇ");
    check("a«bcˇ»d", DuplicateSelection, "abc«bcˇ»d");
    check("«ˇa» «bˇ»", DuplicateSelection, "a«ˇa» b«bˇ»");
    check("aˇ", DuplicateSelection, "a\naˇ");
}

#[test]
fn rows_are_joined() {
    check("aˇb  \n   cd", JoinRows, "abˇ cd");
    check("«a\n  b\ncˇ»\nd", JoinRows, "«a b cˇ»\nd");
    check("ˇ\nb", JoinRows, "ˇb");
    check("aˇ\r\n\r\nb", JoinRows, "aˇ\r\nb");
    check("aˇ", JoinRows, "aˇ");
    check("aˇ\nb\ncˇ\nd", JoinRows, "aˇ b\ncˇ d");
    check("aˇ\nbˇ\nc", JoinRows, "aˇ bˇ c");
    Fixture::new("  // aˇ\n  // b")
        .language("Rust")
        .check(JoinRows, "  // aˇ b");
}

#[test]
fn rows_are_put_in_order() {
    check("«c\na\nbˇ»\nx", SortRows, "«a\nb\nc\nˇ»x");
    check("c\r\nbˇ\r\na", SortRows, "a\r\nbˇ\r\nc");
    check("b\r\ncˇ\r\na", SortRows, "a\r\nbˇ\r\nc");
    check("ˇb\na\n", SortRows, "ˇa\nb\n");
    check("b\r\na\nˇc", SortRowsDescending, "c\r\nb\nˇa");
    check("b\nA\na\nˇB", SortRows, "A\nB\na\nˇb");
    check("b\nA\na\nˇB", SortRowsIgnoringCase, "A\na\nb\nˇB");
    check("a\nb\na\nˇ", UniqueRows, "a\nb\nˇ");
    check("ˇa\nA\nb\nB", UniqueRowsIgnoringCase, "ˇa\nb");
    check("ˇa\nb\nc\n", ReverseRows, "ˇc\nb\na\n");
    check("ˇ", SortRows, "ˇ");
}

#[test]
fn characters_change_places() {
    check("aˇb", Transpose, "baˇ");
    check("abˇ\n", Transpose, "baˇ\n");
    check("ˇab", Transpose, "ˇab");
    check("e\u{301}ˇx", Transpose, "xe\u{301}ˇ");
    check("a\r\nˇb", Transpose, "a\r\nˇb");
    check("«aˇ»-«bcˇ»-«dˇ»", Transpose, "«dˇ»-«aˇ»-«bcˇ»");
}

#[test]
fn whole_rows_are_selected() {
    check("aˇb\r\nc", SelectRow, "«ab\r\nˇ»c");
    check("«ab\nˇ»c\nd", SelectRow, "«ab\nc\nˇ»d");
    check("a\nˇb", SelectRow, "a\n«bˇ»");
    check("a\nˇ", SelectRow, "a\nˇ");
}
