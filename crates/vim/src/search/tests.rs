//! Tests of search lines.

use super::{OffsetBase, SearchLine, SearchOffset, split_pattern};

#[test]
fn offsets_and_chains_follow_the_pattern() {
    let line = SearchLine::parse("a\\/b/e+2;?x?", true);
    assert_eq!(line.pattern, "a/b");
    let expected = SearchOffset {
        base: OffsetBase::End,
        count: 2,
    };
    assert_eq!(line.offset, Some(expected));
    assert_eq!(line.next, Some((false, "x?".to_owned())));
    let lines = SearchLine::parse("?-", false).offset;
    let expected = SearchOffset {
        base: OffsetBase::Lines,
        count: -1,
    };
    assert_eq!(lines, Some(expected));
}

#[test]
fn delimiters_in_collections_do_not_end_patterns() {
    assert_eq!(split_pattern("[/]x/g", '/'), ("[/]x".to_owned(), Some("g")));
    assert_eq!(split_pattern("[/x", '/'), ("[".to_owned(), Some("x")));
    assert_eq!(split_pattern("abc", '/'), ("abc".to_owned(), None));
}
