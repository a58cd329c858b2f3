//! Tests compilation of queries, and the errors of invalid ones.

use super::{CaseMatching, FindQuery, PatternKind};

fn regex(text: &str) -> FindQuery {
    FindQuery {
        pattern: PatternKind::Regex,
        ..FindQuery::literal(text)
    }
}

#[test]
fn bad_patterns_say_where() {
    let failed = regex("ä(b").compile().expect_err("an open group");
    assert_eq!(
        failed.to_string(),
        "unclosed group at character 2 of the pattern"
    );
    assert_eq!(failed.position, Some(2..3));
    let failed = regex("a{3,1}").compile().expect_err("an empty repetition");
    assert!(
        failed
            .to_string()
            .starts_with("invalid repetition count range"),
        "{failed}"
    );
    let failed = regex(r"\p{Nope}").compile().expect_err("no such class");
    assert_eq!(
        failed.to_string(),
        "Unicode property not found at character 1 of the pattern"
    );
    let failed = regex(r"\w{1000}{1000}").compile().expect_err("too large");
    assert!(
        failed.to_string().starts_with("this pattern is too large"),
        "{failed}"
    );
    assert!(regex("").compile().is_err());
    for odd in [
        "[",
        "a)",
        "*",
        r"\",
        "(?P<1>a)",
        "[z-a]",
        "(?<a>b)(?<a>c)",
        r"\b{x}",
        "a**b(",
    ] {
        if let Err(failed) = regex(odd).compile() {
            assert!(!failed.to_string().is_empty(), "{odd}");
        }
    }
}

#[test]
fn literals_are_taken_by_the_letter() {
    for text in ["a.b", "(", "[x]", r"\n", "^$", "a*", "{}", "# x", "-"] {
        assert!(FindQuery::literal(text).compile().is_ok(), "{text}");
    }
    assert_eq!(
        FindQuery::literal("a\r\nb.\n").translated(),
        r"a\r?\nb\.\r?\n"
    );
    assert_eq!(regex(r"a\n[\n]\\n").translated(), r"a(?:\r?\n)[\n]\\n");
}

#[test]
fn smart_case_looks_for_capitals() {
    let smart = |text: &str, pattern| FindQuery {
        case: CaseMatching::Smart,
        pattern,
        ..FindQuery::literal(text)
    };
    assert!(smart("abc", PatternKind::Literal).ignores_case());
    assert!(!smart("aBc", PatternKind::Literal).ignores_case());
    assert!(smart(r"\Wabc\S", PatternKind::Regex).ignores_case());
    assert!(!smart(r"\Wabc\SÄ", PatternKind::Regex).ignores_case());
    assert!(!smart(r"\W", PatternKind::Literal).ignores_case());
}
