//! Terminals as tabs among the texts: opening, moving, splitting, dragging, closing, and a restart.

use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{Bounds, Entity, Modifiers, Pixels, Role, TestAppContext};
use terminal_panel::actions::{FocusPanel, MoveTerminalIntoPanel, NewTerminal, RenameTerminal};
use terminal_panel::{FakeTerminals, TerminalView};

use super::agents::press;
use super::dragging::{bounds_of, drag};
use super::terminals::{asks, has_focus, is_visible, open, start_window};
use super::{Story, path, project};
use crate::TabItem;
use crate::actions::app::Quit;
use crate::actions::pane;

const COMMAND: &str = "\x1b]133;A\x07$ \x1b]133;B\x07sleep 9\r\n\x1b]133;C\x07";

/// A window with `main.rs` and a terminal beside it as a tab.
fn open_in_editor(cx: &mut TestAppContext) -> (Story, FakeTerminals) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-`").settle();
    (story, fake)
}

fn active_terminal(story: &mut Story) -> Option<Entity<TerminalView>> {
    story.read(|it, _| it.active_item().and_then(TabItem::terminal).cloned())
}

fn shown_in_panel(story: &mut Story) -> Option<Entity<TerminalView>> {
    story.read(|it, cx| it.terminals()?.read(cx).active_view().cloned())
}

fn tab_bounds(story: &mut Story, label: &str) -> Bounds<Pixels> {
    let elements = story.cx.update(|window, _| window.elements());
    let mut tabs = elements.iter().filter(|it| it.role() == Some(Role::Tab));
    let tab = tabs.find(|it| it.label() == Some(label));
    tab.unwrap_or_else(|| panic!("no tab {label}")).bounds()
}

#[gpui_kit::test]
fn a_terminal_opens_as_a_tab_with_the_focus(cx: &mut TestAppContext) {
    let (mut story, fake) = open_in_editor(cx);
    assert_eq!(story.tabs(), "main.rs [p]");
    assert!(!is_visible(&mut story));
    let launches = fake.launches();
    assert_eq!(launches.len(), 1);
    assert_eq!(launches[0].folder, Some(path("/p")));
    assert!(has_focus(&mut story, &fake));
    let labels = super::a11y::names(&mut story, "a terminal among the texts");
    assert!(labels.iter().any(|it| it == "p, terminal"), "{labels:?}");
    // The keys of the window's tabs are those of the panel's terminals.
    story.keys("ctrl-pageup").settle();
    assert_eq!(story.tabs(), "[main.rs] p");
    let program = fake.programs().remove(0);
    program.print("news");
    story.settle();
    tab_bounds(&mut story, "p, new output");
    story.act(FocusPanel);
    assert_eq!(story.tabs(), "main.rs [p]", "the panel has no terminal");
    assert!(has_focus(&mut story, &fake));
}

#[gpui_kit::test]
fn a_terminal_moves_with_its_program_both_ways(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-`").settle();
    let view = shown_in_panel(&mut story).expect("a terminal");
    fake.programs().remove(0).print("hello");
    story.settle();
    story.keys("ctrl-alt-shift-`").settle();
    assert_eq!(story.tabs(), "main.rs [p]");
    assert_eq!(active_terminal(&mut story).as_ref(), Some(&view));
    assert!(!is_visible(&mut story), "the panel is empty");
    assert!(has_focus(&mut story, &fake));
    let quoted = story.read(|it, cx| {
        let panel = it.terminals().expect("the panel").read(cx);
        let mention = panel.mentions(cx).remove(0);
        panel.mentioned_output(&mention.id, cx)
    });
    let quoted = quoted.expect("it is quoted").text;
    assert!(quoted.contains("hello"), "{quoted}");
    story.keys("ctrl-alt-shift-`").settle();
    assert_eq!(story.tabs(), "[main.rs]");
    assert!(is_visible(&mut story));
    assert_eq!(shown_in_panel(&mut story).as_ref(), Some(&view));
    assert!(has_focus(&mut story, &fake));
    assert_eq!(fake.launches().len(), 1, "no program was started again");
}

#[gpui_kit::test]
fn closing_a_terminal_tab_asks_while_a_command_runs(cx: &mut TestAppContext) {
    let (mut story, fake) = open_in_editor(cx);
    fake.programs().remove(0).print(COMMAND);
    story.settle();
    story.act(Quit);
    let question = asks(&mut story);
    assert_eq!(
        question.as_deref(),
        Some("Quit while a command runs in a terminal?")
    );
    story.keys("escape").settle();
    for close in ["ctrl-shift-w", "close all"] {
        match close {
            "close all" => story.act(pane::CloseAllTabs),
            keys => story.keys(keys).settle(),
        };
        let question = asks(&mut story).expect("a question");
        assert!(question.contains("is running. Stop it"), "{question}");
        story.keys("escape").settle();
        assert_eq!(story.tabs(), "main.rs [p]", "{close}");
    }
    story.act(pane::CloseTab);
    press(&mut story, "Stop and close");
    assert_eq!(story.tabs(), "[main.rs]");
    let left = story.read(|it, cx| it.terminals().map(|it| it.read(cx).views().count()));
    assert_eq!(left, Some(0));
    story.act(pane::ReopenClosedTab);
    assert_eq!(story.tabs(), "[main.rs]", "its program has ended");
}

#[gpui_kit::test]
fn a_terminal_tab_is_renamed_split_and_moved(cx: &mut TestAppContext) {
    let (mut story, fake) = open_in_editor(cx);
    story.act(RenameTerminal).input("server").keys("enter");
    story.settle();
    assert_eq!(story.tabs(), "main.rs [server]");
    assert!(has_focus(&mut story, &fake));
    story.keys("ctrl-shift-5").settle();
    assert_eq!(story.tabs(), "main.rs [server] | [p]");
    assert_eq!(fake.launches().len(), 2);
    assert!(has_focus(&mut story, &fake));
    story.act(pane::MoveTabToNextPane);
    assert_eq!(story.tabs(), "main.rs server [p]");
    story.act(pane::PreviousTab).act(MoveTerminalIntoPanel);
    assert_eq!(story.tabs(), "main.rs [p]");
    tab_bounds(&mut story, "server");
    assert_eq!(fake.launches().len(), 2);
}

#[gpui_kit::test]
fn terminals_are_dragged_between_the_panel_and_the_panes(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-`").settle();
    fake.programs()[0].print("\x1b]0;left\x07");
    story.settle();
    story.act(NewTerminal);
    let from = tab_bounds(&mut story, "left").center();
    let to = bounds_of(&mut story, "main.rs, text", 0).center();
    drag(&mut story, from, to, Modifiers::default());
    assert_eq!(story.tabs(), "main.rs [left]");
    let from = tab_bounds(&mut story, "left").center();
    let to = bounds_of(&mut story, "Terminal", 0).center();
    drag(&mut story, from, to, Modifiers::default());
    assert_eq!(story.tabs(), "[main.rs]");
    let view = shown_in_panel(&mut story).expect("a terminal");
    let title = story.read(|_, cx| view.read(cx).title().to_string());
    assert_eq!(title, "left");
    assert_eq!(fake.launches().len(), 2);
}

#[gpui_kit::test]
fn a_terminal_tab_returns_after_a_restart(cx: &mut TestAppContext) {
    let (files, fake) = (project(), FakeTerminals::default());
    for run in 0..2 {
        let mut app = cx.new_app();
        let mut story = start_window(&files, &fake, &mut app);
        if run == 0 {
            story.open_file("main.rs").keys("ctrl-alt-`").settle();
            story.act(RenameTerminal).input("server").keys("enter");
            fake.programs().remove(0).print("first words\r\n");
            story.settle().settle();
        }
        assert_eq!(story.tabs(), "main.rs [server]", "run {run}");
        assert!(!is_visible(&mut story));
        let launches = fake.launches();
        assert_eq!(launches.len(), run + 1);
        assert_eq!(launches[run].restored.is_some(), run > 0);
        assert!(has_focus(&mut story, &fake));
        let others = story.read(|it, cx| it.terminals().map(|it| it.read(cx).is_empty()));
        assert_eq!(others, Some(true), "it is not in the panel as well");
        story.act(Quit);
        drop(story);
        app.update(|cx| cx.set_global(crate::Documents::default()));
    }
}
