//! The view of bytes over a file in memory.

use std::sync::Arc;

use base::AbsPath;
use gpui_kit::{Entity, Focusable as _, TestAppContext, VisualTestContext};
use host::FakeFiles;

use super::HexPreview;
use crate::actions::{Copy, CopyRecord, Down, End, GoToOffset, Right, SelectRight, Up};
use crate::source::PreviewSource;

fn open(content: &[u8], cx: &mut TestAppContext) -> (Entity<HexPreview>, VisualTestContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
    });
    let path = AbsPath::new("/p/a.bin").expect("absolute");
    let files = FakeFiles::new();
    files.write(&path, content);
    let source = PreviewSource {
        files: Arc::new(files),
        path,
        root: None,
    };
    let window = cx.add_window(|window, cx| HexPreview::new(source, 0, window, cx));
    let view = window.root(cx).expect("an open window");
    let mut cx = VisualTestContext::from_window(window.into(), cx);
    cx.update(|window, cx| {
        window.activate_window();
        let focus = view.read(cx).focus_handle(cx);
        focus.focus(window, cx);
    });
    cx.run_until_parked();
    (view, cx)
}

fn copied(cx: &mut VisualTestContext) -> Option<String> {
    cx.run_until_parked();
    cx.read_from_clipboard().and_then(|item| item.text())
}

#[gpui_kit::test]
fn keys_move_the_caret_and_select_bytes(cx: &mut TestAppContext) {
    let content: Vec<u8> = (0..100).collect();
    let (view, mut cx) = open(&content, cx);
    cx.dispatch_action(Down);
    cx.dispatch_action(Right);
    cx.dispatch_action(SelectRight);
    cx.dispatch_action(Copy);
    assert_eq!(copied(&mut cx).as_deref(), Some("11 12"));
    cx.dispatch_action(Up);
    view.read_with(&cx, |view, _| assert_eq!(view.caret, 2));
    cx.dispatch_action(Up);
    view.read_with(&cx, |view, _| assert_eq!(view.caret, 2, "the column stays"));
    cx.dispatch_action(End);
    cx.dispatch_action(CopyRecord);
    assert_eq!(copied(&mut cx).as_deref(), Some("c"));
}

#[gpui_kit::test]
fn an_offset_far_away_is_read_and_shown(cx: &mut TestAppContext) {
    let mut content = vec![0; 1 << 20];
    content[0xf_0000] = 0xab;
    let (view, mut cx) = open(&content, cx);
    cx.dispatch_action(GoToOffset);
    cx.simulate_input("0xf0000");
    cx.simulate_keystrokes("enter");
    cx.run_until_parked();
    view.read_with(&cx, |view, _| {
        assert_eq!(view.caret, 0xf_0000);
        let content = view.content.ready().expect("open");
        let row = content.reader.row(0xf000).expect("it was read");
        assert_eq!(row.hex(0).as_deref(), Some("ab"));
        assert!(view.field.is_none());
    });
}

#[gpui_kit::test]
fn a_wrong_offset_keeps_the_field_and_says_why(cx: &mut TestAppContext) {
    let (view, mut cx) = open(b"abc", cx);
    cx.dispatch_action(GoToOffset);
    cx.simulate_input("99");
    cx.simulate_keystrokes("enter");
    cx.run_until_parked();
    view.read_with(&cx, |view, _| {
        let problem = view.field.clone().flatten().expect("a sentence");
        assert_eq!(problem.as_ref(), "The file has only 3 bytes.");
    });
}
