//! Tests that an expression matches within a row unless it names a line ending.

use text::Snapshot;

use crate::find::{FindQuery, PatternKind};

#[track_caller]
fn check(pattern: &str, text: &str, expect: &[&str]) {
    let query = FindQuery {
        pattern: PatternKind::Regex,
        ..FindQuery::literal(pattern)
    };
    let matcher = query.compile().expect("a pattern");
    let snapshot = Snapshot::new(text);
    let found = matcher.matches(&snapshot, snapshot.full_span());
    let found: Vec<String> = found.map(|span| snapshot.text(span).into_owned()).collect();
    assert_eq!(found, expect, "{pattern} in {text:?}");
}

#[test]
fn classes_end_before_the_line_ending() {
    for ending in ["\n", "\r\n"] {
        let text = ["a  ", "", "b\t", "", "", "b"].join(ending);
        check(r"\s+$", &text, &["  ", "\t"]);
        check(r"b\s*", &text, &["b\t", "b"]);
        check(r"[^b]+", &text, &["a  ", "\t"]);
        check(r"b\W*", &text, &["b\t", "b"]);
        check(r"b[[:space:]]*", &text, &["b\t", "b"]);
        check(r"b\D*", &text, &["b\t", "b"]);
        check(r"b(?-u:\s)*", &text, &["b\t", "b"]);
        check(r"(b)[\pZ\pC]*$", &text, &["b\t", "b"]);
        check(r"^\s*$", &text, &["", "", ""]);
        check("b$", &text, &["b"]);
    }
}

#[test]
fn a_named_line_feed_spans_rows() {
    for ending in ["\n", "\r\n"] {
        let text = ["a", "b", "", "c"].join(ending);
        check(r"a\n", &text, &[&format!("a{ending}")]);
        check(r"a\x0A", &text, &[&format!("a{ending}")]);
        check(r"a\u{a}b", &text, &[&format!("a{ending}b")]);
        check("b\n\nc", &text, &[&format!("b{ending}{ending}c")]);
        check(r"b[\s\n]+c", &text, &[&format!("b{ending}{ending}c")]);
        check(r"[^\n]+", &text, &["a", "b", "c"]);
        check("(?s)a.+b", &text, &[&format!("a{ending}b")]);
        check("(?s:a.+b)", &text, &[&format!("a{ending}b")]);
        check("(?x) b \n c | a \n", &text, &["a"]);
    }
}

#[test]
fn a_named_return_is_found_without_its_line_feed() {
    check(r"a\r", "a\r\nb\n", &["a\r"]);
    check(r"[\r]", "a\r\nb\r\n", &["\r", "\r"]);
    check(r"\r\s*", "a\r\n\nb", &["\r"]);
    check(r"\s", "a\rb c\r\n", &[" "]);
}

/// A small random number generator, so that a seed gives the same run everywhere.
struct Random(u64);

impl Random {
    fn pick<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        choices[(self.0 % choices.len() as u64) as usize]
    }

    fn join(&mut self, count: usize, choices: &[&str]) -> String {
        (0..count).map(|_| self.pick(choices)).collect()
    }
}

#[test]
fn patterns_without_line_endings_match_each_row_as_alone() {
    const ATOMS: &[&str] = &[
        "a",
        ".",
        "[^a]",
        r"\s",
        r"\W",
        r"\b",
        "^",
        "$",
        "(a|b)",
        r"\S",
        r"\B",
        r"\D",
        "b|",
        r"[^\w]",
        r"\PL",
        "[[:cntrl:]]",
        r"[\x00-\x20]",
    ];
    const REPEATS: &[&str] = &["", "", "*", "+", "?", "{2}"];
    for seed in 1..=2_000 {
        let mut random = Random(0x5eed_0000 + seed);
        let rows: Vec<String> = (0..5)
            .map(|_| random.join(3, &["", "a", "b", " ", "ab", "\t", "é"]))
            .collect();
        let pattern: String = (0..3)
            .map(|_| match random.pick(ATOMS) {
                look @ (r"\b" | "^" | "$" | r"\B" | "b|") => look.to_owned(),
                atom => format!("{atom}{}", random.pick(REPEATS)),
            })
            .collect();
        let query = FindQuery {
            pattern: PatternKind::Regex,
            ..FindQuery::literal(pattern.as_str())
        };
        let matcher = query.compile().expect("a pattern");
        let found = |text: &str| -> Vec<(usize, usize)> {
            let snapshot = Snapshot::new(text);
            let spans = matcher.matches(&snapshot, snapshot.full_span());
            spans.map(|span| (span.start.0, span.end.0)).collect()
        };
        for ending in ["\n", "\r\n"] {
            let mut start = 0;
            let mut expect = Vec::new();
            for row in &rows {
                expect.extend(
                    found(row)
                        .iter()
                        .map(|(from, to)| (from + start, to + start)),
                );
                start += row.len() + ending.len();
            }
            let text = rows.join(ending);
            assert_eq!(found(&text), expect, "seed {seed}: {pattern} in {text:?}");
        }
    }
}
