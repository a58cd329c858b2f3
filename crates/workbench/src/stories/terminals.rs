//! The terminals of a window, by the keyboard: showing and hiding, files from links, the end of the window.

use std::sync::Arc;

use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{Role, TestAppContext};
use host::FakeFiles;
use terminal_panel::actions::{FocusPanel, NewTerminal, TogglePanel};
use terminal_panel::{FakeTerminals, TerminalPanelEvent};

use super::{Story, path, project, services, start_with};
use crate::TabItem;
use crate::actions::app::{CloseWindow, Quit};
use crate::windows::OpenRequest;

/// Starts the program over the project, whose terminals come from a fake service.
pub(super) fn start_window(
    files: &FakeFiles,
    fake: &FakeTerminals,
    cx: &mut TestAppContext,
) -> Story {
    let service = Arc::new(fake.clone());
    let services = crate::Services {
        terminals: Some(Arc::new(move |_| service.clone())),
        ..services(files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    story
}

pub(super) fn open(cx: &mut TestAppContext) -> (Story, FakeTerminals) {
    let fake = FakeTerminals::default();
    let mut story = start_window(&project(), &fake, cx);
    story.open_file("main.rs");
    (story, fake)
}

pub(super) fn is_visible(story: &mut Story) -> bool {
    story.read(|it, _| it.are_terminals_visible())
}

/// Whether typed text reaches the newest terminal.
pub(super) fn has_focus(story: &mut Story, fake: &FakeTerminals) -> bool {
    let program = fake.programs().pop().expect("a program");
    program.take_input();
    story.input("x");
    story.settle();
    program.take_input() == "x"
}

pub(super) fn asks(story: &mut Story) -> Option<String> {
    let dialogs = story
        .cx
        .update(|window, _| window.find_all_by_role(Role::AlertDialog));
    dialogs.first().and_then(|it| it.label().map(str::to_owned))
}

#[gpui_kit::test]
fn a_key_shows_focuses_and_hides_the_terminals(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    assert!(!is_visible(&mut story));
    story.keys("ctrl-`");
    story.settle();
    assert!(is_visible(&mut story));
    assert_eq!(fake.launches()[0].folder, Some(path("/p")));
    assert!(has_focus(&mut story, &fake));
    story.keys("ctrl-1");
    assert!(!has_focus(&mut story, &fake), "the text has it");
    story.keys("ctrl-`");
    assert!(has_focus(&mut story, &fake));
    story.keys("ctrl-`");
    assert!(!is_visible(&mut story));
    assert!(!has_focus(&mut story, &fake));
    story.act(FocusPanel);
    assert!(is_visible(&mut story));
    story.act(FocusPanel);
    assert!(is_visible(&mut story));
    assert!(!has_focus(&mut story, &fake));
    // The same terminal all the time, until the user wants another one.
    assert_eq!(fake.launches().len(), 1);
    story.act(NewTerminal);
    story.settle();
    assert_eq!(fake.launches().len(), 2);
}

#[gpui_kit::test]
fn a_path_in_the_output_opens_at_its_line(cx: &mut TestAppContext) {
    let (mut story, _fake) = open(cx);
    story.keys("ctrl-`");
    story.settle();
    let panel = story.read(|it, _| it.terminals().expect("the panel").clone());
    let link = TerminalPanelEvent::OpenFile {
        path: path("/p/src/lib.rs"),
        line: Some(3),
        column: Some(5),
    };
    story
        .cx
        .update(|_, cx| panel.update(cx, |_, cx| cx.emit(link)));
    story.settle();
    assert!(story.text().starts_with("pub fn one()"));
    let editor = story.read(|it, _| it.active_item().and_then(TabItem::editor).cloned());
    let editor = editor.expect("a text");
    let caret = story
        .cx
        .update(|_, cx| editor.update(cx, |it, cx| it.caret_point(cx)));
    assert_eq!((caret.row.0, caret.column.0), (2, 4));
}

#[gpui_kit::test]
fn the_terminals_are_shown_again_after_a_restart(cx: &mut TestAppContext) {
    let (files, fake) = (project(), FakeTerminals::default());
    let mut started = 0;
    for run in 0..2 {
        let mut app = cx.new_app();
        let mut story = start_window(&files, &fake, &mut app);
        assert_eq!(is_visible(&mut story), run > 0);
        if run == 0 {
            story.keys("ctrl-`");
            story.settle();
        }
        started += 1;
        assert_eq!(fake.launches().len(), started);
        story.act(Quit);
        drop(story);
        app.update(|cx| cx.set_global(crate::Documents::default()));
    }
}

#[gpui_kit::test]
fn closing_or_quitting_asks_while_a_command_runs(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-`");
    story.settle();
    let program = fake.programs().pop().expect("a program");
    program.print("\x1b]133;A\x07$ \x1b]133;B\x07sleep 9\r\n\x1b]133;C\x07");
    story.settle();
    story.act(Quit);
    let question = asks(&mut story);
    assert_eq!(
        question.as_deref(),
        Some("Quit while a command runs in a terminal?")
    );
    story.keys("escape");
    story.act(CloseWindow);
    assert!(asks(&mut story).is_some());
    story.keys("escape");
    program.print("\x1b]133;D;0\x07");
    story.settle();
    story.act(TogglePanel).act(Quit);
    assert_eq!(asks(&mut story), None);
}
