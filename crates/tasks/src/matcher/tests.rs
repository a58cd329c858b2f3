//! Patterns of several lines, and regular expressions written for JavaScript.

use std::sync::Arc;

use super::{LinePattern, PatternGroups, PatternMatcher, compile, translated};

fn pattern(regex: &str, repeats: bool) -> LinePattern {
    let regex = compile(regex).expect("a pattern");
    let group = |name: &str| regex.capture_names().position(|it| it == Some(name));
    let groups = PatternGroups {
        file: group("file"),
        line: group("line"),
        location: group("at"),
        message: group("text"),
        ..PatternGroups::default()
    };
    LinePattern {
        regex,
        groups,
        repeats,
    }
}

/// Returns the problems in lines as `file:line message`.
fn found(patterns: Vec<LinePattern>, lines: &[&str]) -> Vec<String> {
    let mut matcher = PatternMatcher::new(Arc::from(patterns));
    let mut found = Vec::new();
    lines.iter().for_each(|line| matcher.feed(line, &mut found));
    let shown = found.iter().map(|problem| {
        let place = &problem.places[0];
        format!(
            "{}:{} {}",
            place.file,
            place.start.line + 1,
            problem.message
        )
    });
    shown.collect()
}

fn three() -> Vec<LinePattern> {
    vec![
        pattern("^a (?<text>.*)$", false),
        pattern("^(?:a|b) (?<text>.*)$", false),
        pattern("^in (?<file>.+) (?<line>\\d+)$", false),
    ]
}

#[test]
fn lines_follow_each_other() {
    let found = found(three(), &["a 1", "b 2", "in f 3", "b 2", "in f 4"]);
    assert_eq!(found, ["f:3 1\n2"]);
}

#[test]
fn a_broken_sequence_may_begin_with_its_second_line() {
    let found = found(
        three(),
        &["a 1", "a 2", "a 3", "in f 4", "a x", "c", "in f 5"],
    );
    assert_eq!(found, ["f:4 2\n3"]);
}

#[test]
fn a_repeated_line_keeps_the_parts_before_it() {
    let patterns = || {
        vec![
            pattern("^(?<file>\\S+)$", false),
            pattern("^ (?<line>\\d+) (?<text>.*)$", true),
        ]
    };
    let lines = ["f", " 1 a", " 2 b", "g", " 3 c", "", " 4 d"];
    assert_eq!(found(patterns(), &lines), ["f:1 a", "f:2 b", "g:3 c"]);
}

#[test]
fn a_location_has_up_to_four_numbers() {
    let location = |text: &str| {
        let mut matcher = PatternMatcher::new(Arc::from([pattern(
            "^(?<file>\\S+) \\((?<at>[\\d,]+)\\)$",
            false,
        )]));
        let mut found = Vec::new();
        matcher.feed(text, &mut found);
        let place = found[0].places[0].clone();
        let end = place.end.map(|end| (end.line, end.column));
        (place.start.line, place.start.column, end)
    };
    assert_eq!(location("f (3)"), (2, None, None));
    assert_eq!(location("f (3,4)"), (2, Some(3), None));
    assert_eq!(location("f (3,4,5,6)"), (2, Some(3), Some((4, Some(5)))));
    assert_eq!(location("f (3,4,5)"), (0, None, None));
    assert_eq!(location("f (99999999999,1)"), (0, None, None));
}

#[test]
fn classes_of_javascript_are_translated() {
    for (pattern, expected) in [
        ("[^[]", "[^\\[]"),
        ("a[b&&c]d[e~]", "a[b\\&\\&c]d[e\\~]"),
        ("\\[[\\]]", "\\[[\\]]"),
        ("\\/", "\\/"),
    ] {
        assert_eq!(translated(pattern), expected, "{pattern}");
        assert!(compile(pattern).is_ok(), "{pattern}");
    }
    let failure = compile("(a").expect_err("invalid").to_string();
    assert_eq!(
        failure,
        "the regular expression cannot be used: unclosed group"
    );
    assert!(compile("(a)\\1").is_err());
}

#[test]
fn patterns_are_bounded_in_length_depth_and_compiled_size() {
    let deep = |levels: usize| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    let refused = [
        "(?:a{1000}){1000}".to_owned(),
        "(?:(?:a{99}){99}){99}".to_owned(),
        r"\w{1000}".to_owned(),
        deep(1_000),
        "a".repeat(5_000),
    ];
    for pattern in refused {
        let failure = compile(&pattern).expect_err("too large").to_string();
        assert!(failure.len() < 300, "{failure}");
    }
    let accepted = [
        r"^(.*)\((\d+),(\d+)\):\s+(error|warning)\s+(\w+):\s+(.*)$".to_owned(),
        deep(20),
        "a".repeat(1_000),
    ];
    for pattern in accepted {
        assert!(compile(&pattern).is_ok(), "{pattern}");
    }
}

#[test]
fn nested_repetitions_read_a_line_in_linear_time() {
    // A backtracking engine would need more steps than there are atoms.
    let line = format!("{}!", "a".repeat(4_000));
    for regex in ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*x"] {
        assert_eq!(
            found(vec![pattern(regex, false)], &[&line]),
            [""; 0],
            "{regex}"
        );
    }
}
