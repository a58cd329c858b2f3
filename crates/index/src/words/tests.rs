//! Tests of the division into words.

use super::each_word;

fn words(text: &str, most: usize) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, most, |word| words.push(word.to_owned()));
    words
}

fn check(text: &str, expected: &str) {
    assert_eq!(words(text, 300).join(" "), expected, "{text:?}");
}

#[test]
fn identifiers_are_reported_whole_and_in_parts() {
    check("let x = 1;", "let x");
    check("parse_header", "parse_header parse header");
    check("parseHeader", "parseheader parse header");
    check("HTTPServer", "httpserver http server");
    check("ABc", "abc a bc");
    check("utf8", "utf8 utf 8");
    check("SCREAMING_CASE", "screaming_case screaming case");
    check("parse_HTTPHeader", "parse_httpheader parse http header");
    check("0x1F", "x1f x 1 f");
}

#[test]
fn underscores_around_a_name_are_ignored() {
    check("_private", "_private private");
    check("__init__", "__init__ init");
    check("_ __ ___", "");
    check("a.b->c", "a b c");
}

#[test]
fn non_ascii_characters_separate_words() {
    check("naïve café", "na ve caf");
    check("größe 日本 x", "gr e x");
    check("", "");
}

#[test]
fn the_word_limit_is_respected() {
    assert_eq!(words("parse_header now", 2), ["parse_header", "parse"]);
    assert_eq!(words("parse_header now", 0), [""; 0]);
    assert_eq!(words("a b c", 2), ["a", "b"]);
}

#[test]
fn a_long_identifier_is_truncated() {
    let long = "a".repeat(5_000);
    assert_eq!(
        words(&format!("{long} b"), 9),
        ["a".repeat(super::MAX_IDENTIFIER_BYTES), "b".to_owned()]
    );
}
