//! Keys, text and pastes reach the program as its modes want them.

use base::Platform;
use gpui_kit::test::TestInput;
use gpui_kit::{ClipboardItem, ElementInputHandler, InputHandler as _, TestAppContext};
use settings::Settings;

use super::{open, open_with};
use crate::actions::{SendKeystroke, SendText};

#[gpui_kit::test]
fn typed_text_and_keys_reach_the_program(cx: &mut TestAppContext) {
    let mut story = open(cx);
    assert_eq!(story.sent("l s space shift-a"), "ls A");
    assert_eq!(story.sent("enter"), "\r");
    assert_eq!(story.sent("backspace"), "\x7f");
    assert_eq!(story.sent("ctrl-c"), "\x03");
    assert_eq!(story.sent("alt-b"), "\x1bb");
    assert_eq!(story.sent("tab"), "\t");
    assert_eq!(story.sent("shift-tab"), "\x1b[Z");
    assert_eq!(story.sent("escape"), "\x1b");
}

#[gpui_kit::test]
fn altgr_and_option_type_their_characters(cx: &mut TestAppContext) {
    let mut story = open(cx);
    // AltGr is no modifier of the key; Option is one.
    assert_eq!(story.sent("q->@ 7->{ e->\u{20ac}"), "@{\u{20ac}");
    assert_eq!(story.sent("alt-l->@ alt-7->|"), "@|");
    assert_eq!(story.sent("a shift-b"), "aB");
}

#[gpui_kit::test]
fn keys_of_the_window_go_to_the_program(cx: &mut TestAppContext) {
    let mut story = open(cx);
    assert_eq!(story.sent("ctrl-w"), "\x17");
    assert_eq!(story.sent("ctrl-k"), "\x0b");
    assert_eq!(story.sent("ctrl-p"), "\x10");
    assert_eq!(story.sent("ctrl-r"), "\x12");
    assert_eq!(story.sent("f3"), "\x1bOR");
}

#[gpui_kit::test]
fn arrows_follow_the_modes_of_the_program(cx: &mut TestAppContext) {
    let mut story = open(cx);
    assert_eq!(story.sent("up ctrl-right"), "\x1b[A\x1b[1;5C");
    story.print("\x1b[?1h");
    assert_eq!(story.sent("up"), "\x1bOA");
    story.print("\x1b[?1l\x1b[>1u");
    assert_eq!(story.sent("ctrl-i"), "\x1b[105;5u");
}

#[gpui_kit::test]
fn composed_text_is_sent_only_when_committed(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("abc");
    let view = story.view.clone();
    let (marked, bounds) = story.cx.update(|window, cx| {
        let area = view.read(cx).geometry.as_ref().unwrap().cells;
        let mut handler = ElementInputHandler::new(area, view.clone());
        let bounds = handler.bounds_for_range(0..1, window, cx);
        let mut input = TestInput::new(handler, window);
        input.compose_text(None, "に", Some(1..1), cx);
        input.compose_text(None, "にほ", Some(2..2), cx);
        (input.marked_text_range(cx), bounds)
    });
    assert_eq!(marked, Some(0..2));
    let cursor = story.read(|view| view.geometry.as_ref().unwrap().cells_at(0, 3, 1));
    assert_eq!(bounds, Some(cursor), "the candidates are beside the cursor");
    assert_eq!(
        story.read(|view| view.preedit().unwrap().text.clone()),
        "にほ"
    );
    assert_eq!(story.program().take_input(), "");
    story.cx.update(|window, cx| {
        let area = view.read(cx).geometry.as_ref().unwrap().cells;
        let handler = ElementInputHandler::new(area, view.clone());
        TestInput::new(handler, window).commit_text("日本", cx);
    });
    assert_eq!(story.program().take_input(), "日本");
    assert!(story.read(|view| view.preedit().is_none()));
}

#[gpui_kit::test]
fn a_paste_of_many_lines_is_asked_about(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let copy = |text: &str, story: &mut super::Story| {
        story
            .cx
            .write_to_clipboard(ClipboardItem::new_string(text.to_owned()));
    };
    copy("one", &mut story);
    assert_eq!(story.sent("ctrl-shift-v"), "one");
    copy("rm -rf x\ny\x1b[201~z", &mut story);
    assert_eq!(story.sent("ctrl-shift-v"), "");
    let dialogs = story.labels(gpui_kit::Role::AlertDialog);
    assert!(dialogs[0].contains("2 lines"), "{dialogs:?}");
    assert_eq!(story.sent("escape"), "");
    assert!(story.read(|view| view.question.is_none()));
    assert_eq!(story.sent("ctrl-shift-v x"), "", "keys answer the question");
    let sent = story.sent("enter");
    assert_eq!(sent, "rm -rf x\ry[201~z");
    assert_eq!(story.sent("a"), "a", "the focus returns");
}

#[gpui_kit::test]
fn a_paste_at_an_open_prompt_is_bracketed(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("\x1b[?2004h");
    story.program().show_prompt();
    story.settle();
    let item = ClipboardItem::new_string("a\nb".to_owned());
    story.cx.write_to_clipboard(item);
    assert_eq!(story.sent("ctrl-shift-v"), "\x1b[200~a\rb\x1b[201~");
    assert!(story.read(|view| view.question.is_none()));
}

#[gpui_kit::test]
fn actions_type_texts_and_keys(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(SendText("make\r".to_owned()));
    story.act(SendKeystroke("ctrl-w".to_owned()));
    story.act(SendKeystroke("shift-f5".to_owned()));
    assert_eq!(story.program().take_input(), "make\r\x17\x1b[15;2~");
}

#[gpui_kit::test]
fn all_keys_go_to_the_program_on_request(cx: &mut TestAppContext) {
    let mut settings = Settings::builtin();
    settings.terminal.send_all_keys_to_shell = true;
    let mut story = open_with(settings, cx);
    story.print("\x1b[>1u");
    let sent = story.sent("ctrl-shift-f");
    assert!(!sent.is_empty(), "the key is not the search's");
    assert!(story.read(|view| view.search.bar.is_none()));
    assert_eq!(story.sent("a"), "a");
    story.keys("ctrl-shift-f12");
    assert_eq!(story.sent("ctrl-shift-f"), "");
    assert!(story.read(|view| view.search.bar.is_some()));
}

#[gpui_kit::test]
fn command_keys_stay_with_the_window_on_macos(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.cx.update(|_, cx| {
        let (name, text) = settings::builtin::keymap(settings::KeymapBase::Zed, Platform::MacOs);
        ui::install_keymaps(&[settings::parse_keymap(name, text).0], cx);
    });
    story.settle();
    assert_eq!(story.sent("ctrl-a ctrl-r ctrl-1"), "\x01\x121");
    story.print("text");
    story.keys("cmd-a cmd-c");
    assert_eq!(story.clipboard().as_deref(), Some("text"));
    story.keys("cmd-f");
    assert!(story.read(|view| view.search.bar.is_some()));
}
