//! Tests authors of lines: the margin, and the line with the resting caret.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::Row;
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{Entity, TestAppContext, VisualTestContext};
use text::RowSpan;

use super::open;
use crate::editor::line_authors::inline_row;
use crate::{Editor, EditorEvent, LineAuthor, LineAuthorDisplay, show_line_authors};

/// Gives the rows of a span an author.
fn author(editor: &Entity<Editor>, rows: (u32, u32), key: usize, cx: &mut VisualTestContext) {
    let author = Arc::new(LineAuthor {
        name: format!("Author {key}").into(),
        age: "1 day ago".into(),
        inline: "Author, 1 day ago".into(),
        description: "Author".into(),
        share: 0.5,
        key,
    });
    let rows = RowSpan {
        start: Row(rows.0),
        end: Row(rows.1),
    };
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    model.update(cx, |model, cx| {
        let snapshot = model.snapshot();
        model.add_line_authors(&snapshot, &[(rows, author)], cx);
    });
    cx.run_until_parked();
}

fn display(editor: &Entity<Editor>, display: LineAuthorDisplay, cx: &mut VisualTestContext) {
    editor.update(cx, |editor, cx| show_line_authors(editor, display, cx));
    cx.run_until_parked();
}

fn rest(cx: &VisualTestContext) {
    cx.executor().advance_clock(Duration::from_secs(1));
    cx.run_until_parked();
}

fn is_drawn(row: usize, cx: &mut VisualTestContext) -> bool {
    cx.update(|window, _| window.try_find(("line-author", row)).is_some())
}

#[gpui_kit::test]
fn the_author_is_shown_while_the_caret_rests(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇone\ntwo\nthree", cx);
    let wanted = Rc::new(RefCell::new(0));
    let count = wanted.clone();
    let _events = cx.update(|_, cx| {
        cx.subscribe(&editor, move |_, event: &EditorEvent, _| {
            if *event == EditorEvent::LineAuthorsWanted {
                *count.borrow_mut() += 1;
            }
        })
    });
    rest(cx);
    assert_eq!(*wanted.borrow(), 0, "nothing is shown");
    let inline = LineAuthorDisplay {
        inline: true,
        margin: false,
    };
    display(&editor, inline, cx);
    author(&editor, (0, 3), 0, cx);
    assert_eq!(editor.read_with(cx, |editor, _| inline_row(editor)), None);
    rest(cx);
    assert_eq!(*wanted.borrow(), 1);
    let shown = editor.read_with(cx, |editor, _| inline_row(editor));
    assert_eq!(shown, Some(Row(0)));
    cx.simulate_keystrokes("down");
    let shown = editor.read_with(cx, |editor, _| inline_row(editor));
    assert_eq!(shown, None, "the caret moved");
    rest(cx);
    let shown = editor.read_with(cx, |editor, _| inline_row(editor));
    assert_eq!(shown, Some(Row(1)));
    rest(cx);
    assert_eq!(*wanted.borrow(), 2, "a resting caret asks once");
}

#[gpui_kit::test]
fn the_margin_names_each_author_once_and_reports_clicks(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇone\ntwo\nthree", cx);
    author(&editor, (0, 2), 7, cx);
    author(&editor, (2, 3), 8, cx);
    assert!(!is_drawn(0, cx));
    let clicked = Rc::new(RefCell::new(Vec::new()));
    let keys = clicked.clone();
    let _events = cx.update(|_, cx| {
        cx.subscribe(&editor, move |_, event: &EditorEvent, _| {
            if let EditorEvent::LineAuthorClicked(key) = event {
                keys.borrow_mut().push(*key);
            }
        })
    });
    let margin = LineAuthorDisplay {
        inline: false,
        margin: true,
    };
    display(&editor, margin, cx);
    assert!(is_drawn(0, cx) && !is_drawn(1, cx) && is_drawn(2, cx));
    cx.update(|window, cx| window.click(("line-author", 2_usize), cx));
    assert_eq!(*clicked.borrow(), [8]);
    // An edited line has no author, and its neighbours keep theirs.
    cx.simulate_keystrokes("delete");
    cx.run_until_parked();
    assert!(!is_drawn(0, cx) && is_drawn(1, cx));
    display(&editor, LineAuthorDisplay::default(), cx);
    assert!(!is_drawn(1, cx));
}
