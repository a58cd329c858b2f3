//! Start, end and restart of the program, its requests, focus, and frames only while something changes.

use std::time::Duration;

use gpui_kit::{ClipboardItem, Role, TestAppContext};
use host::process::{ProcessExit, TerminalSize};
use settings::{Settings, TerminalBlinking};

use super::{open, open_with};
use crate::view::{TerminalStatus, TerminalViewEvent};

#[gpui_kit::test]
fn the_program_starts_with_the_size_of_the_view(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let grid = story.read(|view| view.size);
    assert!(grid.columns >= 80 && grid.rows >= 24, "{grid:?}");
    story
        .cx
        .executor()
        .advance_clock(Duration::from_millis(100));
    story.settle();
    assert_eq!(story.program().told_sizes().last(), Some(&grid));
    assert_eq!(story.service.launches().len(), 1);
}

#[gpui_kit::test]
fn keys_typed_while_the_program_starts_reach_it(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let hold = story.service.hold_starts();
    story.program().end(ProcessExit::Exited(0));
    story.settle();
    story.keys("enter");
    story.keys("l s enter");
    assert_eq!(story.service.programs().len(), 1);
    drop(hold);
    story.settle();
    assert_eq!(story.service.programs().len(), 2);
    assert_eq!(story.program().take_input(), "ls\r");
}

#[gpui_kit::test]
fn nothing_is_drawn_while_nothing_changes(cx: &mut TestAppContext) {
    let mut settings = Settings::builtin();
    settings.terminal.blinking = TerminalBlinking::On;
    let mut story = open_with(settings, cx);
    story.print("hello");
    // The blinking ends.
    for _ in 0..60 {
        story
            .cx
            .executor()
            .advance_clock(Duration::from_millis(250));
        story.cx.run_until_parked();
    }
    let before = story.read(|view| view.layouts);
    for _ in 0..40 {
        story
            .cx
            .executor()
            .advance_clock(Duration::from_millis(250));
        story.cx.run_until_parked();
    }
    assert_eq!(story.read(|view| view.layouts), before);
    story.print("more");
    assert!(story.read(|view| view.layouts) > before);
}

#[gpui_kit::test]
fn a_flood_is_drawn_at_most_once_a_frame(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let before = story.read(|view| view.layouts);
    for _ in 0..100 {
        story.program().print("line\r\n");
        story.cx.run_until_parked();
        story.cx.executor().advance_clock(Duration::from_millis(1));
    }
    let frames = story.read(|view| view.layouts) - before;
    assert!((4..=8).contains(&frames), "{frames} frames in 100 ms");
}

#[gpui_kit::test]
fn a_hidden_terminal_draws_nothing_and_marks_output(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story
        .view
        .update(story.cx, |view, cx| view.set_shown(false, cx));
    story.settle();
    let before = story.read(|view| view.layouts);
    story.print("news");
    story.print("more news");
    assert_eq!(story.read(|view| view.layouts), before);
    assert!(story.read(|view| view.has_new_output()));
    story
        .view
        .update(story.cx, |view, cx| view.set_shown(true, cx));
    story.settle();
    assert_eq!(story.rows(), ["newsmore news"]);
    assert!(!story.read(|view| view.has_new_output()));
}

#[gpui_kit::test]
fn an_ended_program_starts_again_with_enter(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("old text\r\n");
    story.program().end(ProcessExit::Exited(3));
    story.settle();
    assert_eq!(
        story.read(|view| view.status()),
        TerminalStatus::Ended(Some(3))
    );
    let labels = story.labels(Role::Status);
    assert!(labels.iter().any(|it| it.contains("code 3")), "{labels:?}");
    assert_eq!(story.sent("x"), "", "an ended program reads nothing");
    story.keys("enter");
    assert_eq!(story.service.programs().len(), 2);
    assert_eq!(story.read(|view| view.status()), TerminalStatus::Running);
    story.print("new text");
    let rows = story.rows();
    assert_eq!(rows.first().map(String::as_str), Some("old text"));
    assert_eq!(rows.last().map(String::as_str), Some("new text"));
    assert!(rows.iter().any(|row| row.contains("started again, 14:02")));
    assert_eq!(story.sent("x"), "x");
}

#[gpui_kit::test]
fn a_program_that_does_not_start_says_why(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story
        .service
        .refuse("there is no program \u{201c}fsh\u{201d}");
    story.program().end(ProcessExit::Exited(0));
    story.settle();
    story.keys("enter");
    assert_eq!(story.read(|view| view.status()), TerminalStatus::Failed);
    let labels = story.labels(Role::Status);
    assert!(
        labels.iter().any(|it| it.contains("there is no program")),
        "{labels:?}"
    );
}

#[gpui_kit::test]
fn the_clipboard_is_written_only_with_the_focus(cx: &mut TestAppContext) {
    let mut story = open(cx);
    // "copied", in Base64.
    story.print("\x1b]52;c;Y29waWVk\x07");
    assert_eq!(story.clipboard().as_deref(), Some("copied"));
    story.cx.update(|window, cx| window.blur(cx));
    story
        .cx
        .write_to_clipboard(ClipboardItem::new_string("mine".to_owned()));
    story.print("\x1b]52;c;Y29waWVk\x07");
    assert_eq!(story.clipboard().as_deref(), Some("mine"));
}

#[gpui_kit::test]
fn reading_the_clipboard_is_asked_and_enter_refuses(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story
        .cx
        .write_to_clipboard(ClipboardItem::new_string("secret".to_owned()));
    story.print("\x1b]52;c;?\x07");
    assert_eq!(story.labels(Role::AlertDialog).len(), 1);
    assert_eq!(story.sent("enter"), "");
    assert_eq!(story.labels(Role::AlertDialog).len(), 0);
    story.print("\x1b]52;c;?\x07");
    story.program().take_input();
    story.click_button("Allow once");
    assert_eq!(story.program().take_input(), "\x1b]52;c;c2VjcmV0\x07");
}

#[gpui_kit::test]
fn focus_changes_are_reported_on_request(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("\x1b[?1004h");
    story.program().take_input();
    story.cx.update(|window, cx| window.blur(cx));
    story.settle();
    assert_eq!(story.program().take_input(), "\x1b[O");
    let view = story.view.clone();
    story.cx.update(|window, cx| {
        let focus = view.read(cx).focus.clone();
        window.focus(&focus, cx);
    });
    story.settle();
    assert_eq!(story.program().take_input(), "\x1b[I");
}

#[gpui_kit::test]
fn colours_of_the_theme_are_answered(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.program().take_input();
    story.print("\x1b]11;?\x07");
    assert!(story.program().take_input().starts_with("\x1b]11;rgb:"));
}

#[gpui_kit::test]
fn notifications_come_only_without_the_focus(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let events = story.events();
    story.print("\x1b]9;done\x07");
    assert_eq!(*events.borrow(), []);
    story.cx.update(|window, cx| window.blur(cx));
    story.print("\x1b]9;done\x07\x07");
    let notify = |text: &str| TerminalViewEvent::Notify {
        title: "project".into(),
        text: text.to_owned().into(),
    };
    assert_eq!(*events.borrow(), [notify("done")]);
    assert!(story.read(|view| view.has_bell()));
}

#[gpui_kit::test]
fn resizing_to_very_narrow_and_back_keeps_the_text(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let text = "The quick brown fox jumps over the lazy dog";
    story.print(text);
    let (wide, told) = (
        story.read(|view| view.size),
        story.program().told_sizes().len(),
    );
    story.resize_window(30.0, 400.0);
    assert_eq!(story.read(|view| view.size.columns), 2);
    story.resize_window(1_000.0, 600.0);
    assert_eq!(story.rows(), [text]);
    story.resize_window(300.0, 600.0);
    story
        .cx
        .executor()
        .advance_clock(Duration::from_millis(100));
    story.settle();
    let narrow = story.read(|view| view.size);
    assert!(narrow.columns < wide.columns);
    assert_eq!(story.program().told_sizes().last(), Some(&narrow));
    assert!(
        story.program().told_sizes().len() <= told + 3,
        "the program is not flooded"
    );
    let least = TerminalSize {
        rows: 1,
        columns: 2,
    };
    story.resize_window(1.0, 1.0);
    assert_eq!(story.read(|view| view.size), least);
}

#[gpui_kit::test]
fn the_last_line_stays_at_the_lower_edge(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let lines: String = (0..200).map(|ix| format!("line {ix}\r\n")).collect();
    story.print(&(lines + "last"));
    for height in [600.0, 599.0, 591.0, 400.0, 123.0, 450.5, 700.0] {
        story.resize_window(900.0, height);
        assert_eq!(
            story.rows().last().map(String::as_str),
            Some("last"),
            "{height}"
        );
        let (cells, bounds) = story.read(|view| {
            let geometry = view.geometry.as_ref().expect("a frame was laid out");
            (geometry.cells, geometry.bounds)
        });
        let gap = f32::from(bounds.bottom() - cells.bottom()).abs();
        assert!(gap <= 1.0, "{gap} pixels below the last row of {height}");
    }
}

#[gpui_kit::test]
fn programs_can_query_the_size_of_the_text_area(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.program().take_input();
    story.print("\x1b[14t");
    let reply = story.program().take_input();
    assert!(
        reply.starts_with("\x1b[4;") && reply.ends_with('t'),
        "{reply:?}"
    );
}
