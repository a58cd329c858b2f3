//! Tests that matches equal those of a search in the whole text as one string.

use std::sync::atomic::AtomicBool;

use base::{ByteOffset, Span};
use text::{Edit, EditOrigin, Snapshot, Timestamp};

use super::{FindMatch, MatchLimit, SearchWrap};
use crate::find::{CaseMatching, FindQuery, PatternKind, WordBounds};

fn snapshot(text: &str) -> Snapshot {
    Snapshot::new(text)
}

fn query(text: &str, pattern: PatternKind) -> FindQuery {
    FindQuery {
        pattern,
        ..FindQuery::literal(text)
    }
}

/// Returns the matches of the same expression in the whole text as one string.
fn expected(query: &FindQuery, text: &str) -> Vec<Span> {
    let expression = query.expression().expect("a pattern that compiles");
    let regex = regex_automata::meta::Builder::new()
        .build_from_hir(&expression)
        .expect("a pattern of fair size");
    regex
        .find_iter(text)
        .map(|found| Span::from(found.range()))
        .filter(|found| !parts_ending(text, *found))
        .collect()
}

/// Returns whether this is an empty match within `\r\n`.
fn parts_ending(text: &str, found: Span) -> bool {
    let (before, behind) = text.split_at(found.end.0);
    found.is_empty() && before.ends_with('\r') && behind.starts_with('\n')
}

#[track_caller]
fn check(query: &FindQuery, text: &str) {
    let snapshot = snapshot(text);
    check_in(query, &snapshot, text);
}

#[track_caller]
fn check_in(query: &FindQuery, snapshot: &Snapshot, text: &str) {
    let matcher = query.compile().expect("a pattern that compiles");
    let found: Vec<Span> = matcher.matches(snapshot, snapshot.full_span()).collect();
    let expected = expected(query, text);
    if found != expected {
        let first = found
            .iter()
            .zip(&expected)
            .position(|(found, expected)| found != expected);
        panic!(
            "{query:?}: {} found, {} expected, first difference at {first:?}: {:?} {:?}",
            found.len(),
            expected.len(),
            first.map(|ix| found[ix]),
            first.map(|ix| expected[ix])
        );
    }
}

#[test]
fn literals_and_patterns() {
    let text = "foo bar\r\nFoo  baz\nfoo_bar ßẞ fOO\n\n  \r\n日本語foo\n";
    for pattern in [
        "foo",
        "o",
        "foo|bar",
        r"\bfoo\b",
        "^",
        "$",
        "^foo",
        "o$",
        r"^\s*$",
        r"\s+",
        "[^o]+",
        "a*",
        r"(?m-R)r$",
        r"\w+$",
        "z*?",
        r"\n",
        r"r\nF",
        r"\A\w+",
        r"\n\z",
        "(?i)ß",
        r".+",
        r"(?s).+",
        r"\r",
        r"[^\n]+",
        r"\B",
        r"\b",
        "|foo",
        "語",
    ] {
        check(&query(pattern, PatternKind::Regex), text);
        check(&query(pattern, PatternKind::Regex), "");
        check(&query(pattern, PatternKind::Literal), text);
    }
    for bounds in [WordBounds::Anywhere, WordBounds::Whole] {
        for case in [
            CaseMatching::Sensitive,
            CaseMatching::Insensitive,
            CaseMatching::Smart,
        ] {
            for pattern in ["foo", "Foo", "o", "ß", "bar\nFoo", "_"] {
                check(
                    &FindQuery {
                        case,
                        words: bounds,
                        ..query(pattern, PatternKind::Literal)
                    },
                    text,
                );
            }
        }
    }
}

#[test]
fn line_feeds_match_either_line_ending() {
    let snapshot = snapshot("a\r\nb\na\nb");
    for query in [
        query("a\nb", PatternKind::Literal),
        query(r"a\nb", PatternKind::Regex),
    ] {
        let matcher = query.compile().expect("a pattern");
        let found: Vec<Span> = matcher.matches(&snapshot, snapshot.full_span()).collect();
        assert_eq!(found, [Span::from(0..4), Span::from(5..8)]);
    }
}

#[test]
fn whole_words_and_letters() {
    let found = |query: FindQuery, text: &str| -> Vec<usize> {
        let snapshot = snapshot(text);
        let matcher = query.compile().expect("a pattern");
        matcher
            .matches(&snapshot, snapshot.full_span())
            .map(|found| found.start.0)
            .collect()
    };
    let whole = FindQuery {
        words: WordBounds::Whole,
        ..FindQuery::literal("ab")
    };
    assert_eq!(found(whole.clone(), "ab abc ab_ (ab) äab ab"), [0, 12, 21]);
    assert_eq!(
        found(
            FindQuery {
                case: CaseMatching::Insensitive,
                ..whole
            },
            "AB Abc"
        ),
        [0]
    );
    assert_eq!(
        found(
            FindQuery {
                words: WordBounds::Whole,
                ..FindQuery::literal("$a")
            },
            "$a x$a $ab"
        ),
        [0]
    );
}

/// A small random number generator, so that a seed gives the same run everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count.max(1) as u64) as usize
    }

    fn pick<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.below(choices.len())]
    }
}

/// Factor for the number of rounds, such as `BURIN_ROUNDS=50` for a longer run.
fn rounds() -> u64 {
    let asked = std::env::var("BURIN_ROUNDS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(1)
}

const WORDS: &[&str] = &[
    "a", "b", "ab", "aab", " ", "\n", "\r\n", "\r", "_", "é", "文", "x", "Ab", "\n\n", "  ", "🙂",
    ".",
];
const ATOMS: &[&str] = &[
    "a",
    "b",
    ".",
    "[ab]",
    "[^a]",
    r"\w",
    r"\s",
    r"\n",
    r"\b",
    "^",
    "$",
    r"\W",
    "(?:ab)",
    "(a|b)",
    "é",
    "文",
    r"\S",
    r"\B",
    r"\r",
    "[^\n]",
    r"\d",
    r"\b{start-half}",
    r"\b{end-half}",
    r"\A",
    r"\z",
];
const REPEATS: &[&str] = &["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,3}"];

fn random_pattern(random: &mut Random) -> String {
    let mut pattern = String::new();
    for _ in 0..1 + random.below(4) {
        let atom = random.pick(ATOMS);
        pattern.push_str(atom);
        let is_look =
            matches!(atom, r"\b" | "^" | "$" | r"\B" | r"\A" | r"\z") || atom.contains("half");
        if !is_look {
            pattern.push_str(random.pick(REPEATS));
        }
        if random.below(6) == 0 {
            pattern.push('|');
        }
    }
    pattern
}

#[test]
fn random_patterns_over_random_texts() {
    let seed = 0x5eed_0001;
    for round in 0..600 * rounds() {
        let mut random = Random(seed + round * 7919);
        let text: String = (0..random.below(60)).map(|_| random.pick(WORDS)).collect();
        let words = if random.below(4) == 0 {
            WordBounds::Whole
        } else {
            WordBounds::Anywhere
        };
        let case = if random.below(4) == 0 {
            CaseMatching::Insensitive
        } else {
            CaseMatching::Sensitive
        };
        let query = FindQuery {
            words,
            case,
            ..query(&random_pattern(&mut random), PatternKind::Regex)
        };
        println!("seed {seed} round {round} {query:?} {text:?}");
        check(&query, &text);
    }
}

/// Returns texts of many pieces and several windows, built by random edits so that the pieces are
/// uneven.
#[test]
fn random_patterns_over_many_pieces() {
    let seed = 0x5eed_0002;
    let mut random = Random(seed);
    let mut buffer = text::Buffer::new(&"some words, ab aab Ab\r\nfé 文 x\n".repeat(4_000));
    for _ in 0..200 {
        let at = buffer
            .snapshot()
            .clip(ByteOffset(random.below(buffer.len().0)), base::Bias::Left);
        let text: String = (0..random.below(40)).map(|_| random.pick(WORDS)).collect();
        buffer.edit(
            &[Edit::new(Span::at(at), text)],
            &EditOrigin::user(Timestamp(0)),
        );
    }
    let snapshot = buffer.snapshot();
    let text = snapshot.to_string();
    for round in 0..30 {
        let query = query(&random_pattern(&mut random), PatternKind::Regex);
        println!("seed {seed} round {round} {query:?}");
        check_in(&query, &snapshot, &text);
    }
}

#[test]
fn within_spans_the_surroundings_are_seen() {
    let seed = 0x5eed_0003;
    for round in 0..400 * rounds() {
        let mut random = Random(seed + round * 104_729);
        let text: String = (0..20 + random.below(60))
            .map(|_| random.pick(WORDS))
            .collect();
        let snapshot = snapshot(&text);
        let mut ends = [0, 0].map(|_: i32| {
            snapshot.clip(ByteOffset(random.below(text.len() + 1)), base::Bias::Left)
        });
        ends.sort();
        let query = query(&random_pattern(&mut random), PatternKind::Regex);
        println!("seed {seed} round {round} {query:?} {text:?} {ends:?}");
        let matcher = query.compile().expect("a pattern");
        let within = Span::new(ends[0], ends[1]);
        let found: Vec<Span> = matcher.matches(&snapshot, within).collect();
        let input = regex_automata::Input::new(&text).range(within.range());
        let expected: Vec<Span> = matcher
            .regex()
            .find_iter(input)
            .map(|found| Span::from(found.range()))
            .filter(|found| !parts_ending(&text, *found))
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn long_rows_are_searched_in_pieces() {
    let text = format!(
        "{}\n{}b\nab",
        "ab ".repeat(20),
        "a".repeat(super::LARGEST_WINDOW + 10)
    );
    let snapshot = snapshot(&text);
    for pattern in [r"ab\b", "b$", "^a", "a{3}b"] {
        check_in(&query(pattern, PatternKind::Regex), &snapshot, &text);
    }
}

#[test]
fn the_next_and_the_previous_go_round() {
    let snapshot = snapshot("ab x ab\nab");
    let full = [snapshot.full_span()];
    let matcher = FindQuery::literal("ab").compile().expect("a literal");
    let next =
        |from: std::ops::Range<usize>, wrap| matcher.next(&snapshot, &full, Span::from(from), wrap);
    let hit = |start: usize, has_wrapped| {
        Some(FindMatch {
            span: Span::from(start..start + 2),
            has_wrapped,
        })
    };
    assert_eq!(next(0..0, SearchWrap::Around), hit(0, false));
    assert_eq!(next(0..2, SearchWrap::Around), hit(5, false));
    assert_eq!(next(1..1, SearchWrap::Around), hit(5, false));
    assert_eq!(next(8..10, SearchWrap::Around), hit(0, true));
    assert_eq!(next(8..10, SearchWrap::Stop), None);
    let previous = |from: std::ops::Range<usize>, wrap| {
        matcher.previous(&snapshot, &full, Span::from(from), wrap)
    };
    assert_eq!(previous(8..10, SearchWrap::Around), hit(5, false));
    assert_eq!(previous(6..6, SearchWrap::Around), hit(0, false));
    assert_eq!(previous(0..2, SearchWrap::Around), hit(8, true));
    assert_eq!(previous(0..2, SearchWrap::Stop), None);
    let within = [Span::from(1..4), Span::from(5..10)];
    assert_eq!(
        matcher.next(&snapshot, &within, Span::from(0..0), SearchWrap::Stop),
        hit(5, false)
    );
    assert_eq!(
        matcher.previous(&snapshot, &within, Span::from(5..7), SearchWrap::Stop),
        None
    );
    assert_eq!(
        matcher.next(&snapshot, &[], Span::from(0..0), SearchWrap::Around),
        None
    );
}

#[test]
fn going_on_visits_every_match_both_ways() {
    let text = "ab\n\nabab x\r\nab".repeat(8_000);
    let snapshot = snapshot(&text);
    let full = [snapshot.full_span()];
    for (pattern, steps) in [("ab", 500), ("^", 500), (r"b\b", 500), (r"b\na", 4)] {
        let matcher = query(pattern, PatternKind::Regex)
            .compile()
            .expect("a pattern");
        let all: Vec<Span> = matcher.matches(&snapshot, full[0]).collect();
        let mut at = Span::at(ByteOffset(0));
        for (ix, expected) in all.iter().enumerate().take(steps) {
            // An empty match at the caret is skipped.
            if ix == 0 && *expected == at {
                continue;
            }
            let hit = matcher
                .next(&snapshot, &full, at, SearchWrap::Stop)
                .expect("another match");
            assert_eq!(hit.span, *expected, "{pattern} {ix}");
            at = hit.span;
        }
        let mut at = Span::at(snapshot.len());
        for expected in all.iter().rev().take(steps) {
            let hit = matcher
                .previous(&snapshot, &full, at, SearchWrap::Stop)
                .expect("another match");
            assert_eq!(hit.span, *expected, "{pattern}");
            at = hit.span;
        }
    }
}

#[test]
fn limits_and_cancelling_end_a_search() {
    let snapshot = snapshot(&"ab\n".repeat(50_000));
    let matcher = FindQuery::literal("ab").compile().expect("a literal");
    let full = [snapshot.full_span()];
    let found = matcher.find_all(
        &snapshot,
        &full,
        MatchLimit(10_000),
        &AtomicBool::new(false),
    );
    assert_eq!((found.spans.len(), found.is_complete), (10_000, false));
    assert_eq!(found.count().to_string(), "10000+");
    let found = matcher.find_all(
        &snapshot,
        &full,
        MatchLimit(50_000),
        &AtomicBool::new(false),
    );
    assert_eq!(found.count().to_string(), "50000");
    for query in [FindQuery::literal("ab"), query(r"b\sa", PatternKind::Regex)] {
        let matcher = query.compile().expect("a pattern");
        let found = matcher.find_all(
            &snapshot,
            &full,
            MatchLimit(usize::MAX),
            &AtomicBool::new(true),
        );
        assert!(!found.is_complete);
        assert_eq!(found.spans.len(), 0);
    }
    let touching = [Span::from(0..3), Span::from(3..6)];
    let caret = query("^", PatternKind::Regex).compile().expect("a pattern");
    let found = caret.find_all(&snapshot, &touching, MatchLimit(9), &AtomicBool::new(false));
    assert_eq!(found.spans, [0, 3, 6].map(|at| Span::at(ByteOffset(at))));
}
