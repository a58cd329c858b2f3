//! Tests several views of one document: synchronization, scrolling, reopening, frames.

use gpui_kit::{AppContext as _, TestAppContext};

use super::{open, state};
use crate::{Editor, EditorEvent, Reveal};

#[gpui_kit::test]
fn two_views_stay_in_step(cx: &mut TestAppContext) {
    let (first, cx) = open("/a.txt", "one\ntwo\nthˇree\n", cx);
    let model = cx.update(|_, cx| first.read(cx).model().clone());
    let second = cx.update(|window, cx| cx.new(|cx| Editor::new(model, window, cx)));
    second.update(cx, |second, cx| {
        second.go_to(base::ByteOffset(5), Reveal::Nearest, cx)
    });
    assert_eq!(state(&second, cx), "one\ntˇwo\nthree\n");
    // Typing in one view moves the carets of the other.
    cx.simulate_input("x\ny");
    assert_eq!(state(&first, cx), "one\ntwo\nthx\nyˇree\n");
    assert_eq!(state(&second, cx), "one\ntˇwo\nthx\nyree\n");
    second.update_in(cx, |second, window, cx| {
        second.run(&caret::Command::Insert("!".into()), window, cx);
    });
    assert_eq!(state(&first, cx), "one\nt!wo\nthx\nyˇree\n");
    assert_eq!(state(&second, cx), "one\nt!ˇwo\nthx\nyree\n");
    // Undo in either view reverts the newest step of the text.
    cx.simulate_keystrokes("ctrl-z");
    assert_eq!(state(&second, cx).replace('ˇ', ""), "one\ntwo\nthx\nyree\n");
}

#[gpui_kit::test]
fn scrolling_follows_the_caret_and_the_text(cx: &mut TestAppContext) {
    let text: String = (0..500).map(|row| format!("row {row}\n")).collect();
    let (editor, cx) = open("/a.txt", &format!("ˇ{text}"), cx);
    cx.simulate_keystrokes("ctrl-end");
    cx.run_until_parked();
    let (top, rows) = editor.update(cx, |editor, cx| {
        (editor.scroll_top(cx), editor.viewport().rows)
    });
    assert!(top + rows >= 501.0 && top < 501.0, "{top} + {rows}");
    // Text that another view inserts above shifts the scroll position.
    let model = cx.update(|_, cx| editor.read(cx).model().clone());
    model.update(cx, |model, cx| {
        let edit = text::Edit::new(base::Span::from(0..0), "new\n".repeat(10));
        model.edit(&[edit], text::Author::Formatter, cx);
    });
    cx.run_until_parked();
    let after = editor.update(cx, |editor, cx| editor.scroll_top(cx));
    assert_eq!(after, top + 10.0);
}

#[gpui_kit::test]
fn a_caret_that_scrolls_the_view_reports_it(cx: &mut TestAppContext) {
    let text: String = (0..500).map(|row| format!("row {row}\n")).collect();
    let (editor, cx) = open("/a.txt", &format!("ˇ{text}"), cx);
    let scrolled = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = scrolled.clone();
    let _events = cx.update(|_, cx| {
        cx.subscribe(&editor, move |_, event: &EditorEvent, _| {
            if *event == EditorEvent::Scrolled {
                count.set(count.get() + 1);
            }
        })
    });
    cx.simulate_keystrokes("down");
    cx.run_until_parked();
    assert_eq!(scrolled.get(), 0, "the caret stays in sight");
    cx.simulate_keystrokes("ctrl-end");
    cx.run_until_parked();
    assert_eq!(scrolled.get(), 1);
}

#[gpui_kit::test]
fn a_view_comes_back_as_it_was(cx: &mut TestAppContext) {
    let text: String = (0..300).map(|row| format!("row {row}\n")).collect();
    let (editor, cx) = open("/a.txt", &format!("ˇ{text}"), cx);
    editor.update(cx, |editor, cx| {
        {
            let at = editor
                .model()
                .read(cx)
                .snapshot()
                .offset_at(base::Point::new(200, 2));
            editor.go_to(at, Reveal::Center, cx)
        };
    });
    cx.run_until_parked();
    let (kept, top) = editor.update(cx, |editor, cx| {
        (editor.view_state(cx), editor.scroll_top(cx))
    });
    assert!(top > 150.0, "{top}");
    let model = cx.update(|_, cx| editor.read(cx).model().clone());
    let other = cx.update(|window, cx| cx.new(|cx| Editor::new(model, window, cx)));
    other.update(cx, |other, cx| {
        other.restore_view_state(&kept, cx);
        assert_eq!(other.scroll_top(cx), top);
        assert_eq!(other.caret_point(cx), base::Point::new(200, 2));
    });
}

#[gpui_kit::test]
fn painting_asks_for_no_further_frame(cx: &mut TestAppContext) {
    use std::cell::Cell;
    use std::rc::Rc;

    let (editor, cx) = open("/a.rs", "fn main() {\n    let x = 1;\n}ˇ\n", cx);
    cx.simulate_input("y");
    cx.run_until_parked();
    let notified = Rc::new(Cell::new(0));
    let count = notified.clone();
    let _subscription =
        cx.update(|_, cx| cx.observe(&editor, move |_, _| count.set(count.get() + 1)));
    for _ in 0..3 {
        cx.update(|window, cx| {
            window.refresh();
            window.draw(cx).clear(cx);
        });
        cx.run_until_parked();
    }
    assert_eq!(notified.get(), 0);
}

#[gpui_kit::test]
fn unchanged_rows_are_not_shaped_again(cx: &mut TestAppContext) {
    let text: String = (0..30)
        .map(|row| format!("let x{row} = {row};\n"))
        .collect();
    let (editor, cx) = open("/a.rs", &format!("ˇ{text}"), cx);
    let shapes = |cx: &mut gpui_kit::VisualTestContext| {
        cx.run_until_parked();
        editor.update(cx, |editor, _| {
            let part = crate::frame::RowSegment {
                wrap: 0,
                cells: None,
            };
            (0..20)
                .map(|row| editor.rows.shape(base::Row(row), part))
                .collect::<Vec<_>>()
        })
    };
    let before = shapes(cx);
    assert!(
        before.iter().all(Option::is_some),
        "every row in sight has a shape"
    );
    cx.simulate_input("y");
    let after = shapes(cx);
    for (row, (before, after)) in before.iter().zip(&after).enumerate().skip(2) {
        let same = std::rc::Rc::ptr_eq(before.as_ref().unwrap(), after.as_ref().unwrap());
        assert!(same, "row {row} was shaped again");
    }
}
