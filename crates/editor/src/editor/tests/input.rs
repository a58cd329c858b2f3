//! Input methods: compositions, UTF-16.

use gpui_kit::test::TestInput;
use gpui_kit::{ElementInputHandler, TestAppContext};

use super::{open, state};

#[gpui_kit::test]
fn a_composition_is_in_the_text_until_it_is_decided(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "aˇb\ncˇd", cx);
    let composed = cx.update(|window, cx| {
        let bounds = editor.read(cx).geometry.as_ref().unwrap().text;
        let mut input = TestInput::new(ElementInputHandler::new(bounds, editor.clone()), window);
        input.compose_text(None, "に", Some(1..1), cx);
        input.compose_text(None, "にほ", Some(2..2), cx);
        let marked = input.marked_text_range(cx);
        let text = crate::fixture::marked(&editor, cx);
        input.commit_text("日本", cx);
        (marked, text, input.marked_text_range(cx))
    });
    assert_eq!(composed.1, "aにほˇb\ncにほˇd");
    assert_eq!(composed.0, Some(6..8), "UTF-16 units at the newest caret");
    assert_eq!(composed.2, None);
    assert_eq!(state(&editor, cx), "a日本ˇb\nc日本ˇd");
    cx.simulate_keystrokes("ctrl-z");
    assert_eq!(
        state(&editor, cx).replace('ˇ', ""),
        "ab\ncd",
        "one step for a composition"
    );
}

#[gpui_kit::test]
fn a_composition_that_is_given_up_leaves_nothing(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "a«xˇ»b", cx);
    cx.update(|window, cx| {
        let bounds = editor.read(cx).geometry.as_ref().unwrap().text;
        let mut input = TestInput::new(ElementInputHandler::new(bounds, editor.clone()), window);
        input.compose_text(None, "´", Some(1..1), cx);
        assert!(input.marked_text_range(cx).is_some());
        input.compose_text(None, "", None, cx);
        assert_eq!(input.marked_text_range(cx), None);
    });
    assert_eq!(state(&editor, cx), "aˇb");
}

#[gpui_kit::test]
fn units_of_utf_16_are_counted(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "😀«éˇ»x", cx);
    cx.update(|window, cx| {
        let bounds = editor.read(cx).geometry.as_ref().unwrap().text;
        let mut input = TestInput::new(ElementInputHandler::new(bounds, editor.clone()), window);
        let selected = input.selected_text_range(cx).unwrap();
        assert_eq!((selected.range, selected.reversed), (2..3, false));
    });
}
