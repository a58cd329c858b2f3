//! Hostile output, paths, and repeated problems.

use std::sync::Arc;

use base::AbsPath;
use host::FakeFiles;

use super::{MAX_PROBLEMS, PathFinder, TaskOutput};
use crate::builtin::tests::search;
use crate::matcher::FileLocation;
use crate::problem::{ProblemPosition, RawPlace};

#[test]
fn endless_lines_are_skipped_and_the_next_is_found() {
    let mut search = search("$gcc");
    for _ in 0..1_000 {
        search.feed(&[b'x'; 10_000]);
        assert!(search.line.len() <= super::MAX_LINE);
    }
    search.feed(b"\nsrc/a.c:1:2: error: found\n");
    assert_eq!(search.problems().len(), 1);
}

#[test]
fn floods_of_problems_are_counted() {
    let mut search = search("$gcc");
    for line in 1..=100_000_u32 {
        search.feed(format!("src/a.c:{line}:1: error: x\n").as_bytes());
    }
    assert_eq!(search.problems().len(), MAX_PROBLEMS);
    assert_eq!(search.omitted(), 100_000 - MAX_PROBLEMS);
}

#[test]
fn a_problem_that_is_printed_twice_is_one() {
    let mut search = search("$gcc");
    let line = b"src/a.c:1:2: error: same\n";
    assert!(search.feed(line).problems_changed);
    assert!(!search.feed(line).problems_changed);
    assert_eq!(search.problems().len(), 1);
}

#[test]
fn the_last_line_needs_no_end() {
    let mut search = search("$gcc");
    assert!(!search.feed(b"src/a.c:1:2: error: last").problems_changed);
    assert!(search.finish().problems_changed);
}

#[test]
fn binary_output_and_long_messages_are_bounded() {
    let mut search = search("$gcc");
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    search.feed(&bytes);
    let long = format!("\nsrc/a.c:1:2: error: {}\n", "\u{20ac}".repeat(1_000));
    search.feed(long.as_bytes());
    assert_eq!(search.problems().len(), 1);
}

#[test]
fn output_without_matchers_costs_nothing() {
    let root = AbsPath::new("/p").expect("absolute");
    let mut search = TaskOutput::new(&[], &root, &root, Arc::new(FakeFiles::new()));
    search.feed(b"src/a.c:1:2: error: x\n");
    assert!(search.problems().is_empty() && search.line.is_empty());
}

#[test]
fn paths_are_found_from_the_folder_up_to_the_project() {
    let path = |path: &str| AbsPath::new(path).expect("absolute");
    let files = FakeFiles::new();
    for file in ["/p/a/src/x.rs", "/p/src/x.rs", "/p/y.rs", "/etc/passwd"] {
        files.write(&path(file), "");
    }
    let mut finder = PathFinder::new(&path("/p/a"), &path("/p"), Arc::new(files));
    let mut find = |file: &str, location: &FileLocation| {
        let place = RawPlace {
            file: file.to_owned(),
            start: ProblemPosition {
                line: 0,
                column: None,
            },
            end: None,
        };
        finder.find(&place, location).map(|path| path.to_string())
    };
    let auto = FileLocation::AutoDetect;
    let root = FileLocation::Relative(Some("${workspaceFolder}".to_owned()));
    let inner = FileLocation::Relative(Some("${workspaceFolder}/src".to_owned()));
    for (file, location, expected) in [
        ("src/x.rs", &auto, Some("/p/a/src/x.rs")),
        ("src/x.rs", &root, Some("/p/src/x.rs")),
        ("x.rs", &inner, Some("/p/src/x.rs")),
        ("y.rs", &auto, Some("/p/y.rs")),
        ("../y.rs", &auto, Some("/p/y.rs")),
        ("/p/y.rs", &auto, Some("/p/y.rs")),
        ("file:///p/y.rs", &auto, Some("/p/y.rs")),
        ("none.rs", &auto, None),
        ("src", &auto, None),
        ("/etc/passwd", &auto, None),
        ("../../etc/passwd", &auto, None),
    ] {
        assert_eq!(find(file, location).as_deref(), expected, "{file}");
    }
}

#[test]
fn any_split_of_the_output_gives_the_same_problems() {
    let text = "\x1b[1m\x1b[31merror\x1b[0m: b\u{fc}cher \u{1f600}\r\n \x1b[34m-->\x1b[0m src/main.rs:3:7\r\n";
    for at in 0..=text.len() {
        let mut search = search("$rustc");
        search.feed(&text.as_bytes()[..at]);
        search.feed(&text.as_bytes()[at..]);
        let found = search.problems();
        assert_eq!(found.len(), 1, "split at {at}");
        assert_eq!(found[0].message, "b\u{fc}cher \u{1f600}");
    }
}
