//! Tests snippets in a view with the default keys.

use gpui_kit::{TestAppContext, VisualTestContext};
use snippet::Snippet;

use super::state;
use super::suggesting::open_with_keys;
use crate::SnippetInsertion;

/// Inserts a snippet, presses keys, and compares. `_` in `keys` types the character after it.
fn check(before: &str, body: &str, keys: &str, after: &str, cx: &mut TestAppContext) {
    let (editor, _heard, _subscription, cx) = open_with_keys("/a.rs", before, cx);
    editor.update_in(cx, |editor, window, cx| {
        let insertion = SnippetInsertion {
            snippet: &Snippet::parse(body),
            typed: "ab",
            variable: &|name| (name == "WORKSPACE_NAME").then(|| "folder".to_owned()),
        };
        assert!(editor.insert_snippet(&insertion, window, cx));
    });
    press(keys, cx);
    assert_eq!(state(&editor, cx), after, "{before:?} {body:?} {keys}");
}

fn press(keys: &str, cx: &mut VisualTestContext) {
    for key in keys.split_whitespace() {
        match key.strip_prefix('_') {
            Some(text) => cx.simulate_input(text),
            None => cx.simulate_keystrokes(key),
        }
    }
}

#[gpui_kit::test]
fn tab_goes_through_the_stops(cx: &mut TestAppContext) {
    let body = "for ${1:i} in ${2:0}..$3 {\n\t$0\n}";
    check("  ˇ", body, "", "  for «iˇ» in 0.. {\n      \n  }", cx);
    check(
        "ˇ",
        body,
        "_n tab tab _9 tab",
        "for n in 0..9 {\n    ˇ\n}",
        cx,
    );
    check(
        "ˇ",
        body,
        "_n tab shift-tab",
        "for «nˇ» in 0.. {\n    \n}",
        cx,
    );
}

#[gpui_kit::test]
fn every_caret_gets_the_snippet(cx: &mut TestAppContext) {
    check("ˇ-ˇ", "[$1]$0", "_x tab _!", "[x]!ˇ-[x]!ˇ", cx);
}

#[gpui_kit::test]
fn the_typed_abbreviation_is_replaced(cx: &mut TestAppContext) {
    check("x abˇ y", "abbreviated", "", "x abbreviatedˇ y", cx);
    check("x aˇ y", "abbreviated", "", "x aabbreviatedˇ y", cx);
}

#[gpui_kit::test]
fn variables_take_their_values(cx: &mut TestAppContext) {
    let body = "$TM_SELECTED_TEXT $TM_FILENAME_BASE $TM_LINE_NUMBER $LINE_COMMENT $WORKSPACE_NAME";
    check("\n«selˇ»", body, "", "\nsel a 2 // folderˇ", cx);
}

#[gpui_kit::test]
fn leaving_the_snippet_gives_tab_back(cx: &mut TestAppContext) {
    check("ˇ", "($1, $2)", "escape tab", "(   ˇ, )", cx);
    check("xˇ", "($1, $2)", "home tab", "    ˇx(, )", cx);
    check("ˇ", "($1, $2)", "tab tab tab", "(, )    ˇ", cx);
}

#[gpui_kit::test]
fn undo_removes_the_snippet_and_its_stops(cx: &mut TestAppContext) {
    check("aˇb", "($1, $2)", "ctrl-z tab", "a   ˇb", cx);
}
