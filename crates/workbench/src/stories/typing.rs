//! Keys of the default keymap in a text.

use gpui_kit::TestAppContext;

use super::{Story, open_with, path, project};
use crate::TabItem;

/// A window with one file open.
fn open(name: &str, text: &str, cx: &mut TestAppContext) -> Story {
    let files = project();
    files.write(&path(&format!("/p/{name}")), text);
    let mut story = open_with(files, cx);
    story.open_file(name);
    story
}

fn column(story: &mut Story) -> usize {
    let workbench = story.workbench.clone();
    story.cx.update(|_, cx| {
        let item = workbench.read(cx).active_item();
        let editor = item.and_then(TabItem::editor).cloned().expect("a text");
        let point = editor.update(cx, |editor, cx| editor.caret_point(cx));
        point.column.0 as usize
    })
}

#[gpui_kit::test]
fn home_and_end_go_to_the_wrapped_row_first(cx: &mut TestAppContext) {
    let text = "word ".repeat(400) + "end";
    let mut story = open("long.txt", &text, cx);
    story.act(editor::ToggleSoftWrap);
    story.keys("end");
    let first = column(&mut story);
    assert!(0 < first && first < text.len(), "{first}");
    story.keys("end");
    assert_eq!(column(&mut story), text.len());
    story.keys("home");
    let last = column(&mut story);
    assert!(0 < last && last < text.len(), "{last}");
    story.keys("home");
    assert_eq!(column(&mut story), 0);
    story.keys("shift-end delete");
    assert_eq!(story.text(), text[first..]);
}

#[gpui_kit::test]
fn a_key_without_a_slash_comments_rows(cx: &mut TestAppContext) {
    let mut story = open("a.rs", "fn a() {}\n", cx);
    for keys in ["ctrl-/", "ctrl-#", "ctrl-shift-7"] {
        story.keys(keys);
        assert_eq!(story.text(), "// fn a() {}\n", "{keys}");
        story.keys(keys);
        assert_eq!(story.text(), "fn a() {}\n", "{keys}");
    }
}
