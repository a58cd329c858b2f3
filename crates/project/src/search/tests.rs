//! Rows, highlights, limits, unsaved text, cancelling.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::FakeFiles;
use text::Buffer;

use super::{
    BadQuery, Case, FileMatches, SearchEvent, SearchQuery, SearchScope, SearchSummary, search,
};
use crate::walk::Ground;

fn root() -> AbsPath {
    AbsPath::new("/repo").expect("absolute")
}

fn scope(files: &[(&str, &[u8])]) -> SearchScope {
    let fake = FakeFiles::new();
    for (name, content) in files {
        fake.write(&root().join(name), content);
    }
    SearchScope::new(Ground::Listed(Arc::new(fake)), root())
}

fn run(query: &SearchQuery, scope: &SearchScope) -> (Vec<FileMatches>, SearchSummary) {
    let (sender, receiver) = async_channel::unbounded();
    let summary = search(query, scope, &AtomicBool::new(false), &sender).expect("a good query");
    drop(sender);
    let mut files = Vec::new();
    while let Ok(event) = receiver.recv_blocking() {
        match event {
            SearchEvent::File(matches) => files.push(matches),
            SearchEvent::Problem(problem) => panic!("{problem:?}"),
            SearchEvent::Done(done) => assert_eq!(done, summary),
        }
    }
    (files, summary)
}

/// Rows as `name:row: text` with the matches in brackets.
fn shown(files: &[FileMatches]) -> Vec<String> {
    let mut lines = Vec::new();
    for file in files {
        for row in &file.rows {
            let mut text = row.text.clone();
            for range in row.highlights.iter().rev() {
                text.insert(range.end, ']');
                text.insert(range.start, '[');
            }
            lines.push(format!("{}:{}: {text}", file.path.name(), row.row.0));
        }
    }
    lines
}

#[track_caller]
fn check(query: &SearchQuery, content: &str, expect: &[&str]) {
    let (files, _) = run(query, &scope(&[("f", content.as_bytes())]));
    assert_eq!(shown(&files), expect);
}

#[test]
fn literals_and_expressions() {
    check(
        &SearchQuery::literal("a.b"),
        "a.b axb\r\nnone\na.b",
        &["f:0: [a.b] axb", "f:2: [a.b]"],
    );
    check(
        &SearchQuery::regex("a.b"),
        "a.b axb\n",
        &["f:0: [a.b] [axb]"],
    );
    check(&SearchQuery::regex("^b"), "ab\nb\n", &["f:1: [b]"]);
    check(&SearchQuery::regex("é+"), "caféé\n", &["f:0: caf[éé]"]);
}

#[test]
fn case_and_words() {
    check(
        &SearchQuery::literal("foo"),
        "Foo foo\n",
        &["f:0: [Foo] [foo]"],
    );
    check(
        &SearchQuery::literal("Foo"),
        "Foo foo\n",
        &["f:0: [Foo] foo"],
    );
    let query = SearchQuery {
        case: Case::Sensitive,
        whole_word: true,
        ..SearchQuery::literal("foo")
    };
    check(
        &query,
        "Foo foo foobar foo_ x.foo\n",
        &["f:0: Foo [foo] foobar foo_ x.[foo]"],
    );
}

#[test]
fn a_match_may_span_rows_when_the_pattern_says_so() {
    check(
        &SearchQuery::regex("a\\nb"),
        "x\na\nb\ny\n",
        &["f:1: [a\nb]"],
    );
}

#[test]
fn context_surrounds_a_match() {
    let query = SearchQuery {
        context_rows: 1,
        ..SearchQuery::literal("hit")
    };
    let (files, _) = run(&query, &scope(&[("f", b"a\nb\nhit\nc\nd\n")]));
    assert_eq!(files[0].rows[0].before, ["b"]);
    assert_eq!(files[0].rows[0].after, ["c"]);
}

#[test]
fn binary_files_and_bad_bytes() {
    let (files, summary) = run(
        &SearchQuery::literal("hit"),
        &scope(&[("bin", b"hit\0hit"), ("text", b"\xff hit \xff\n")]),
    );
    assert_eq!(shown(&files), ["text:0: \u{fffd} [hit] \u{fffd}"]);
    assert_eq!(files[0].rows[0].columns.first(), Some(&(2..5)));
    assert_eq!(
        (
            summary.files_searched,
            summary.files_matched,
            summary.matches
        ),
        (2, 1, 1)
    );
}

#[test]
fn a_part_of_a_char_is_highlighted_as_a_char() {
    let scope = scope(&[("f", "né".as_bytes())]);
    let (files, _) = run(&SearchQuery::regex(r"n(?-u:\xC3)"), &scope);
    let row = &files[0].rows[0];
    assert_eq!((row.columns[0].clone(), row.columns.len()), (0..2, 1));
    assert_eq!(shown(&files), ["f:0: [n\u{fffd}]\u{fffd}"]);
}

#[test]
fn unsaved_text_stands_in_for_the_file() {
    let mut scope = scope(&[("f", b"old\n")]);
    let buffer = Buffer::new("new hit\n");
    scope.unsaved.insert(root().join("f"), buffer.snapshot());
    assert_eq!(
        shown(&run(&SearchQuery::literal("hit"), &scope).0),
        ["f:0: new [hit]"]
    );
    assert_eq!(run(&SearchQuery::literal("old"), &scope).1.matches, 0);
}

#[test]
fn a_long_row_is_cut_around_its_first_match() {
    let line = format!("{}hit{}", "x".repeat(100_000), "y".repeat(100_000));
    let (files, _) = run(
        &SearchQuery::literal("hit"),
        &scope(&[("f", line.as_bytes())]),
    );
    let row = &files[0].rows[0];
    assert_eq!(row.columns.first(), Some(&(100_000..100_003)));
    assert!(row.text.len() <= 1_000);
    assert_eq!(&row.text[row.highlights[0].clone()], "hit");
}

#[test]
fn the_limit_cuts_and_says_so() {
    let query = SearchQuery {
        limit: 3,
        ..SearchQuery::literal("a")
    };
    let (files, summary) = run(&query, &scope(&[("f", b"aa\naa\n")]));
    assert_eq!(shown(&files), ["f:0: [a][a]", "f:1: [a]a"]);
    assert_eq!(summary.matches, 3);
    assert!(summary.is_cut);
}

#[test]
fn a_bad_pattern_is_a_sentence() {
    let (sender, _receiver) = async_channel::unbounded();
    let error = search(
        &SearchQuery::regex("a("),
        &scope(&[]),
        &AtomicBool::new(false),
        &sender,
    )
    .expect_err("unclosed");
    assert!(matches!(&error, BadQuery::Pattern(_)), "{error}");
    assert!(
        error.to_string().starts_with("cannot read the pattern"),
        "{error}"
    );
}

#[test]
fn a_cancelled_search_finds_nothing() {
    let (sender, receiver) = async_channel::unbounded();
    let summary = search(
        &SearchQuery::literal("a"),
        &scope(&[("f", b"a")]),
        &AtomicBool::new(true),
        &sender,
    )
    .expect("good");
    assert_eq!(summary.matches, 0);
    assert!(matches!(receiver.try_recv(), Ok(SearchEvent::Done(_))));
}

#[test]
fn rows_alone_are_the_same_rows() {
    let long = format!("{}hit{}", "x".repeat(5_000), " hit".repeat(50));
    let scope = scope(&[
        ("f", b"hit and hit\nnone\n\thit\n"),
        ("g", long.as_bytes()),
        ("h", b"nothing"),
    ]);
    for query in [SearchQuery::literal("hit"), SearchQuery::regex("h.t|^")] {
        let (files, _) = run(&query, &scope);
        let alone = SearchQuery {
            only_rows: true,
            ..query
        };
        let (rows, summary) = run(&alone, &scope);
        let texts = |files: &[FileMatches]| -> Vec<(String, u32, String)> {
            let rows = files.iter().flat_map(|file| {
                let row = |row: &crate::search::FoundRow| {
                    (file.path.to_string(), row.row.0, row.text.clone())
                };
                file.rows.iter().map(row)
            });
            rows.collect()
        };
        assert_eq!(texts(&rows), texts(&files));
        assert_eq!(summary.matches, texts(&rows).len());
        let cut = SearchQuery { limit: 2, ..alone };
        let (some, summary) = run(&cut, &scope);
        assert_eq!((texts(&some).len(), summary.is_cut), (2, true));
    }
}
