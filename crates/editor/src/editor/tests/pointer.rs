//! Tests the pointer: clicks, drags, boxes, the gutter, the wheel.

use gpui_kit::{
    Entity, Modifiers, MouseButton, MouseDownEvent, MouseMoveEvent, MouseUpEvent, Pixels, Point,
    ScrollDelta, ScrollEvent, TestAppContext, VisualTestContext, point, px,
};

use super::{open, state};
use crate::Editor;
use crate::editor::{menu, scrolling};

/// Returns the middle of a cell.
fn at(editor: &Entity<Editor>, row: u32, cell: u32, cx: &mut VisualTestContext) -> Point<Pixels> {
    cx.run_until_parked();
    editor.update(cx, |editor, _| {
        let geometry = editor.geometry.as_ref().unwrap();
        let y = geometry.y_of(editor.display.y_of(display::DisplayRow(row)))
            + geometry.line_height / 2.0;
        point(geometry.x_of(cell) + px(1.0), y)
    })
}

fn press(
    position: Point<Pixels>,
    button: MouseButton,
    clicks: usize,
    modifiers: Modifiers,
    cx: &mut VisualTestContext,
) {
    cx.simulate_event(MouseMoveEvent {
        position,
        pressed_button: None,
        modifiers,
    });
    cx.simulate_event(MouseDownEvent {
        position,
        button,
        modifiers,
        click_count: clicks,
        first_mouse: false,
    });
}

fn release(
    position: Point<Pixels>,
    button: MouseButton,
    modifiers: Modifiers,
    cx: &mut VisualTestContext,
) {
    cx.simulate_event(MouseUpEvent {
        position,
        button,
        modifiers,
        click_count: 1,
    });
}

fn drag_to(
    position: Point<Pixels>,
    button: MouseButton,
    modifiers: Modifiers,
    cx: &mut VisualTestContext,
) {
    cx.simulate_event(MouseMoveEvent {
        position,
        pressed_button: Some(button),
        modifiers,
    });
}

fn click(position: Point<Pixels>, clicks: usize, modifiers: Modifiers, cx: &mut VisualTestContext) {
    press(position, MouseButton::Left, clicks, modifiers, cx);
    release(position, MouseButton::Left, modifiers, cx);
}

const TEXT: &str = "ˇone two\nthree four\nfive";

#[gpui_kit::test]
fn clicks_select_by_letter_word_and_row(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    let check = |clicks: usize, expect: &str, cx: &mut VisualTestContext| {
        let position = at(&editor, 1, 7, cx);
        click(position, clicks, Modifiers::default(), cx);
        assert_eq!(state(&editor, cx), expect, "{clicks} clicks");
    };
    check(1, "one two\nthree fˇour\nfive", cx);
    check(2, "one two\nthree «fourˇ»\nfive", cx);
    check(3, "one two\n«three four\nˇ»five", cx);
}

#[gpui_kit::test]
fn a_drag_selects_and_shift_extends(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    let (from, to, far) = (
        at(&editor, 0, 4, cx),
        at(&editor, 1, 5, cx),
        at(&editor, 2, 2, cx),
    );
    press(from, MouseButton::Left, 1, Modifiers::default(), cx);
    drag_to(to, MouseButton::Left, Modifiers::default(), cx);
    release(to, MouseButton::Left, Modifiers::default(), cx);
    assert_eq!(state(&editor, cx), "one «two\nthreeˇ» four\nfive");
    click(far, 1, Modifiers::shift(), cx);
    assert_eq!(state(&editor, cx), "one «two\nthree four\nfiˇ»ve");
}

#[gpui_kit::test]
fn alt_adds_a_caret_and_takes_it_away(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    let position = at(&editor, 1, 2, cx);
    click(position, 1, Modifiers::alt(), cx);
    assert_eq!(state(&editor, cx), "ˇone two\nthˇree four\nfive");
    click(position, 1, Modifiers::alt(), cx);
    assert_eq!(state(&editor, cx), "ˇone two\nthree four\nfive");
}

#[gpui_kit::test]
fn a_box_is_selected_with_the_middle_button(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    let (from, to) = (at(&editor, 0, 1, cx), at(&editor, 2, 3, cx));
    press(from, MouseButton::Middle, 1, Modifiers::default(), cx);
    drag_to(to, MouseButton::Middle, Modifiers::default(), cx);
    release(to, MouseButton::Middle, Modifiers::default(), cx);
    assert_eq!(state(&editor, cx), "o«neˇ» two\nt«hrˇ»ee four\nf«ivˇ»e");
}

#[gpui_kit::test]
fn a_box_over_short_rows_deletes_its_columns_only(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇabcdef\nab\n\nabcdef\n", cx);
    let (from, to) = (at(&editor, 0, 2, cx), at(&editor, 3, 4, cx));
    press(from, MouseButton::Middle, 1, Modifiers::default(), cx);
    drag_to(to, MouseButton::Middle, Modifiers::default(), cx);
    release(to, MouseButton::Middle, Modifiers::default(), cx);
    assert_eq!(state(&editor, cx), "ab«cdˇ»ef\nabˇ\n\nab«cdˇ»ef\n");
    cx.simulate_keystrokes("delete");
    assert_eq!(state(&editor, cx), "abˇef\nabˇ\n\nabˇef\n");
    cx.simulate_keystrokes("delete delete delete");
    assert_eq!(state(&editor, cx), "abˇ\nabˇ\n\nabˇ\n");
}

#[gpui_kit::test]
fn selected_text_is_dragged_elsewhere(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "«oneˇ» two\nthree", cx);
    let (from, to) = (at(&editor, 0, 1, cx), at(&editor, 1, 5, cx));
    press(from, MouseButton::Left, 1, Modifiers::default(), cx);
    drag_to(to, MouseButton::Left, Modifiers::default(), cx);
    release(to, MouseButton::Left, Modifiers::default(), cx);
    assert_eq!(state(&editor, cx), " two\nthree«oneˇ»");
}

#[gpui_kit::test]
fn the_gutter_selects_rows(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    let mut position = at(&editor, 1, 0, cx);
    position.x = px(4.0);
    click(position, 1, Modifiers::default(), cx);
    assert_eq!(state(&editor, cx), "one two\n«three four\nˇ»five");
}

#[gpui_kit::test]
fn the_wheel_scrolls_by_rows_and_the_touchpad_by_pixels(cx: &mut TestAppContext) {
    let text: String = (0..500).map(|row| format!("row {row}\n")).collect();
    let (editor, cx) = open("/a.txt", &format!("ˇ{text}"), cx);
    let position = at(&editor, 2, 2, cx);
    cx.simulate_event(MouseMoveEvent {
        position,
        pressed_button: None,
        modifiers: Modifiers::default(),
    });
    let scroll = |delta: ScrollDelta, cx: &mut VisualTestContext| {
        cx.simulate_event(ScrollEvent {
            position,
            delta,
            ..Default::default()
        });
        cx.run_until_parked();
        editor.update(cx, |editor, cx| editor.scroll_top(cx))
    };
    assert_eq!(scroll(ScrollDelta::Lines(point(0.0, -2.0)), cx), 6.0);
    let line = editor.update(cx, |editor, _| {
        editor.geometry.as_ref().unwrap().line_height
    });
    let top = scroll(ScrollDelta::Pixels(point(px(0.0), -line / 4.0)), cx);
    assert!((top - 6.25).abs() < 1e-6, "{top}");
}

#[gpui_kit::test]
fn a_menu_request_out_of_view_does_not_swallow_clicks(cx: &mut TestAppContext) {
    let text = format!("some words\n{}ˇ", "row\n".repeat(300));
    let (editor, cx) = open("/a.txt", &text, cx);
    cx.run_until_parked();
    editor.update_in(cx, |editor, window, cx| {
        scrolling::scroll_to_top(editor, window, cx)
    });
    cx.run_until_parked();
    editor.update_in(cx, |editor, window, cx| {
        let corner = editor.caret_corner().expect("laid out");
        let sight = editor.geometry.as_ref().expect("laid out").text;
        assert!(sight.contains(&corner), "{corner:?} in {sight:?}");
        menu::open_menu(editor, window, cx);
    });
    assert_eq!(state(&editor, cx), text, "the caret stays");
    let place = at(&editor, 0, 4, cx);
    press(place, MouseButton::Right, 1, Modifiers::default(), cx);
    assert!(state(&editor, cx).starts_with("someˇ words"));
}
