//! Words that are cut, and short ones.

use base::Span;

use super::is_cut;
use crate::samples::{state, suggestion};

fn check(text: &str, new: &str, expected: bool) {
    let state = state("rust", text);
    let edit = &suggestion(&state, Span::at(state.caret), new).edits[0];
    assert_eq!(is_cut(&state, edit), expected, "{text} + {new}");
}

#[test]
fn a_word_is_cut_if_only_longer_ones_are_known() {
    let text = "fn compute(users: u8) {\n    let user_id = 1;\n    ˇ\n}\n";
    check(text, "let x = comp", true);
    check(text, "let x = compute", false);
    check(text, "let x = user", false);
    check(text, "let x = unknown", false);
    check(text, "retur", true);
    check(text, "return", false);
    check(text, "let x = compute(1);", false);
    check(text, "// comp", false);
    check(text, "f(\"comp", false);
}

#[test]
fn a_begun_word_counts_with_the_suggestion() {
    let text = "fn compute() {\n    let compact = coˇ;\n}\n";
    check(text, "mp", true);
    check(text, "mpute", false);
    let text = "fn compute() {\n    coˇute();\n}\n";
    check(text, "mp", false);
}
