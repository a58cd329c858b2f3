//! Tests of patterns and replacements.

use base::Span;
use text::Snapshot;

use super::{Pattern, PatternContext, Replacement, resolve_tilde};

const CONTEXT: PatternContext = PatternContext {
    ignore_case: false,
    smart_case: false,
    last_replacement: "x.y",
};

/// Asserts the matches of a pattern in a text.
#[track_caller]
fn check(pattern: &str, text: &str, expected: &[&str]) {
    let compiled = Pattern::compile(pattern, CONTEXT).expect("a valid pattern");
    let snapshot = Snapshot::new(text);
    let found: Vec<String> = compiled
        .matches(&snapshot, Span::new(0.into(), snapshot.len()))
        .map(|found| snapshot.text(found.span).into_owned())
        .collect();
    assert_eq!(found, expected, "{pattern}");
}

#[test]
fn magic_decides_which_signs_are_special() {
    check("a+", "a+ aa", &["a+"]);
    check(r"a\+", "a+ aa", &["a", "aa"]);
    check(r"\va+", "a+ aa", &["a", "aa"]);
    check(r"\Va.b", "a.b axb", &["a.b"]);
    check("a.b", "a.b axb", &["a.b", "axb"]);
    check(r"\Ma.b", "a.b axb", &["a.b"]);
    check(r"\v<ab>|c{2}", "ab abc cc", &["ab", "cc"]);
}

#[test]
fn anchors_are_literal_elsewhere() {
    check("a^b", "a^b", &["a^b"]);
    check("a$b", "a$b", &["a$b"]);
    check(r"\(^a\|b$\)", "a b\nab", &["a", "b", "a", "b"]);
    check("^*a", "*a", &["*a"]);
    check(r"a\n^b", "a\nb", &["a\nb"]);
}

#[test]
fn repetitions_are_greedy_or_lazy() {
    check(r"a\{2}", "aaaaa", &["aa", "aa"]);
    check(r"a\{-1,}b", "aab", &["aab"]);
    check(r"<.\{-}>", "<a><b>", &["<a>", "<b>"]);
    check(r"ab\=c\?", "abc ac a", &["abc", "ac", "a"]);
    check(r"a\{3,1}", "aaaa", &["aaa", "a"]);
}

#[test]
fn collections_know_ranges_and_names() {
    check("[]a]", "]ab", &["]", "a"]);
    check("[^]a ]", "]ab\nc", &["b", "c"]);
    check("[[:digit:]x-z]*", "1yq", &["1y", ""]);
    check("a[b", "a[b", &["a[b"]);
    check(r"[\t ]", "a\tb", &["\t"]);
    check(r"[a\]]", "a]", &["a", "]"]);
    check(
        r"fu\%[nction]\>",
        "fu func fux function",
        &["fu", "func", "function"],
    );
}

#[test]
fn line_ends_match_where_named() {
    check(r"a\_s*b", "a \n b", &["a \n b"]);
    check("a[^x]*", "ab\nc", &["ab"]);
    check(r"\_.*", "a\nb", &["a\nb"]);
    check(r"a\nb", "a\r\nb", &["a\r\nb"]);
}

#[test]
fn edges_trim_the_match() {
    check(r"foo\zsbar", "foobar bar", &["bar"]);
    check(r"foo\zebar", "foobar foo", &["foo"]);
    check(r"\(a\)\zs\(b\)", "ab", &["b"]);
}

#[test]
fn groups_skip_the_edges() {
    let pattern = Pattern::compile(r"\(a\)\zs\(b\)", CONTEXT).expect("a pattern");
    let text = Snapshot::new("ab");
    let found = pattern.first_from(&text, 0.into()).expect("a match");
    assert_eq!(pattern.group_texts(&text, &found), ["b", "a", "b"]);
}

#[test]
fn case_follows_options_and_flags() {
    let context = PatternContext {
        ignore_case: true,
        smart_case: true,
        ..CONTEXT
    };
    let count = |source: &str| {
        let pattern = Pattern::compile(source, context).expect("a pattern");
        let text = Snapshot::new("ab Ab AB");
        pattern.matches(&text, text.full_span()).count()
    };
    assert_eq!(count("ab"), 3);
    assert_eq!(count("Ab"), 1);
    assert_eq!(count(r"\Sb"), 3, "letters of classes are no capitals");
    assert_eq!(count(r"\Cab"), 1);
    assert_eq!(count(r"Ab\c"), 3);
}

#[test]
fn unsupported_atoms_are_refused_with_a_sentence() {
    for pattern in [r"\(a\)\1", r"a\@<=b", r"\%Va", r"a\&b", r"\%23l", r"\(a"] {
        let failed = Pattern::compile(pattern, CONTEXT).expect_err("refused");
        assert!(
            failed.to_string().starts_with("cannot search for"),
            "{failed}"
        );
    }
}

#[test]
fn tilde_is_the_last_replacement() {
    check("a~", "ax.y axxy", &["ax.y"]);
    assert_eq!(resolve_tilde(r"a~\~", "b&"), "ab&~");
}

#[test]
fn replacements_switch_case_and_break_lines() {
    let groups = ["match".to_owned(), "one".to_owned()];
    let expand = |source: &str| Replacement::parse(source).expect("valid").expand(&groups);
    assert_eq!(expand(r"<&>\&\1"), "<match>&one");
    assert_eq!(expand(r"\u&\U\1\Ex"), "MatchONEx");
    assert_eq!(expand(r"a\rb\tc"), "a\nb\tc");
    assert_eq!(expand(r"\L\uABC"), "Abc");
    assert_eq!(expand(r"\9\\"), "\\");
    assert!(Replacement::parse(r"\=1").is_err());
}
