//! Tests of digraphs.

use super::{DIGRAPHS, lookup};

#[test]
fn digraphs_are_found_in_either_order() {
    assert_eq!(lookup('a', ':'), 'ä');
    assert_eq!(lookup(':', 'a'), 'ä');
    assert_eq!(lookup('E', 'u'), '€');
    assert_eq!(lookup('x', 'y'), 'y');
}

#[test]
fn digraphs_are_sorted_by_name() {
    assert!(DIGRAPHS.windows(2).all(|pair| pair[0].0 < pair[1].0));
}
