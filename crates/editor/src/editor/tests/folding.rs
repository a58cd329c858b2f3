//! Folding by keys.

use gpui_kit::TestAppContext;

use super::{open, state};

const TEXT: &str = "fn a() {\n    oneˇ();\n    two();\n}\nfn b() {\n    three();\n}\n";

#[gpui_kit::test]
fn blocks_fold_around_the_caret_and_unfold_under_it(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.rs", TEXT, cx);
    editor.update_in(cx, |editor, window, cx| editor.fold(window, cx));
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
    // Going to what is hidden shows it.
    editor.update(cx, |editor, cx| {
        editor.go_to_point(base::Point::new(2, 4), crate::Reveal::Nearest, cx)
    });
    assert_eq!(rows(cx), 8);
}

#[gpui_kit::test]
fn everything_folds_and_unfolds(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.rs", TEXT, cx);
    editor.update_in(cx, |editor, window, cx| editor.fold_all(window, cx));
    editor.update(cx, |editor, cx| {
        assert_eq!(editor.display(cx).row_count(), 3)
    });
    editor.update_in(cx, |editor, window, cx| editor.unfold_all(window, cx));
    editor.update(cx, |editor, cx| {
        assert_eq!(editor.display(cx).row_count(), 8)
    });
}

#[gpui_kit::test]
fn text_without_a_grammar_folds_by_its_indentation(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "head\n  oneˇ\n\n  two\ntail\n", cx);
    editor.update_in(cx, |editor, window, cx| editor.fold(window, cx));
    editor.update(cx, |editor, cx| {
        assert_eq!(editor.display(cx).row_count(), 3)
    });
}
