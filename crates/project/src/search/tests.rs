//! Rows, highlights, limits, unsaved text, cancelling.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::FakeFiles;
use text::{Buffer, LineEnding};

use super::{
    BadQuery, CaseSensitivity, FileMatches, SearchEvent, SearchQuery, SearchScope, SearchSummary,
    search,
};
use crate::walk::WalkBackend;

fn root() -> AbsPath {
    AbsPath::new("/repo").expect("absolute")
}

fn scope(files: &[(&str, &[u8])]) -> SearchScope {
    let fake = FakeFiles::new();
    for (name, content) in files {
        fake.write(&root().join(name), content);
    }
    SearchScope::new(WalkBackend::Listed(Arc::new(fake)), root())
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

/// Formats rows as `name:row: text` with the matches in brackets.
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
        case: CaseSensitivity::Sensitive,
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
        &scope(&[("bin", b"hit\0hit"), ("text", b"\xe9t\xe9 hit \xe9t\xe9\n")]),
    );
    assert_eq!(shown(&files), ["text:0: été [hit] été"]);
    assert_eq!(files[0].rows[0].columns.first(), Some(&(6..9)));
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
fn a_pattern_for_parts_of_chars_is_refused() {
    let (sender, _receiver) = async_channel::unbounded();
    let query = SearchQuery::regex(r"n(?-u:\xC3)");
    let result = search(&query, &scope(&[]), &AtomicBool::new(false), &sender);
    assert!(matches!(result, Err(BadQuery::Pattern(_))), "{result:?}");
}

#[test]
fn every_line_ending_ends_a_row() {
    for ending in ["\n", "\r\n"] {
        let text = ["a  ", "", "b\t", "", "b", ""].join(ending);
        let (two, four) = (format!("a  {ending}"), format!("b{ending}"));
        check(
            &SearchQuery::regex(r"\s+$"),
            &text,
            &["f:0: a[  ]", "f:2: b[\t]"],
        );
        check(&SearchQuery::regex("b$"), &text, &["f:4: [b]"]);
        check(
            &SearchQuery::regex(r"b\s*"),
            &text,
            &["f:2: [b\t]", "f:4: [b]"],
        );
        check(&SearchQuery::regex(r"b\n"), &text, &["f:4: [b]"]);
        check(&SearchQuery::literal("b\n"), &text, &["f:4: [b]"]);
        let (files, _) = run(
            &SearchQuery::regex(r"\s+\n"),
            &scope(&[("f", text.as_bytes())]),
        );
        assert_eq!(
            files[0].rows[0].columns.first(),
            Some(&(1..two.len() + ending.len()))
        );
        let (files, _) = run(
            &SearchQuery::regex(r"b\n"),
            &scope(&[("f", text.as_bytes())]),
        );
        let row = &files[0].rows[0];
        assert_eq!(
            (row.columns[0].clone(), row.ending),
            (0..four.len(), ending)
        );
    }
}

#[test]
fn touching_multi_row_matches_stay_separate() {
    for ending in ["\n", "\r\n"] {
        let text = format!("row x{ending}").repeat(4);
        let (files, summary) = run(
            &SearchQuery::regex(r"row x\n"),
            &scope(&[("f", text.as_bytes())]),
        );
        let rows: Vec<u32> = files[0].rows.iter().map(|row| row.row.0).collect();
        assert_eq!((rows, summary.matches), (vec![0, 1, 2, 3], 4));
    }
    check(
        &SearchQuery::regex(r"a\nb"),
        "a\nba\nb\na\nb",
        &["f:0: [a\nb][a\nb]", "f:3: [a\nb]"],
    );
}

#[test]
fn empty_matches_have_rows_too() {
    let query = SearchQuery::regex("^");
    let (files, summary) = run(&query, &scope(&[("f", b"a\r\n\r\nb\n"), ("g", b"")]));
    let starts: Vec<usize> = files[0].rows.iter().map(|row| row.start.0).collect();
    assert_eq!((starts, summary.matches), (vec![0, 3, 5], 3));
    let (files, _) = run(&SearchQuery::regex("$"), &scope(&[("f", b"a\r\nb")]));
    let ends = files[0].rows.iter().flat_map(|row| row.columns.clone());
    assert_eq!(ends.collect::<Vec<_>>(), [1..1, 1..1]);
}

#[test]
fn files_are_decoded_as_the_editor_opens_them() {
    let text = "größe foo\r\nbar foo\r\n";
    let utf16 = |order: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        let units = mark.encode_utf16().chain(text.encode_utf16());
        units.flat_map(order).collect()
    };
    let latin: Vec<u8> = text.chars().map(|char| char as u8).collect();
    for content in [
        utf16(u16::to_le_bytes, ""),
        utf16(u16::to_be_bytes, ""),
        utf16(u16::to_le_bytes, "\u{feff}"),
        utf16(u16::to_be_bytes, "\u{feff}"),
        format!("\u{feff}{text}").into_bytes(),
        latin,
    ] {
        let scope = scope(&[("f", &content)]);
        let found = |query: &SearchQuery| shown(&run(query, &scope).0);
        let rows = ["f:0: größe [foo]", "f:1: bar [foo]"];
        assert_eq!(found(&SearchQuery::regex("foo$")), rows);
        assert_eq!(found(&SearchQuery::regex(r"foo\n")), rows);
        assert_eq!(found(&SearchQuery::literal("größe")), ["f:0: [größe] foo"]);
        let (files, _) = run(&SearchQuery::literal("bar"), &scope);
        assert_eq!(files[0].rows[0].start.0, "größe foo\r\n".len());
        assert_eq!(files[0].line_ending, LineEnding::CrLf);
    }
}

#[test]
fn file_matches_rebuild_rows_from_known_matches() {
    let text = "one\ntwo one\r\n\none";
    let query = SearchQuery {
        context_rows: 1,
        ..SearchQuery::regex("(o)ne")
    };
    let (files, _) = run(&query, &scope(&[("f", text.as_bytes())]));
    let matches = files[0].rows.iter().flat_map(super::MatchingRow::matches);
    let again = FileMatches::of(&root().join("f"), text, matches, 1);
    assert_eq!(again.as_ref(), files.first());
}

#[test]
fn unsaved_text_replaces_the_file() {
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
fn long_rows_are_truncated_around_the_match() {
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
fn limit_ends_the_search_and_is_reported() {
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
fn invalid_patterns_are_reported() {
    let (sender, _receiver) = async_channel::unbounded();
    let error = search(
        &SearchQuery::regex("a("),
        &scope(&[]),
        &AtomicBool::new(false),
        &sender,
    )
    .expect_err("unclosed");
    assert!(matches!(&error, BadQuery::Pattern(_)), "{error}");
    assert!(error.to_string().starts_with("invalid pattern"), "{error}");
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
fn only_rows_finds_the_same_rows() {
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
                let row = |row: &crate::search::MatchingRow| {
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
