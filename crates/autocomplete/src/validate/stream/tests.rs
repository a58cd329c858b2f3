//! Responses cut at their end, however they are split into fragments.

use super::{CompletionStream, StreamControl};
use crate::samples::state;

/// What is kept of an answer at the caret of a text, and whether it was cut.
fn check(text: &str, answer: &str, kept: &str, is_cut: bool) {
    for size in [1, 3, 1_000] {
        let state = state("rust", text);
        let mut stream = CompletionStream::new(&state, state.caret);
        let letters: Vec<char> = answer.chars().collect();
        let flows = letters.chunks(size).map(|piece| {
            let piece: String = piece.iter().collect();
            stream.push(&piece)
        });
        let last = flows.last().unwrap_or(StreamControl::More);
        assert_eq!(last == StreamControl::Enough, is_cut, "{answer:?}");
        let edit = stream.finish();
        let new = edit.map(|edit| edit.new.to_string()).unwrap_or_default();
        assert_eq!(new, kept, "{answer:?} by {size}");
    }
}

#[test]
fn a_blank_line_after_a_complete_block_ends_the_response() {
    let text = "fn a() {\n    ˇ\n}\n";
    check(text, "let x = 1;\n\n    let y", "let x = 1;", true);
    check(
        text,
        "if x {\n\n        y();\n    }\n",
        "if x {\n\n        y();\n    }",
        false,
    );
}

#[test]
fn a_dedented_line_ends_the_response() {
    let text = "fn a() {\n    ˇ\n}\n";
    check(text, "let x = 1;\n}\n\nfn b() {", "let x = 1;", true);
}

#[test]
fn a_response_may_begin_with_a_dedented_line() {
    let text = "fn a() {\n    if x {\n        y();ˇ\n";
    check(text, "\n    }\n", "\n    }", false);
    check(text, "\n    }\n}\n", "\n    }", true);
}

#[test]
fn a_repeated_suffix_ends_the_response() {
    let text = "fn a() {\n    ˇ\n    second(2);\n    third(3);\n}\n";
    let answer = "first(1);\n    second(2);\n    third(3);\n}\n";
    check(text, answer, "first(1);", true);
}

#[test]
fn a_blank_response_is_empty() {
    check("fn a() {\n    ˇ\n}\n", "  \n \n", "", false);
}

#[test]
fn responses_are_bounded() {
    let state = state("", "ˇ");
    let mut stream = CompletionStream::new(&state, state.caret);
    let mut flow = StreamControl::More;
    for at in 0..5_000 {
        flow = stream.push(&format!("line number {at}\n"));
    }
    assert_eq!(flow, StreamControl::Enough);
    assert!(stream.text().len() < 10_000);
}
