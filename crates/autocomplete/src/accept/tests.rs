//! Accepting words, lines and whole suggestions.

use base::Span;
use text::{Buffer, EditOrigin, Timestamp};

use crate::{
    AcceptGranularity, FollowResult, SuggestedEdit, Suggestion, SuggestionId, SuggestionSource,
};

/// Takes `new` for `span` of `text` part by part and tells the texts in between.
fn check(
    text: &str,
    span: std::ops::Range<usize>,
    new: &str,
    part: AcceptGranularity,
    steps: &[&str],
) {
    let mut buffer = Buffer::new(text);
    let snapshot = buffer.snapshot();
    let mut offered = Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: snapshot.revision(),
        edits: vec![SuggestedEdit::new(Span::from(span), new, &snapshot)],
        source: SuggestionSource::Continuation,
        confidence: 0.5,
    };
    for (ix, step) in steps.iter().enumerate() {
        let edits = offered.accept_edits(part);
        let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        assert_eq!(buffer.snapshot().to_string(), *step);
        let fate = offered.follow(&change, &buffer.snapshot());
        let expected = if ix + 1 == steps.len() {
            FollowResult::Completed
        } else {
            FollowResult::Consumed
        };
        assert_eq!(fate, expected, "{step}");
    }
}

#[test]
fn accept_by_word() {
    check(
        "let ;",
        4..4,
        "größe = a_b(1)",
        AcceptGranularity::Word,
        &[
            "let größe;",
            "let größe =;",
            "let größe = a_b;",
            "let größe = a_b(;",
            "let größe = a_b(1;",
            "let größe = a_b(1);",
        ],
    );
}

#[test]
fn accept_by_line() {
    check(
        "",
        0..0,
        "a {\n  b\n}",
        AcceptGranularity::Line,
        &["a {", "a {\n  b", "a {\n  b\n}"],
    );
}

#[test]
fn accept_keeps_unchanged_text() {
    check(
        "f()",
        2..3,
        "a, b) {",
        AcceptGranularity::Word,
        &["f(a)", "f(a,)", "f(a, b)", "f(a, b) {"],
    );
}

#[test]
fn a_replacement_is_accepted_as_a_whole() {
    check("cat", 0..3, "a dog", AcceptGranularity::Word, &["a dog"]);
}
