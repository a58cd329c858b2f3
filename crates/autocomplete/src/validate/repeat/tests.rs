//! Repeated fragments and repeated blocks.

use super::{ends_in_loop, longest_run};

#[test]
fn repeated_fragments_differ_from_lists() {
    assert!(ends_in_loop("x foo(a); foo(a); foo(a);"));
    assert!(!ends_in_loop("foo(a); foo(b); foo(c);"));
    assert!(!ends_in_loop("// ------------------------------"));
    assert!(!ends_in_loop("[0, 0, 0, 0]"));
    assert!(!ends_in_loop("ä ä ä"));
}

#[test]
fn only_distinctive_lines_count_as_repeated() {
    assert_eq!(longest_run("}\n}\n}\n"), 0);
    assert_eq!(longest_run("alpha\n\nalpha\nbeta\n"), 2);
}
