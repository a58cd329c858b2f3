//! Tests of the rows and arguments of the history.

use super::{LogParser, LogQuery, LogRow, Pickaxe, RefKind, log_call, ref_labels};

const OUTPUT: &[u8] = b"1111111111111111111111111111111111111111\x002222222222222222222222222222222222222222 \
3333333333333333333333333333333333333333\0A B\0a@b\x00170\0HEAD -> refs/heads/main, tag: refs/tags/v, 1\0one\0\
2222222222222222222222222222222222222222\0\0C\0c@d\x00160\0\0\0";

fn read(piece: usize) -> Vec<LogRow> {
    let mut parser = LogParser::default();
    OUTPUT
        .chunks(piece)
        .flat_map(|bytes| parser.feed(bytes))
        .collect()
}

#[test]
fn rows_do_not_depend_on_pieces() {
    let rows = read(usize::MAX);
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].parents.len(), rows[0].seconds), (2, 170));
    assert_eq!(
        (rows[0].author.as_str(), rows[0].subject.as_str()),
        ("A B", "one")
    );
    assert_eq!((rows[1].parents.len(), rows[1].subject.as_str()), (0, ""));
    for piece in [1, 7, 64] {
        assert_eq!(read(piece), rows);
    }
}

#[test]
fn a_damaged_row_does_not_shift_the_next() {
    let mut damaged = b"garbage\0more\0".to_vec();
    damaged.extend_from_slice(OUTPUT);
    let mut parser = LogParser::default();
    assert_eq!(parser.feed(&damaged), read(usize::MAX));
}

#[test]
fn references_have_kinds() {
    let labels =
        ref_labels("HEAD -> refs/heads/a/b, refs/remotes/o/c, tag: refs/tags/d, refs/stash");
    let kinds: Vec<_> = labels
        .iter()
        .map(|it| (it.kind, it.name.as_str(), it.is_head))
        .collect();
    let expected = [
        (RefKind::Branch, "a/b", true),
        (RefKind::Remote, "o/c", false),
        (RefKind::Tag, "d", false),
        (RefKind::Other, "refs/stash", false),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(ref_labels("HEAD")[0].kind, RefKind::Head);
    assert!(ref_labels("").is_empty());
}

#[test]
fn filters_become_arguments() {
    let query = LogQuery {
        range: vec!["a..b".to_owned()],
        path: Some("-x".into()),
        follow: true,
        pickaxe: Some(Pickaxe::Count("-y".to_owned())),
        ..LogQuery::default()
    };
    let call = log_call(&query, &[]).expect("good names");
    let end = &call.arguments[call.arguments.len() - 5..];
    assert_eq!(end, ["-S-y", "--follow", "a..b", "--", "-x"]);
    let bad = LogQuery {
        range: vec!["--output=x".to_owned()],
        ..LogQuery::default()
    };
    log_call(&bad, &[]).expect_err("an option");
}
