//! Comments and strings left open.

use syntax::language_named;

use super::{closers, is_odd};

fn check(language: &str, text: &str, expected: &[&str]) {
    let language = language_named(language).expect("a language");
    assert_eq!(closers(language, text), expected, "{text}");
}

#[test]
fn open_comments_and_strings_are_closed() {
    check("javascript", "/** a", &["*/"]);
    check("javascript", "/* a */ b", &[]);
    check("javascript", "x = `a\n${b}", &["`"]);
    check("javascript", "x = 'a'\ny = \"b", &["\""]);
    check("javascript", "it's\nb", &[]);
    check("python", "def f():\n    \"\"\"Text\n", &["\"\"\""]);
    check("rust", "let x = \"a\nb", &["\""]);
}

#[test]
fn escaped_quotes_do_not_count() {
    assert!(!is_odd("a \\\" b", "\""));
    assert!(is_odd("a \\\\\" b", "\""));
}
