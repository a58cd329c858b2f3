//! Tests input methods: compositions and UTF-16 offsets.

use gpui_kit::test::TestInput;
use gpui_kit::{InputHandler as _, TestAppContext};

use super::{open, state};
use crate::element::EditorInput;

#[gpui_kit::test]
fn a_composition_is_in_the_text_until_it_is_decided(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "aˇb\ncˇd", cx);
    let composed = cx.update(|window, cx| {
        let bounds = editor.read(cx).geometry.as_ref().unwrap().text;
        let input = EditorInput::new(bounds, editor.clone(), cx);
        let mut input = TestInput::new(input, window);
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
        let input = EditorInput::new(bounds, editor.clone(), cx);
        let mut input = TestInput::new(input, window);
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
        let input = EditorInput::new(bounds, editor.clone(), cx);
        let mut input = TestInput::new(input, window);
        let selected = input.selected_text_range(cx).unwrap();
        assert_eq!((selected.range, selected.reversed), (2..3, false));
    });
}

#[gpui_kit::test]
fn a_held_letter_repeats_unless_the_settings_offer_accents(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇ", cx);
    cx.update(|_, cx| {
        let bounds = editor.read(cx).geometry.as_ref().unwrap().text;
        for offers_accents in [false, true] {
            let mut settings = settings::Settings::builtin();
            settings.editor.press_and_hold = offers_accents;
            ui::set_settings(std::sync::Arc::new(settings), cx);
            editor.update(cx, |editor, cx| editor.follow_settings(cx));
            let mut input = EditorInput::new(bounds, editor.clone(), cx);
            assert_eq!(input.apple_press_and_hold_enabled(), offers_accents);
        }
    });
}
