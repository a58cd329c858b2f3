//! Circles and blocks.

use super::{ends_in_loop, longest_run};

#[test]
fn circles_are_found_and_lists_are_none() {
    assert!(ends_in_loop("x foo(a); foo(a); foo(a);"));
    assert!(!ends_in_loop("foo(a); foo(b); foo(c);"));
    assert!(!ends_in_loop("// ------------------------------"));
    assert!(!ends_in_loop("[0, 0, 0, 0]"));
    assert!(!ends_in_loop("ä ä ä"));
}

#[test]
fn only_lines_that_say_something_count() {
    assert_eq!(longest_run("}\n}\n}\n"), 0);
    assert_eq!(longest_run("alpha\n\nalpha\nbeta\n"), 2);
}
