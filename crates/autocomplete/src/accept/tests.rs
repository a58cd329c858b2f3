//! Taking parts.

use base::Span;
use text::{Buffer, Origin, Timestamp};

use crate::{Fate, Part, Replacement, Source, Suggestion, SuggestionId};

/// Takes `new` for `span` of `text` part by part and tells the texts in between.
fn check(text: &str, span: std::ops::Range<usize>, new: &str, part: Part, steps: &[&str]) {
    let mut buffer = Buffer::new(text);
    let snapshot = buffer.snapshot();
    let mut offered = Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: snapshot.revision(),
        edits: vec![Replacement::new(Span::from(span), new, &snapshot)],
        source: Source::Continuation,
        confidence: 0.5,
    };
    for (ix, step) in steps.iter().enumerate() {
        let edits = offered.taking(part);
        let change = buffer.edit(&edits, &Origin::user(Timestamp(0)));
        assert_eq!(buffer.snapshot().to_string(), *step);
        let fate = offered.follow(&change, &buffer.snapshot());
        let expected = if ix + 1 == steps.len() {
            Fate::Completed
        } else {
            Fate::Consumed
        };
        assert_eq!(fate, expected, "{step}");
    }
}

#[test]
fn by_words() {
    check(
        "let ;",
        4..4,
        "größe = a_b(1)",
        Part::Word,
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
fn by_lines() {
    check(
        "",
        0..0,
        "a {\n  b\n}",
        Part::Line,
        &["a {", "a {\n  b", "a {\n  b\n}"],
    );
}

#[test]
fn around_what_stays() {
    check(
        "f()",
        2..3,
        "a, b) {",
        Part::Word,
        &["f(a)", "f(a,)", "f(a, b)", "f(a, b) {"],
    );
}

#[test]
fn what_replaces_something_is_taken_whole() {
    check("cat", 0..3, "a dog", Part::Word, &["a dog"]);
}
