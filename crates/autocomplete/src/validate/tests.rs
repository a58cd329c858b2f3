//! What may be shown and what may not, each for its own reason.

use std::time::Duration;

use base::{ByteOffset, Span};
use text::{Buffer, EditOrigin, Timestamp};

use super::{RecentEdits, RejectReason, check};
use crate::ChangeCause;
use crate::samples::{state, state_of, suggestion};

/// Puts `new` at the caret of `text`.
fn verdict(language: &str, text: &str, new: &str) -> Result<(), RejectReason> {
    let state = state(language, text);
    let suggestion = suggestion(&state, Span::at(state.caret), new);
    check(&state, &suggestion, &RecentEdits::default())
}

#[test]
fn what_fits_passes() {
    assert_eq!(verdict("rust", "fn a() { let x = ˇ; }", "b(1)"), Ok(()));
    assert_eq!(verdict("", "one ˇ", "two"), Ok(()));
    assert_eq!(
        verdict("rust", "fn a() { f(g(1ˇ); }", ")"),
        Ok(()),
        "it was missing"
    );
}

#[test]
fn each_rule_refuses() {
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
        ("rust", "fn a() {ˇ}", " if x {", RejectReason::Breaks),
    ];
    for (language, text, new, refused) in cases {
        assert_eq!(verdict(language, text, new), Err(refused), "{text} + {new}");
    }
}

#[test]
fn what_stands_there_no_more_is_stale() {
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
        RejectReason::Breaks,
    ];
    for refused in all {
        let words = refused.to_string();
        assert!(words.contains(' ') && !words.ends_with('.'), "{words}");
    }
}

/// Replaces `old` of `text` by `new` for this reason, then suggests `offered` where that was.
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
    let mut recent = RecentEdits::default();
    let texts = (&before, &state.snapshot);
    let now = (cause, Duration::from_secs(1));
    recent.edited(state.path.as_ref(), texts, &change, now);
    let suggestion = suggestion(&state, Span::at(ByteOffset(offered.0)), offered.1);
    check(&state, &suggestion, &recent)
}
