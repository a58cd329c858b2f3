//! Texts split into tokens.

use super::{CodeTokens, TokenKind};

fn check(text: &str, expected: &[&str]) {
    let tokens: Vec<&str> = CodeTokens::new(text)
        .map(|token| token.text(text))
        .collect();
    assert_eq!(tokens, expected);
}

#[test]
fn words_numbers_and_operators_are_one_token_each() {
    check("a::b_c != 0x1f.2", &["a", "::", "b_c", "!=", "0x1f.2"]);
    check("1..2", &["1", "..", "2"]);
    check("größe→x", &["größe", "→", "x"]);
    check("f(\"a b\")", &["f", "(", "\"", "a", "b", "\"", ")"]);
}

#[test]
fn blank_lines_and_indent_are_one_newline_token() {
    check("a\r\n\n  b\n", &["a", "\n\n  ", "b", "\n"]);
    assert!(CodeTokens::new("\n").all(|token| token.kind == TokenKind::Newline));
}

#[test]
fn every_non_blank_byte_is_in_one_token() {
    let text = "é\u{301}a👩\u{200d}👧 = {\"ß\": 1_000.5e3}\t//…\n\n\u{feff}";
    let mut at = 0;
    for token in CodeTokens::new(text) {
        assert!(text[at..token.start].chars().all(char::is_whitespace));
        assert!(token.start < token.end);
        at = token.end;
    }
    assert_eq!(at, text.len());
}
