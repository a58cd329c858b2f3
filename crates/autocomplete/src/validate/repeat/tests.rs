//! Circles and blocks.

use super::{ends_in_a_circle, longest_run};

#[test]
fn circles_are_found_and_lists_are_none() {
    assert!(ends_in_a_circle("x foo(a); foo(a); foo(a);"));
    assert!(!ends_in_a_circle("foo(a); foo(b); foo(c);"));
    assert!(!ends_in_a_circle("// ------------------------------"));
    assert!(!ends_in_a_circle("[0, 0, 0, 0]"));
    assert!(!ends_in_a_circle("ä ä ä"));
}

#[test]
fn only_lines_that_say_something_count() {
    assert_eq!(longest_run("}\n}\n}\n"), 0);
    assert_eq!(longest_run("alpha\n\nalpha\nbeta\n"), 2);
}
