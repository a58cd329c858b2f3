//! The mouse: reports to the program, wheel, scrollbar and middle click.

use gpui_kit::{
    ClipboardItem, Modifiers, MouseButton, ScrollDelta, ScrollEvent, TestAppContext, TouchPhase,
    point, px,
};

use super::{Story, open};

fn wheel(story: &mut Story, lines: f32) -> String {
    story.program().take_input();
    let position = story.cell(2, 3);
    story.cx.simulate_event(ScrollEvent {
        position,
        delta: ScrollDelta::Lines(point(0.0, lines)),
        modifiers: Modifiers::default(),
        touch_phase: TouchPhase::Moved,
        ..ScrollEvent::default()
    });
    story.settle();
    story.program().take_input()
}

#[gpui_kit::test]
fn presses_are_reported_unless_shift_is_held(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("text in view\x1b[?1002h\x1b[?1006h");
    story.program().take_input();
    let (from, to) = (story.cell(0, 1), story.cell(1, 4));
    story.drag(from, to, Modifiers::default());
    let sent = story.program().take_input();
    assert_eq!(sent, "\x1b[<0;2;1M\x1b[<32;5;2M\x1b[<0;5;2m");
    let (from, to) = (story.cell(0, 0), story.cell_end(0, 3));
    let shift = Modifiers {
        shift: true,
        ..Modifiers::default()
    };
    story.drag(from, to, shift);
    assert_eq!(story.program().take_input(), "");
    assert_eq!(
        story.read(|view| view.selected_text()).as_deref(),
        Some("text")
    );
}

#[gpui_kit::test]
fn the_wheel_scrolls_reports_or_sends_arrows(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let lines: String = (0..200).map(|ix| format!("line {ix}\r\n")).collect();
    story.print(&lines);
    assert_eq!(wheel(&mut story, 1.0), "");
    assert_eq!(story.read(|view| view.contents.snapshot.scroll.offset), 3);
    assert_eq!(wheel(&mut story, -1.0), "");
    story.print("\x1b[?1049h");
    assert_eq!(wheel(&mut story, 1.0), "\x1b[A\x1b[A\x1b[A");
    story.print("\x1b[?1000h\x1b[?1006h");
    assert_eq!(wheel(&mut story, -1.0), "\x1b[<65;4;3M");
}

#[gpui_kit::test]
fn the_scrollbar_scrolls(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let lines: String = (0..500).map(|ix| format!("line {ix}\r\n")).collect();
    story.print(&lines);
    let (handle, bar) = story.read(|view| {
        let geometry = view.geometry.as_ref().unwrap();
        let handle = geometry.handle(view.contents.snapshot.scroll).unwrap();
        (handle, geometry.scrollbar)
    });
    let top = point(bar.center().x, bar.top() + px(1.0));
    story.drag(handle.center(), top, Modifiers::default());
    assert_eq!(story.rows()[0], "line 0");
}

#[gpui_kit::test]
fn a_middle_click_pastes_the_primary_selection(cx: &mut TestAppContext) {
    if !ui::primary::EXISTS {
        return;
    }
    let mut story = open(cx);
    story.cx.update(|_, cx| {
        ui::primary::write(ClipboardItem::new_string("chosen".to_owned()), cx);
    });
    let position = story.cell(1, 1);
    story
        .cx
        .simulate_mouse_down(position, MouseButton::Middle, Modifiers::default());
    story.settle();
    assert_eq!(story.program().take_input(), "chosen");
}
