//! Control tokens of models, broken up in user text.

use super::{harmless, holds};

#[test]
fn only_control_tokens_are_broken_up() {
    let tokens = ["<|file_sep|>", "<｜fim▁hole｜>"];
    assert_eq!(harmless("a <|file_sep|> b", &tokens), "a < |file_sep|> b");
    assert_eq!(harmless("<｜fim▁hole｜>", &tokens), "< ｜fim▁hole｜>");
    assert_eq!(harmless("a <|file| b", &tokens), "a <|file| b");
    assert!(!holds(
        &harmless("<|file_sep|><|file_sep|>", &tokens),
        &tokens
    ));
}
