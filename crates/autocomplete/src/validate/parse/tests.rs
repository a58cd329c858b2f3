//! Better, worse and stale trees.

use base::Span;
use syntax::{Budget, SyntaxTree, language_named};
use text::{Buffer, EditOrigin, Timestamp};

use super::parses_no_worse;
use crate::samples::{offer, scene, scene_of};
use crate::validate::applied;

fn check(text: &str, new: &str) -> bool {
    let scene = scene("rust", text);
    let (change, after) = applied(&scene.snapshot, &offer(&scene, Span::at(scene.caret), new));
    parses_no_worse(&scene, &after, &change)
}

#[test]
fn a_broken_text_may_stay_broken_but_not_break_further() {
    assert!(check("fn a() { let x = ˇ", "f(1)"));
    assert!(check("fn a() { if y { ˇ", "f(1); }"));
    assert!(!check(
        "fn a() { b(); }\nfn c() { let x = 1; ˇ }\nfn d() {}",
        "f((1"
    ));
    assert!(check("fn a() {ˇ}", ""));
}

#[test]
fn an_older_tree_is_brought_up_to_the_text_first() {
    let language = language_named("rust").expect("rust");
    language.prepare();
    let mut buffer = Buffer::new("fn a() {}\n");
    let mut tree = SyntaxTree::new(language);
    drop(tree.parse(&buffer.snapshot(), &mut Budget::unlimited()));
    let before = buffer.snapshot();
    let change = buffer.replace(Span::from(8..8), " b(", &EditOrigin::typing(Timestamp(0)));
    tree.edit(&before, &buffer.snapshot(), &change);
    let mut scene = scene_of(&buffer, "", 11.into());
    scene.syntax = Some(tree.snapshot());
    let mends = offer(&scene, Span::from(11..11), "1);");
    let (change, after) = applied(&scene.snapshot, &mends);
    assert!(parses_no_worse(&scene, &after, &change));
    let leaves = offer(&scene, Span::from(11..11), "c");
    let (change, after) = applied(&scene.snapshot, &leaves);
    assert!(
        parses_no_worse(&scene, &after, &change),
        "it was broken before"
    );
}
