//! Errors counted, and counted again behind edits.

use base::Span;
use text::{Buffer, Edit, EditOrigin, Timestamp};

use crate::tests::parsed;
use crate::{Budget, Damage};

/// The damage of `text` and that behind replacing `at` by `new`.
fn check(language: &str, text: &str, at: std::ops::Range<usize>, new: &str) -> (Damage, Damage) {
    let mut buffer = Buffer::new(text);
    let before = buffer.snapshot();
    let tree = parsed(language, &before).snapshot();
    let edit = Edit::new(Span::from(at), new);
    let change = buffer.edit(&[edit], &EditOrigin::user(Timestamp(0)));
    let after = buffer.snapshot();
    let behind = tree
        .with_change(&before, &after, &change, &mut Budget::unlimited())
        .expect("a tree");
    assert_eq!(behind.revision(), after.revision());
    assert_eq!(behind.parsed_revision(), Some(after.revision()));
    (
        tree.damage().expect("a tree"),
        behind.damage().expect("a tree"),
    )
}

#[test]
fn an_edit_mends_breaks_or_leaves() {
    let (before, after) = check("rust", "fn a() { let x = f(1; }\n", 20..20, ")");
    assert!(before.places > 0 && after == Damage::default());
    let (before, after) = check("rust", "fn a() {}\n", 8..8, " if x {");
    assert!(before == Damage::default() && after.places > 0);
    let (before, after) = check("python", "x = 1\n", 6..6, "y = 2\n");
    assert_eq!((before, after), (Damage::default(), Damage::default()));
}

#[test]
fn a_budget_that_is_spent_gives_no_tree() {
    let mut buffer = Buffer::new(&"fn a() { b(); }\n".repeat(2_000));
    let before = buffer.snapshot();
    let tree = parsed("rust", &before).snapshot();
    let other = "struct C { d: E }\n".repeat(2_000);
    let change = buffer.replace(before.full_span(), &other, &EditOrigin::user(Timestamp(0)));
    let mut is_spent = || true;
    let after = buffer.snapshot();
    let behind = tree.with_change(&before, &after, &change, &mut Budget::until(&mut is_spent));
    assert!(behind.is_none());
}
