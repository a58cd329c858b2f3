//! Tests which lines count as equal.

use super::*;

#[test]
fn punctuation_and_outer_space_do_not_count() {
    assert!(is_same("  say(\u{201c}hi\u{201d})\t", "say(\"hi\")"));
    assert!(is_same("a\u{a0}\u{2014} b", "a - b"));
    assert!(!is_same("a  b", "a b"));
    assert_eq!(key("  x\u{2019}s "), key("x's"));
    assert_ne!(key("ab"), key("ba"));
}

#[test]
fn the_hash_is_the_published_one() {
    let mut hash = LineHash::new();
    hash.add(b"foobar");
    assert_eq!(hash.0, 0x8594_4171_f739_67e8);
}
