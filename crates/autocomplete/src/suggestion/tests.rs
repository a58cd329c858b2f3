//! Shapes of suggestions.

use base::{ByteOffset, Row, Span};
use text::Snapshot;

use super::{SuggestedEdit, Suggestion, SuggestionId, SuggestionShape, SuggestionSource};

fn check_insertions(old: &str, new: &str, expected: Option<&[(usize, &str)]>) {
    let snapshot = Snapshot::new(old);
    let edit = SuggestedEdit {
        span: snapshot.full_span(),
        old: old.into(),
        new: new.into(),
    };
    let pieces = edit.insertions();
    let pieces: Option<Vec<(usize, &str)>> = pieces.as_ref().map(|pieces| {
        pieces
            .iter()
            .map(|(at, text)| (at.0, text.as_ref()))
            .collect()
    });
    assert_eq!(pieces.as_deref(), expected, "{old} -> {new}");
}

#[test]
fn pure_insertions_are_ghost_text() {
    check_insertions("", "foo", Some(&[(0, "foo")]));
    check_insertions(")", "a, b)", Some(&[(0, "a, b")]));
    check_insertions(")", "a) {", Some(&[(0, "a"), (1, " {")]));
    check_insertions("abc", "xyz", None);
    check_insertions("abcd", "1a2b3c4d", None);
}

#[test]
fn a_replacement_excludes_unchanged_text() {
    let snapshot = Snapshot::new("let größe = 1;");
    let edit = SuggestedEdit::new(snapshot.full_span(), "let größer = 1;", &snapshot);
    assert_eq!(edit.span, Span::at(ByteOffset("let größe".len())));
    assert_eq!((edit.old.as_ref(), edit.new.as_ref()), ("", "r"));
    assert!(edit.applies_to(&snapshot));
}

#[test]
fn an_off_screen_edit_is_a_jump() {
    let snapshot = Snapshot::new("one\ntwo\nthree\nfour\n");
    let suggestion = Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: snapshot.revision(),
        edits: vec![SuggestedEdit::new(Span::from(8..13), "3", &snapshot)],
        source: SuggestionSource::Continuation,
        confidence: 0.5,
    };
    let caret = ByteOffset(0);
    let shape = |rows| suggestion.shape(caret, rows, &snapshot);
    assert_eq!(
        shape((Row(0), Row(2))),
        SuggestionShape::Jump(ByteOffset(8))
    );
    assert_eq!(shape((Row(0), Row(4))), SuggestionShape::Change);
}
