//! Tests of splitting words into tokens.

use super::Vocabulary;

fn vocabulary() -> Vocabulary {
    Vocabulary::new([
        "parse",
        "##r",
        "##s",
        "token",
        "##ize",
        "tokenizer",
        "a",
        "##b",
        "read_line",
        "http",
        "line",
        "##",
        "8",
        "utf",
    ])
}

fn check(text: &str, expected: &str) {
    let vocabulary = vocabulary();
    let mut tokens = Vec::new();
    vocabulary.each_token(text, 300, |token| tokens.push(vocabulary.spelling(token)));
    assert_eq!(tokens.join(" "), expected, "{text:?}");
}

#[test]
fn the_longest_token_wins() {
    check("tokenizer", "tokenizer");
    check("tokenizers", "tokenizer ##s");
    check("tokenize", "token ##ize");
    check("parsers Parser", "parse ##r ##s parse ##r");
}

#[test]
fn a_word_without_matching_pieces_has_no_tokens() {
    check("parsez", "");
    check("zparse", "");
    check("abb ab", "a ##b ##b a ##b");
}

#[test]
fn a_compound_is_one_token_only_if_known() {
    check("read_line", "read_line line");
    check("parse_line", "parse line");
    check("HttpParser utf8", "http parse ##r utf 8");
}

#[test]
fn tokens_are_numbered_in_order_and_duplicates_keep_the_first() {
    let vocabulary = Vocabulary::new(["x", "y", "x"]);
    assert_eq!(vocabulary.len(), 3);
    assert_eq!(
        (vocabulary.whole_token("x"), vocabulary.whole_token("y")),
        (Some(0), Some(1))
    );
    assert_eq!(vocabulary.whole_token("z"), None);
    assert_eq!((vocabulary.spelling(2), vocabulary.spelling(3)), ("x", ""));
}

#[test]
fn an_empty_vocabulary_has_no_tokens() {
    let vocabulary = Vocabulary::new([]);
    vocabulary.each_token("parse it", 9, |token| panic!("told {token}"));
    assert_eq!(vocabulary.whole_token("parse"), None);
}

#[test]
fn every_token_is_found_again_in_a_large_vocabulary() {
    let tokens: Vec<String> = (0..40_000)
        .map(|number| {
            if number % 3 == 0 {
                format!("##w{number}")
            } else {
                format!("w{number}")
            }
        })
        .collect();
    let vocabulary = Vocabulary::new(tokens.iter().map(String::as_str));
    for (number, token) in tokens.iter().enumerate() {
        let word = token.trim_start_matches('#');
        let expected = (number % 3 != 0).then_some(number as u32);
        assert_eq!(vocabulary.whole_token(word), expected, "{token}");
    }
}
