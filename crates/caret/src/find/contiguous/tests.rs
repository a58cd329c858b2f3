//! Tests that contiguous text has the same matches and replacements as a snapshot.

use text::{LineEnding, Snapshot};

use super::Searcher;
use crate::find::{FindQuery, LetterCase, PatternKind, ReplacementTemplate};

#[test]
fn contiguous_text_has_the_matches_of_a_snapshot() {
    let text = "foo a1\r\n\r\nb2 aa\nfoo\n\n";
    for pattern in [
        "foo",
        "^",
        "$",
        "x*",
        "a*",
        r"(\w)(\d)",
        r"\n",
        r"\s+$",
        r"\bfoo\b",
        r"\A(foo)|(o)\z",
        "|a",
        r"(a)|\r?$",
    ] {
        let query = FindQuery {
            pattern: PatternKind::Regex,
            ..FindQuery::literal(pattern)
        };
        let matcher = query.compile().expect("a pattern");
        let snapshot = Snapshot::new(text);
        let replacement = ReplacementTemplate::parse(
            r"<$2$1$&\n>",
            PatternKind::Regex,
            LetterCase::AsTyped,
            LineEnding::CrLf,
        );
        let edits = matcher
            .matches(&snapshot, snapshot.full_span())
            .map(|span| matcher.replace(&snapshot, span, &replacement));
        let expected: Vec<_> = edits.map(|edit| (edit.span.range(), edit.text)).collect();
        let mut searcher = Searcher::new(&matcher);
        let mut matches = searcher.matches(text);
        let mut found = Vec::new();
        while let Some(range) = matches.next() {
            let groups = matches.groups(range.clone());
            let new = matcher.expand(&text[range.clone()], &groups, &replacement);
            found.push((range, new));
        }
        assert_eq!(found, expected, "{pattern}");
    }
}

#[test]
fn matches_before_an_offset_are_passed_over() {
    let matcher = FindQuery::literal("ab").compile().expect("a literal");
    let mut searcher = Searcher::new(&matcher);
    let mut matches = searcher.matches("abab ab");
    assert_eq!(matches.next(), Some(0..2));
    matches.skip_to(4);
    assert_eq!(matches.next(), Some(5..7));
    assert_eq!(matches.next(), None);
}
