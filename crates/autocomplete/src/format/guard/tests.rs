//! Broken tokens.

use super::{harmless, holds};

#[test]
fn tokens_are_broken_and_nothing_else() {
    let tokens = ["<|file_sep|>", "<｜fim▁hole｜>"];
    assert_eq!(harmless("a <|file_sep|> b", &tokens), "a < |file_sep|> b");
    assert_eq!(harmless("<｜fim▁hole｜>", &tokens), "< ｜fim▁hole｜>");
    assert_eq!(harmless("a <|file| b", &tokens), "a <|file| b");
    assert!(!holds(
        &harmless("<|file_sep|><|file_sep|>", &tokens),
        &tokens
    ));
}
