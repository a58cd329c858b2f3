//! Texts that parse better or worse, and stale trees.

use base::Span;
use syntax::{Budget, SyntaxTree, language_named};
use text::{Buffer, EditOrigin, Timestamp};

use super::parses_no_worse;
use crate::samples::{state, state_of, suggestion};
use crate::validate::applied;

fn check(text: &str, new: &str) -> bool {
    let state = state("rust", text);
    let (change, after) = applied(
        &state.snapshot,
        &suggestion(&state, Span::at(state.caret), new),
    );
    parses_no_worse(&state, &after, &change)
}

#[test]
fn a_broken_text_may_not_parse_worse() {
    assert!(check("fn a() { let x = ˇ", "f(1)"));
    assert!(check("fn a() { if y { ˇ", "f(1); }"));
    assert!(!check(
        "fn a() { b(); }\nfn c() { let x = 1; ˇ }\nfn d() {}",
        "f((1"
    ));
    assert!(check("fn a() {ˇ}", ""));
}

#[test]
fn a_stale_tree_is_updated_first() {
    let language = language_named("rust").expect("rust");
    language.prepare();
    let mut buffer = Buffer::new("fn a() {}\n");
    let mut tree = SyntaxTree::new(language);
    drop(tree.parse(&buffer.snapshot(), &mut Budget::unlimited()));
    let before = buffer.snapshot();
    let change = buffer.replace(Span::from(8..8), " b(", &EditOrigin::typing(Timestamp(0)));
    tree.edit(&before, &buffer.snapshot(), &change);
    let mut state = state_of(&buffer, "", 11.into());
    state.syntax = Some(tree.snapshot());
    let mends = suggestion(&state, Span::from(11..11), "1);");
    let (change, after) = applied(&state.snapshot, &mends);
    assert!(parses_no_worse(&state, &after, &change));
    let leaves = suggestion(&state, Span::from(11..11), "c");
    let (change, after) = applied(&state.snapshot, &leaves);
    assert!(
        parses_no_worse(&state, &after, &change),
        "it was broken before"
    );
}
