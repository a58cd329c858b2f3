//! Tests folding by keys.

use base::Row;
use gpui_kit::{Entity, TestAppContext, VisualTestContext};

use super::{open, state};
use crate::Editor;
use crate::editor::folding;

const TEXT: &str = "fn a() {\n    oneˇ();\n    two();\n}\nfn b() {\n    three();\n}\n";

#[gpui_kit::test]
fn blocks_fold_around_the_caret_and_unfold_under_it(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.rs", TEXT, cx);
    editor.update_in(cx, folding::fold);
    cx.run_until_parked();
    let rows = |cx: &mut gpui_kit::VisualTestContext| {
        editor.update(cx, |editor, cx| editor.display(cx).row_count())
    };
    assert_eq!(
        rows(cx),
        5,
        "two rows of the first block and its end are folded into its head"
    );
    assert!(
        state(&editor, cx).starts_with("fn a() {ˇ"),
        "the caret came out of the fold"
    );
    // Moving to hidden text unfolds it.
    editor.update(cx, |editor, cx| {
        let at = editor
            .model()
            .read(cx)
            .snapshot()
            .offset_at(base::Point::new(2, 4));
        editor.go_to(at, crate::Reveal::Nearest, cx)
    });
    assert_eq!(rows(cx), 8);
}

#[gpui_kit::test]
fn everything_folds_and_unfolds(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.rs", TEXT, cx);
    editor.update_in(cx, |editor, window, cx| {
        folding::fold_all(editor, window, cx)
    });
    editor.update(cx, |editor, cx| {
        assert_eq!(editor.display(cx).row_count(), 3)
    });
    editor.update_in(cx, |editor, window, cx| {
        folding::unfold_all(editor, window, cx)
    });
    editor.update(cx, |editor, cx| {
        assert_eq!(editor.display(cx).row_count(), 8)
    });
}

#[gpui_kit::test]
fn text_without_a_grammar_folds_by_its_indentation(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "head\n  oneˇ\n\n  two\ntail\n", cx);
    editor.update_in(cx, folding::fold);
    editor.update(cx, |editor, cx| {
        assert_eq!(editor.display(cx).row_count(), 3)
    });
}

/// Presses keys with the first block folded and the caret in its first row.
fn folded<'a>(
    keys: &str,
    cx: &'a mut TestAppContext,
) -> (Entity<Editor>, &'a mut VisualTestContext) {
    let text = TEXT.replace("oneˇ", "one");
    let (editor, cx) = open("/a.rs", &format!("ˇ{text}"), cx);
    editor.update_in(cx, folding::fold);
    cx.run_until_parked();
    assert_eq!(rows(&editor, cx), 5);
    cx.simulate_keystrokes(keys);
    (editor, cx)
}

fn rows(editor: &Entity<Editor>, cx: &mut VisualTestContext) -> u32 {
    cx.run_until_parked();
    editor.update(cx, |editor, cx| editor.display(cx).row_count())
}

#[gpui_kit::test]
fn undoing_a_cut_folds_the_block_again(cx: &mut TestAppContext) {
    let (editor, cx) = folded("ctrl-x", cx);
    assert_eq!(state(&editor, cx), "ˇfn b() {\n    three();\n}\n");
    cx.simulate_keystrokes("ctrl-z");
    assert!(state(&editor, cx).starts_with("ˇfn a() {\n    one();\n"));
    assert_eq!(rows(&editor, cx), 5, "the block is folded again");
    cx.simulate_keystrokes("ctrl-y ctrl-end ctrl-v");
    assert_eq!(
        state(&editor, cx),
        "fn b() {\n    three();\n}\nfn a() {\n    one();\n    two();\n}\nˇ"
    );
}

#[gpui_kit::test]
fn a_folded_block_moves_and_stays_folded(cx: &mut TestAppContext) {
    let (editor, cx) = folded("alt-down", cx);
    assert_eq!(
        state(&editor, cx),
        "fn b() {\nˇfn a() {\n    one();\n    two();\n}\n    three();\n}\n"
    );
    assert_eq!(rows(&editor, cx), 5);
    cx.simulate_keystrokes("down alt-up");
    assert_eq!(
        state(&editor, cx),
        "fn b() {\nˇ    three();\nfn a() {\n    one();\n    two();\n}\n}\n"
    );
    assert_eq!(
        rows(&editor, cx),
        5,
        "what it moved past is folded as before"
    );
}

#[gpui_kit::test]
fn delete_at_a_fold_only_unfolds(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.rs", "fn a() {ˇ\n    one();\n}\n", cx);
    editor.update_in(cx, folding::fold);
    assert_eq!(rows(&editor, cx), 2);
    cx.simulate_keystrokes("delete");
    assert_eq!(state(&editor, cx), "fn a() {ˇ\n    one();\n}\n");
    assert_eq!(rows(&editor, cx), 4);
    cx.simulate_keystrokes("delete");
    assert_eq!(state(&editor, cx), "fn a() {ˇ    one();\n}\n");
}

#[gpui_kit::test]
fn an_occurrence_in_a_fold_is_shown(cx: &mut TestAppContext) {
    // The last hidden word ends at the end of the fold.
    let (editor, cx) = open("/a.py", "def a():\n    one\n«oneˇ»\n", cx);
    let head = Row(0);
    editor.update(cx, |editor, cx| folding::toggle_fold_at(editor, head, cx));
    assert_eq!(rows(&editor, cx), 3);
    cx.simulate_keystrokes("ctrl-d");
    assert_eq!(state(&editor, cx), "def a():\n    «oneˇ»\n«oneˇ»\n");
    assert_eq!(rows(&editor, cx), 4);
}
