//! Ends of rows, and rows that are cut.

use base::Span;

use super::{is_line_end, quotes};
use crate::samples::{state, suggestion};
use crate::validate::trial::Trial;

/// Checks whether `new` may end at the caret of a Go text, with its last bracket left open.
fn check(text: &str, new: &str, expected: bool) {
    let state = state("go", text);
    let trial = Trial::new(
        &state,
        &suggestion(&state, Span::at(state.caret), new).edits,
    );
    let trial = trial.expect("a tree");
    let open = new.rfind(['(', '[', '{']);
    let own: Vec<(usize, char)> = open
        .map(|at| (trial.prefix.len() + at, '('))
        .into_iter()
        .collect();
    assert_eq!(is_line_end(&trial, &own), expected, "{text} + {new}");
}

#[test]
fn a_row_ends_after_a_separator_or_an_opening_bracket() {
    let text = "package a\n\nfunc f() {\n\tˇ\n}\n";
    check(text, "f(", true);
    check(text, "f(a,", true);
    check(text, "f(a +", true);
    check(text, "f(a", false);
    check(text, "f(\"a\"", false);
    check(text, "f(\n\t\ta,\n\t\tb", true);
    check(text, "a.b", true);
}

#[test]
fn a_row_does_not_end_in_a_string() {
    let text = "package a\n\nfunc f() {\n\tˇ\n}\n";
    check(text, "x := \"abc", false);
    check(text, "x := \"abc\"", true);
    check("package a\n\nvar x = \"aˇ\n", "bc", true);
    check("package a\n\nvar x = \"aˇ\n", "bc\"", true);
    assert_eq!(quotes("a \"b\\\"c\" \"\"\""), 2);
}
