//! Links under the pointer: addresses, hyperlinks, and paths that exist.

use base::AbsPath;
use gpui_kit::{Modifiers, MouseButton, Role, TestAppContext};

use super::{Story, open};
use crate::view::TerminalViewEvent;

fn held() -> Modifiers {
    Modifiers {
        control: true,
        ..Modifiers::default()
    }
}

fn click(story: &mut Story, row: u16, column: u16) {
    let position = story.cell(row, column);
    story.cx.simulate_mouse_move(position, None, held());
    story.settle();
    story.cx.simulate_click(position, held());
    story.settle();
}

#[gpui_kit::test]
fn an_address_is_shown_and_opened(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let events = story.events();
    story.print("see https://example.com/a?b=1.");
    let position = story.cell(0, 10);
    story
        .cx
        .simulate_mouse_move(position, None, Modifiers::default());
    story.settle();
    assert!(
        story.read(|view| view.hovered_spans().is_empty()),
        "no key, no link"
    );
    click(&mut story, 0, 10);
    let url = "https://example.com/a?b=1".to_owned();
    assert_eq!(story.labels(Role::Tooltip), [url.as_str()]);
    assert_eq!(*events.borrow(), [TerminalViewEvent::OpenUrl(url)]);
    assert_eq!(story.program().take_input(), "");
}

#[gpui_kit::test]
fn hyperlinks_open_only_safe_targets(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let events = story.events();
    story.print("\x1b]8;;https://example.com/x\x07docs\x1b]8;;\x07 ");
    story.print("\x1b]8;;javascript:alert(1)\x07evil\x1b]8;;\x07");
    click(&mut story, 0, 1);
    click(&mut story, 0, 6);
    let opened = TerminalViewEvent::OpenUrl("https://example.com/x".to_owned());
    assert_eq!(*events.borrow(), [opened]);
}

#[gpui_kit::test]
fn paths_that_exist_open_at_their_position(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let events = story.events();
    let path = AbsPath::new("/project/src/main.rs").unwrap();
    story.service.add_path(&path);
    story.print("error at src/main.rs:12:3 and src/gone.rs:1:1");
    click(&mut story, 0, 12);
    click(&mut story, 0, 34);
    let opened = TerminalViewEvent::OpenFile {
        path,
        line: Some(12),
        column: Some(3),
    };
    assert_eq!(*events.borrow(), [opened]);
}

#[gpui_kit::test]
fn paths_are_resolved_in_the_folder_of_their_command(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let events = story.events();
    let path = AbsPath::new("/other/lib.rs").unwrap();
    story.service.add_path(&path);
    story.print("\x1b]7;file://here/other\x07");
    story
        .program()
        .run_command("cargo check", "lib.rs:4\r\n", 1);
    story.print("\x1b]7;file://here/elsewhere\x07");
    click(&mut story, 1, 2);
    let opened = TerminalViewEvent::OpenFile {
        path,
        line: Some(4),
        column: None,
    };
    assert_eq!(*events.borrow(), [opened]);
    let position = story.cell(1, 2);
    story
        .cx
        .simulate_mouse_down(position, MouseButton::Left, Modifiers::default());
    assert_eq!(events.borrow().len(), 1, "a plain click opens nothing");
}
