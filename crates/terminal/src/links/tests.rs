//! Links in lines as tools print them.

use super::*;
use crate::test_terminal::fed;

/// Returns `path|line|column|underlined text` for each path.
fn paths(line: &str) -> Vec<String> {
    let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
    let links = find_paths(line).into_iter();
    links
        .map(|link| {
            let shown = &line[link.span.clone()];
            format!(
                "{}|{}|{}|{shown}",
                link.path,
                number(link.line),
                number(link.column)
            )
        })
        .collect()
}

#[test]
fn paths_of_tools_are_found_with_their_positions() {
    let cases: [(&str, &[&str]); 24] = [
        ("  --> src/a.rs:12:3", &["src/a.rs|12|3|src/a.rs:12:3"]),
        ("   ::: src/a.rs:12", &["src/a.rs|12||src/a.rs:12"]),
        (
            "thread 'main' panicked at src/main.rs:4:5:",
            &["src/main.rs|4|5|src/main.rs:4:5"],
        ),
        ("x.c:12:3: error: y", &["x.c|12|3|x.c:12:3"]),
        (
            "In file included from /usr/include/a.h:7,",
            &["/usr/include/a.h|7||/usr/include/a.h:7"],
        ),
        (
            "./main.go:12:3: undefined: x",
            &["./main.go|12|3|./main.go:12:3"],
        ),
        (
            "\t/usr/lib/go/src/x.go:123 +0x1d",
            &["/usr/lib/go/src/x.go|123||/usr/lib/go/src/x.go:123"],
        ),
        (
            "  File \"a b/x.py\", line 3, in f",
            &["a b/x.py|3||a b/x.py\", line 3"],
        ),
        ("    at f (/a/b.ts:3:4)", &["/a/b.ts|3|4|/a/b.ts:3:4"]),
        ("    at /a/b.js:3:4", &["/a/b.js|3|4|/a/b.js:3:4"]),
        ("    at file:///a/b.mjs:3:4", &["/a/b.mjs|3|4|/a/b.mjs:3:4"]),
        ("src/a.ts(3,4): error TS1", &["src/a.ts|3|4|src/a.ts(3,4)"]),
        ("--- a/src/x.rs", &["src/x.rs|||src/x.rs"]),
        ("+++ b/src/x y.rs\t2026", &["src/x y.rs|||src/x y.rs"]),
        ("--- /dev/null", &[]),
        ("diff --git a/x.rs b/y.rs", &["x.rs|||x.rs", "y.rs|||y.rs"]),
        ("rename from old/x.rs", &["old/x.rs|||old/x.rs"]),
        ("see ~/notes/a.md.", &["~/notes/a.md|||~/notes/a.md"]),
        ("modified:   Cargo.toml", &["Cargo.toml|||Cargo.toml"]),
        ("src/a.rs:7:fn main() {", &["src/a.rs|7||src/a.rs:7"]),
        ("https://example.com/a/b.rs:3", &[]),
        ("version 1.2.3 of 10", &[]),
        ("a, b; (c) ... / : //", &[]),
        ("täst/ü.rs:1", &["täst/ü.rs|1||täst/ü.rs:1"]),
    ];
    for (line, expected) in cases {
        assert_eq!(paths(line), expected, "{line}");
    }
}

#[test]
fn addresses_end_before_the_punctuation_around_them() {
    let cases = [
        ("see https://a.b/c.", vec!["https://a.b/c"]),
        ("(https://a.b/c_(d))", vec!["https://a.b/c_(d)"]),
        (
            "<http://a.b>, HTTPS://x.y!",
            vec!["http://a.b", "HTTPS://x.y"],
        ),
        ("xhttps://a ftp://b javascript://c", vec![]),
    ];
    for (line, expected) in cases {
        let urls: Vec<_> = find_urls(line).into_iter().map(|link| link.url).collect();
        assert_eq!(urls, expected, "{line}");
    }
}

#[test]
fn hyperlinks_open_known_schemes_alone() {
    let file = |path: &str| AbsPath::new(path).map(TerminalLink::File);
    let web = |address: &str| Some(TerminalLink::Web(address.to_owned()));
    let cases = [
        ("https://a.b/c", web("https://a.b/c")),
        ("HTTP://a.b", web("HTTP://a.b")),
        ("file:///a/b", file("/a/b")),
        ("file://box/a", file("/a")),
        ("file://far/a", None),
        ("javascript:alert(1)", None),
        ("ssh://a", None),
        ("x-man-page://ls", None),
        ("https://a\u{7f}b", None),
        ("", None),
    ];
    for (uri, expected) in cases {
        assert_eq!(link_target(uri, Some("box")), expected, "{uri}");
    }
}

#[test]
fn a_wrapped_path_is_one_link_over_two_rows() {
    let emulator = fed(10, 5, "at src/longer/name.rs:12:3 x");
    let line = emulator.logical_line(LineNumber(0)).expect("a line");
    assert_eq!(line.text, "at src/longer/name.rs:12:3 x");
    let link = find_paths(&line.text).remove(0);
    assert_eq!(link.path, "src/longer/name.rs");
    let spans = line.spans(link.span.clone());
    let columns: Vec<_> = spans
        .iter()
        .map(|span| (span.start.column, span.last.column))
        .collect();
    assert_eq!(columns, [(3, 9), (0, 9), (0, 5)]);
    let byte = line.byte_at(spans[1].start).expect("a byte");
    assert_eq!(byte, link.span.start + 7);
    assert_eq!(
        line.byte_at(CellPosition::new(spans[2].start.line, 9)),
        None
    );
}

#[test]
fn a_hyperlink_covers_its_adjacent_cells() {
    let emulator = fed(6, 5, "ab\x1b]8;;https://x.y\x1b\\cdefgh\x1b]8;;\x1b\\ij");
    let first = LineNumber(0);
    let (uri, spans) = emulator
        .hyperlink_at(CellPosition::new(first, 3))
        .expect("a link");
    assert_eq!(uri, "https://x.y");
    let columns: Vec<_> = spans
        .iter()
        .map(|span| (span.start.column, span.last.column))
        .collect();
    assert_eq!(columns, [(2, 5), (0, 1)]);
    assert_eq!(emulator.hyperlink_at(CellPosition::new(first, 1)), None);
}
