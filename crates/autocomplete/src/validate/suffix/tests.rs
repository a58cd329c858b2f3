//! Joins completions with the text after the caret.

use super::{SuffixRepeat, joined, repeats};
use crate::samples::state;

fn check(text: &str, new: &str, expected: &str) {
    let state = state("", text);
    let edit = joined(&state.snapshot, state.caret, new);
    let mut whole = state.snapshot.to_string();
    whole.replace_range(edit.span.range(), &edit.new);
    assert_eq!(whole, expected, "{text} + {new}");
}

#[test]
fn a_suggestion_does_not_repeat_the_rest_of_the_line() {
    check("f(ˇ);\n", "a, b);", "f(a, b);\n");
    check("f(ˇ)\n", "a) {\n    x\n}", "f(a) {\n    x\n}\n");
    check("let x = ˇ;", "1", "let x = 1;");
    check("let ˇ = 1;", "größe", "let größe = 1;");
    check("let ˇ = 1;", "x = 1;", "let x = 1;");
    check("ˇ\nb", "a\nc", "a\nc\nb");
}

#[test]
fn repeated_suffixes_differ_from_closers() {
    let verdict = |text, new: &str| {
        let state = state("", text);
        repeats(&state.snapshot, &joined(&state.snapshot, state.caret, new))
    };
    assert_eq!(verdict("ˇabc", "ab"), SuffixRepeat::No, "the word goes on");
    assert_eq!(verdict("ˇabc d", "abc"), SuffixRepeat::Words);
    assert_eq!(verdict("ˇ\nabc", "x"), SuffixRepeat::No);
    assert_eq!(verdict("ˇ\nlet a = 1;", "let a = 1;"), SuffixRepeat::Words);
}

#[test]
fn rows_that_end_with_the_next_row_repeat_it() {
    let verdict = |text, new: &str| {
        let state = state("", text);
        repeats(&state.snapshot, &joined(&state.snapshot, state.caret, new))
    };
    let text = "ˇ\n    alpha(1);\n    beta(2);\n";
    assert_eq!(verdict(text, "zero();\n    alpha(1);"), SuffixRepeat::Words);
    assert_eq!(verdict(text, "zero();\n    alpha(1, 2);"), SuffixRepeat::No);
    assert_eq!(
        verdict("ˇ\n}\n", "zero();\n}"),
        SuffixRepeat::No,
        "a closer"
    );
}

#[test]
fn signs_before_another_row_repeat_nothing() {
    let verdict = |text, new: &str| {
        let state = state("", text);
        let edit = crate::samples::suggestion(&state, base::Span::at(state.caret), new);
        repeats(&state.snapshot, &edit.edits[0])
    };
    assert_eq!(verdict("/**\n * a\nˇ   */\n", " *"), SuffixRepeat::No);
    assert_eq!(verdict("f(a ˇ+ b)", "+"), SuffixRepeat::Words);
    assert_eq!(
        verdict("import (\n\t\"errorsˇ\t\"fmt\"\n)\n", "\""),
        SuffixRepeat::No
    );
    assert_eq!(verdict("f(\"abcˇ\")", "\""), SuffixRepeat::Closers);
    assert_eq!(verdict("f(aˇ )", ")"), SuffixRepeat::Closers);
}
