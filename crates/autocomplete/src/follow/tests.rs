//! Changes that type into, move and contradict a suggestion.

use base::{ByteOffset, Span};
use text::{Buffer, Edit, EditOrigin, Timestamp};

use crate::{FollowResult, SuggestedEdit, Suggestion, SuggestionId, SuggestionSource};

fn suggestion(buffer: &Buffer, span: Span, new: &str) -> Suggestion {
    let snapshot = buffer.snapshot();
    Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: snapshot.revision(),
        edits: vec![SuggestedEdit::new(span, new, &snapshot)],
        source: SuggestionSource::Continuation,
        confidence: 0.5,
    }
}

fn apply(buffer: &mut Buffer, suggestion: &Suggestion) -> String {
    let edits: Vec<Edit> = suggestion.accept_edits(crate::AcceptGranularity::All);
    buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
    buffer.snapshot().to_string()
}

/// `text` has `|` at the place of the suggestion `new`; `typed` replaces what lies at `at`.
fn check(
    text: &str,
    new: &str,
    (at, typed): (std::ops::Range<usize>, &str),
    fate: FollowResult,
    end: &str,
) {
    let place = text.find('|').expect("a place");
    let mut buffer = Buffer::new(&text.replacen('|', "", 1));
    let mut offered = suggestion(&buffer, Span::at(ByteOffset(place)), new);
    let change = buffer.replace(Span::from(at), typed, &EditOrigin::typing(Timestamp(0)));
    assert_eq!(offered.follow(&change, &buffer.snapshot()), fate, "{typed}");
    if matches!(fate, FollowResult::Moved | FollowResult::Consumed) {
        assert_eq!(apply(&mut buffer, &offered), end, "{typed}");
    }
}

#[test]
fn typing_the_suggestion_consumes_it() {
    check("a|", "bcd", (1..1, "b"), FollowResult::Consumed, "abcd");
    check("a|", "bcd", (1..1, "bcd"), FollowResult::Completed, "abcd");
    check("a|", "bcd", (1..1, "x"), FollowResult::Dropped, "");
    check("a|", "bcd", (1..1, "bcdx"), FollowResult::Dropped, "");
}

#[test]
fn an_inserted_closer_belongs_to_the_suggestion() {
    check(
        "f|",
        "(a, b)",
        (1..1, "()"),
        FollowResult::Consumed,
        "f(a, b)",
    );
    check(
        "f|",
        "(a) {",
        (1..1, "()"),
        FollowResult::Consumed,
        "f(a) {",
    );
    check("f|", "(a", (1..1, "()"), FollowResult::Dropped, "");
}

#[test]
fn changes_elsewhere_move_and_changes_in_its_word_drop() {
    check(
        "one\na|",
        "bc",
        (0..3, "three"),
        FollowResult::Moved,
        "three\nabc",
    );
    check("a| z", "bc", (3..3, "!"), FollowResult::Moved, "abc z!");
    check("a|", "bc", (0..1, ""), FollowResult::Dropped, "");
}

#[test]
fn typing_a_suggestion_in_any_steps_gives_one_text() {
    let new = "größe(α, \"β\") {\n    x\n}";
    for cut in new.char_indices().map(|(at, _)| at).skip(1) {
        let mut buffer = Buffer::new("let ;");
        let mut offered = suggestion(&buffer, Span::at(ByteOffset(4)), new);
        let mut at = 4;
        for piece in [&new[..cut], &new[cut..]] {
            let change = buffer.replace(
                Span::at(ByteOffset(at)),
                piece,
                &EditOrigin::typing(Timestamp(0)),
            );
            at += piece.len();
            let fate = offered.follow(&change, &buffer.snapshot());
            assert_ne!(fate, FollowResult::Dropped, "{cut}");
            assert_ne!(fate, FollowResult::Moved, "{cut}");
        }
        assert!(offered.edits.is_empty());
        assert_eq!(buffer.snapshot().to_string(), format!("let {new};"));
    }
}
