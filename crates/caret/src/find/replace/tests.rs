//! Tests the expansion of replacements.

use std::sync::atomic::AtomicBool;

use text::{Buffer, EditOrigin, LineEnding, SelectionSet, Timestamp};

use super::{LetterCase, ReplacementTemplate};
use crate::find::{CaseMatching, FindQuery, PatternKind};
use crate::fixture;

struct Swap<'t> {
    pattern: PatternKind,
    find: &'t str,
    with: &'t str,
    letters: LetterCase,
}

#[track_caller]
fn check(text: &str, case: &Swap, after: &str) {
    let query = FindQuery {
        pattern: case.pattern,
        case: CaseMatching::Insensitive,
        ..FindQuery::literal(case.find)
    };
    let matcher = query.compile().expect("a pattern");
    let mut buffer = Buffer::new(text);
    let snapshot = buffer.snapshot();
    let replacement =
        ReplacementTemplate::parse(case.with, case.pattern, case.letters, LineEnding::CrLf);
    let (_, selections) = fixture::parse("");
    let within = [snapshot.full_span()];
    let plan = matcher
        .replace_all(
            &snapshot,
            &selections,
            &within,
            &replacement,
            &AtomicBool::new(false),
        )
        .expect("not cancelled");
    buffer.edit(&plan.edits, &EditOrigin::user(Timestamp(0)));
    assert_eq!(buffer.snapshot().to_string(), after);
}

fn regex<'t>(find: &'t str, with: &'t str) -> Swap<'t> {
    Swap {
        pattern: PatternKind::Regex,
        find,
        with,
        letters: LetterCase::AsTyped,
    }
}

fn literal<'t>(find: &'t str, with: &'t str) -> Swap<'t> {
    Swap {
        pattern: PatternKind::Literal,
        ..regex(find, with)
    }
}

#[test]
fn groups_and_escapes() {
    check("foo(a, b)", &regex(r"(\w), (\w)", "$2, $1"), "foo(b, a)");
    check("ab", &regex("(?<x>a)(?<y>b)", "${y}${x}$$1"), "ba$1");
    check("ab", &regex("(a)(b)", "$12${2}3$3$&"), "a2b3$3ab");
    check("ab", &regex("b|(a)", "[$1]"), "[a][]");
    check("a;b", &regex(";", r"\n\t\\\q$"), "a\r\n\t\\\\q$b");
    check("a;b", &literal(";", r"\n$1"), r"a\n$1b");
    check("a;b", &literal(";", "\n"), "a\r\nb");
    check(
        "one\r\ntwo\r\n",
        &regex(r"^(.)(.*)$", "$2$1"),
        "neo\r\nwot\r\n",
    );
    check("a\nb\nc", &regex(r"\n", ", "), "a, b, c");
    check("aXbX", &regex("x", ""), "ab");
    check("ab\n", &regex("^", "> "), "> ab\n> ");
    check("word words", &regex(r"\b(w)ord\b", "$1"), "w words");
    check("Ä ä", &regex("(ä)", "<$1>"), "<Ä> <ä>");
}

#[test]
fn letters_follow_the_match() {
    let like = |find, with| Swap {
        letters: LetterCase::LikeMatch,
        ..literal(find, with)
    };
    check(
        "foo Foo FOO fOo",
        &like("foo", "barBaz"),
        "barbaz Barbaz BARBAZ barBaz",
    );
    check(
        "foo-bar Foo-Bar FOO-BAR",
        &like("foo-bar", "one-two"),
        "one-two One-Two ONE-TWO",
    );
    check("FooBar", &like("foobar", "oneTwo"), "OneTwo");
    check("12", &like("12", "aB"), "aB");
}

#[test]
fn selections_follow_their_text() {
    let (text, selections): (String, SelectionSet) = fixture::parse("aa ˇb aa «cˇ»");
    let snapshot = Buffer::new(&text).snapshot();
    let matcher = FindQuery::literal("aa").compile().expect("a literal");
    let replacement = ReplacementTemplate::parse(
        "xyz",
        PatternKind::Literal,
        LetterCase::AsTyped,
        LineEnding::Lf,
    );
    let within = [snapshot.full_span()];
    let plan = matcher
        .replace_all(
            &snapshot,
            &selections,
            &within,
            &replacement,
            &AtomicBool::new(false),
        )
        .expect("a plan");
    assert_eq!(plan.edits.len(), 2);
    let ends: Vec<(usize, usize)> = plan
        .selections
        .iter()
        .map(|selection| (selection.anchor.0, selection.head.0))
        .collect();
    assert_eq!(ends, [(4, 4), (10, 11)]);
    let cancelled = matcher.replace_all(
        &snapshot,
        &selections,
        &within,
        &replacement,
        &AtomicBool::new(true),
    );
    assert!(cancelled.is_none());
}
