//! Which slips are recognised.

use super::{distance, nearest};

#[test]
fn slips_are_recognised() {
    let known = ["tab_size", "hard_tabs", "soft_wrap"];
    assert_eq!(nearest("tabSize", known), Some("tab_size"));
    assert_eq!(nearest("tab_sise", known), Some("tab_size"));
    assert_eq!(nearest("softwrap", known), Some("soft_wrap"));
    assert_eq!(nearest("banana", known), None);
    assert_eq!(nearest("", known), None);
}

#[test]
fn distance_counts_edits() {
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(distance("", "abc"), 3);
    assert_eq!(distance("abc", ""), 3);
}
