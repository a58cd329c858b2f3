//! Suggestions that pass and suggestions that each rule rejects.

use std::time::Duration;

use base::{ByteOffset, Span};
use text::{Buffer, EditOrigin, Timestamp};

use super::{RecentEdits, RejectReason, check};
use crate::samples::{state, state_of, suggestion};
use crate::{ChangeCause, DocumentEdit, EditHistory};

/// Checks a suggestion of `new` at the caret of `text`.
fn verdict(language: &str, text: &str, new: &str) -> Result<(), RejectReason> {
    let state = state(language, text);
    let suggestion = suggestion(&state, Span::at(state.caret), new);
    check(&state, &suggestion, &RecentEdits::default())
}

#[test]
fn a_fitting_suggestion_passes() {
    assert_eq!(verdict("rust", "fn a() { let x = ˇ; }", "b(1)"), Ok(()));
    assert_eq!(verdict("", "one ˇ", "two"), Ok(()));
    assert_eq!(
        verdict("rust", "fn a() { f(g(1ˇ); }", ")"),
        Ok(()),
        "it was missing"
    );
}

#[test]
fn each_rule_rejects() {
    let cases = [
        ("rust", "fn a() {ˇ}", "   \n", RejectReason::Blank),
        (
            "rust",
            "fn a() { ˇlet x = 1; }",
            "let x = 1;",
            RejectReason::RepeatsSuffix,
        ),
        (
            "rust",
            "fn a() { f(1ˇ); }",
            ")",
            RejectReason::RepeatsSuffix,
        ),
        (
            "rust",
            "fn a() {\n    ˇ\n    first(1);\n    second(2);\n}",
            "zero();\n    first(1);\n    second(2);",
            RejectReason::RepeatsSuffix,
        ),
        (
            "rust",
            "fn a() {\n    x.going();\n    ˇ\n}",
            "x.going();\n    x.going();",
            RejectReason::Repeats,
        ),
        ("", "ˇ", "let x = abcd abcd abcd", RejectReason::Repeats),
        (
            "rust",
            "fn a() {\n    open(1);\n    shut(2);ˇ\n}",
            "\n    open(1);\n    shut(2);",
            RejectReason::Repeats,
        ),
        ("rust", "fn a() {ˇ}", " if x { y(; }", RejectReason::Breaks),
    ];
    for (language, text, new, refused) in cases {
        assert_eq!(verdict(language, text, new), Err(refused), "{text} + {new}");
    }
}

#[test]
fn a_suggestion_for_changed_text_is_stale() {
    let state = state("", "abc");
    let mut suggestion = suggestion(&state, Span::from(0..1), "x");
    suggestion.edits[0].old = "z".into();
    assert_eq!(
        check(&state, &suggestion, &RecentEdits::default()),
        Err(RejectReason::Stale)
    );
}

#[test]
fn every_reason_is_a_sentence_part() {
    let all = [
        RejectReason::Stale,
        RejectReason::Blank,
        RejectReason::RepeatsSuffix,
        RejectReason::Repeats,
        RejectReason::JustGone,
        RejectReason::UnknownName("a".to_owned()),
        RejectReason::CutsWord,
        RejectReason::Breaks,
    ];
    for refused in all {
        let words = refused.to_string();
        assert!(words.contains(' ') && !words.ends_with('.'), "{words}");
    }
}

/// Replaces `old` of `text` by `new` for this cause, then checks a suggestion of a text at an
/// offset.
pub(crate) fn after_an_edit(
    text: &str,
    (old, new): (&str, &str),
    cause: ChangeCause,
    offered: (usize, &str),
) -> Result<(), RejectReason> {
    let mut buffer = Buffer::new(text);
    let before = buffer.snapshot();
    let at = text.find(old).expect("the old text");
    let span = Span::from(at..at + old.len());
    let change = buffer.replace(span, new, &EditOrigin::typing(Timestamp(0)));
    let state = state_of(&buffer, "", ByteOffset(at));
    let edit = DocumentEdit {
        before,
        state: state.clone(),
        change,
        cause,
    };
    let recent = recent_after(&edit);
    let suggestion = suggestion(&state, Span::at(ByteOffset(offered.0)), offered.1);
    check(&state, &suggestion, &recent)
}

/// Returns the recent edits after a single one.
pub(crate) fn recent_after(edit: &DocumentEdit) -> RecentEdits {
    let (mut history, mut recent) = (EditHistory::default(), RecentEdits::default());
    let now = Duration::from_secs(1);
    history.record(edit, now);
    recent.edited(edit, &history, now);
    recent
}
