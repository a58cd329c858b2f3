//! Tests the panel: tabs, splits, closing, names, and terminals across restarts.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, Platform};
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{Entity, Role, TestAppContext, VisualTestContext};
use host::process::ProcessExit;
use settings::Settings;

use super::{TerminalPanel, TerminalPanelEvent};
use crate::actions::{
    CloseTerminal, FocusNextSplit, NewTerminal, NextTerminal, RenameTerminal, SplitTerminal,
};
use crate::fake::{FakeProgram, FakeTerminals};
use crate::service::TerminalRequest;
use crate::view::tests::init;

struct PanelStory<'a> {
    service: FakeTerminals,
    panel: Entity<TerminalPanel>,
    events: Rc<RefCell<Vec<TerminalPanelEvent>>>,
    cx: &'a mut VisualTestContext,
}

fn open(service: FakeTerminals, cx: &mut TestAppContext) -> PanelStory<'_> {
    init(Platform::Linux, Settings::builtin(), cx);
    let (shared, folder) = (Arc::new(service.clone()), AbsPath::new("/project"));
    let (panel, cx) =
        cx.add_window_view(|window, cx| TerminalPanel::new(shared, folder, window, cx));
    let events = Rc::new(RefCell::new(Vec::new()));
    let sink = events.clone();
    cx.update(|window, cx| {
        window.activate_window();
        let keep =
            move |_: Entity<TerminalPanel>, event: &TerminalPanelEvent, _: &mut gpui_kit::App| {
                if *event != TerminalPanelEvent::Changed {
                    sink.borrow_mut().push(event.clone());
                }
            };
        cx.subscribe(&panel, keep).detach();
    });
    panel.update(cx, |panel, cx| panel.set_visible(true, cx));
    let mut story = PanelStory {
        service,
        panel,
        events,
        cx,
    };
    story.settle();
    story
}

impl PanelStory<'_> {
    fn settle(&mut self) {
        for _ in 0..8 {
            self.cx.run_until_parked();
            let executor = self.cx.executor();
            executor.advance_clock(Duration::from_millis(20));
        }
        self.cx.run_until_parked();
    }

    fn focus(&mut self) {
        self.panel
            .update_in(self.cx, |panel, window, cx| panel.focus(window, cx));
        self.settle();
    }

    fn act(&mut self, action: impl gpui_kit::Action) {
        self.cx.dispatch_action(action);
        self.settle();
    }

    fn keys(&mut self, keys: &str) {
        self.cx.simulate_keystrokes(keys);
        self.settle();
    }

    fn program(&self, ix: usize) -> FakeProgram {
        self.service.programs()[ix].clone()
    }

    fn labels(&mut self, role: Role) -> Vec<String> {
        let elements = self.cx.update(|window, _| window.elements());
        elements
            .iter()
            .filter(|it| it.role() == Some(role))
            .filter_map(|it| it.label().map(str::to_owned))
            .collect()
    }

    fn is_empty(&mut self) -> bool {
        self.panel.read_with(self.cx, |panel, _| panel.is_empty())
    }
}

#[gpui_kit::test]
fn an_empty_panel_opens_a_terminal_with_the_focus(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    assert!(story.is_empty());
    assert!(
        story
            .labels(Role::Button)
            .contains(&"New terminal".to_owned())
    );
    story.focus();
    assert!(!story.is_empty());
    story.keys("l s");
    assert_eq!(story.program(0).take_input(), "ls");
    let launch = story.service.launches().remove(0);
    assert_eq!(launch.folder, AbsPath::new("/project"));
    assert_eq!(story.labels(Role::Tab), ["project"]);
}

#[gpui_kit::test]
fn keys_go_to_the_shown_tab_and_split(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    story.act(NewTerminal);
    story.keys("b");
    story.act(SplitTerminal);
    story.keys("c");
    story.act(FocusNextSplit);
    story.keys("b");
    story.act(NextTerminal);
    story.keys("a");
    let inputs: Vec<String> = (0..3).map(|ix| story.program(ix).take_input()).collect();
    assert_eq!(inputs, ["a", "bb", "c"]);
    assert_eq!(story.labels(Role::Tab).len(), 2);
}

#[gpui_kit::test]
fn closing_asks_while_a_command_runs(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    story.program(0).show_prompt();
    story.program(0).print("cargo test\r\n\x1b]133;C\x07");
    story.settle();
    let count = story
        .panel
        .read_with(story.cx, |panel, cx| panel.running_count(cx));
    assert_eq!(count, 1);
    story.act(CloseTerminal);
    let dialogs = story.labels(Role::AlertDialog);
    assert!(dialogs[0].contains("cargo test"), "{dialogs:?}");
    story.keys("enter");
    assert!(!story.is_empty(), "Enter keeps the terminal");
    story.keys("x");
    assert_eq!(story.program(0).take_input(), "x", "the focus returns");
    story.program(0).print("\x1b]133;D;0\x07");
    story.settle();
    story.act(CloseTerminal);
    assert!(story.is_empty());
    assert_eq!(*story.events.borrow(), [TerminalPanelEvent::CloseRequested]);
}

#[gpui_kit::test]
fn descendants_of_an_unmarked_shell_are_asked_about(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    story.program(0).set_processes(2);
    story.act(CloseTerminal);
    assert_eq!(story.labels(Role::AlertDialog).len(), 1);
    story.keys("escape");
    story.program(0).set_processes(1);
    story.act(CloseTerminal);
    assert!(story.is_empty());
}

#[gpui_kit::test]
fn tabs_show_titles_names_and_states(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    story.program(0).print("\x1b]0;vim main.rs\x07");
    story.settle();
    assert_eq!(story.labels(Role::Tab), ["vim main.rs"]);
    story.act(RenameTerminal);
    story.cx.simulate_input("notes");
    story.keys("enter");
    assert_eq!(story.labels(Role::Tab), ["notes"]);
    story.keys("x");
    assert_eq!(story.program(0).take_input(), "x", "the focus returns");
    story.act(NewTerminal);
    story.program(0).print("news");
    story.settle();
    assert_eq!(story.labels(Role::Tab)[0], "notes, new output");
    story.program(0).end(ProcessExit::Exited(1));
    story.settle();
    assert_eq!(story.labels(Role::Tab)[0], "notes, ended with 1");
}

#[gpui_kit::test]
fn a_request_names_its_tab_and_program(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    let request = TerminalRequest {
        folder: AbsPath::new("/other"),
        program: Some(crate::ProgramCommand {
            name: "cargo".to_owned(),
            arguments: vec!["test".to_owned()],
            variables: Vec::new(),
        }),
        title: Some("Tests".to_owned()),
        output: None,
    };
    story.panel.update_in(story.cx, |panel, window, cx| {
        panel.open(request, window, cx);
    });
    story.settle();
    let launch = story.service.launches().remove(0);
    assert_eq!(launch.program.map(|it| it.name), Some("cargo".to_owned()));
    assert_eq!(launch.folder, AbsPath::new("/other"));
    assert_eq!(story.labels(Role::Tab), ["Tests"]);
    let count = story
        .panel
        .read_with(story.cx, |panel, cx| panel.running_count(cx));
    assert_eq!(count, 1, "a program that is no shell runs until it ends");
}

#[gpui_kit::test]
fn terminals_return_and_start_when_seen(cx: &mut TestAppContext) {
    let service = FakeTerminals::default();
    let mut app = cx.new_app();
    let mut story = open(service.clone(), &mut app);
    story.focus();
    story.program(0).print("first words\r\n");
    story.act(NewTerminal);
    story.program(1).print("second words\r\n");
    story.act(SplitTerminal);
    story.cx.executor().advance_clock(Duration::from_secs(3));
    story.settle();
    let saved = service.saved();
    let tabs: Vec<u32> = saved.iter().map(|pane| pane.tab).collect();
    assert_eq!(tabs, [0, 1, 1]);

    let later = FakeTerminals::default();
    later.set_saved(saved);
    let mut story = open(later, cx);
    assert_eq!(
        story.service.launches().len(),
        1,
        "only the shown one starts"
    );
    story.focus();
    let view = story
        .panel
        .read_with(story.cx, |panel, _| panel.active_view().cloned());
    let rows = view
        .unwrap()
        .read_with(story.cx, |view, _| view.visible_text());
    assert!(
        rows.iter().any(|row| row.starts_with("first words")),
        "{rows:?}"
    );
    assert!(
        rows.iter().any(|row| row.starts_with("restored, 14:02")),
        "{rows:?}"
    );
    story.act(NextTerminal);
    assert_eq!(story.service.launches().len(), 3);
}

#[gpui_kit::test]
fn hidden_terminals_are_told(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    story
        .panel
        .update(story.cx, |panel, cx| panel.set_visible(false, cx));
    story.program(0).print("news");
    story.settle();
    let view = story
        .panel
        .read_with(story.cx, |panel, _| panel.active_view().cloned());
    assert!(
        view.unwrap()
            .read_with(story.cx, |view, _| view.has_new_output())
    );
}

#[gpui_kit::test]
fn every_control_has_a_name(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    story.program(0).run_command("make", "x\r\n", 1);
    story.program(0).end(ProcessExit::Exited(1));
    story.settle();
    story.keys("ctrl-shift-f");
    let elements = story.cx.update(|window, _| window.elements());
    let unnamed: Vec<String> = elements
        .iter()
        .filter(|it| {
            it.role()
                .is_some_and(|role| ui::a11y::needs_name(&format!("{role:?}")))
        })
        .filter(|it| it.label().is_none_or(str::is_empty))
        .map(|it| format!("{it:?}"))
        .collect();
    assert_eq!(unnamed, Vec::<String>::new());
    assert!(elements.iter().any(|it| it.role() == Some(Role::Terminal)));
}

fn task_request(label: &str) -> TerminalRequest {
    TerminalRequest {
        folder: None,
        program: Some(crate::ProgramCommand {
            name: "make".to_owned(),
            arguments: vec![label.to_owned()],
            variables: Vec::new(),
        }),
        title: Some(label.to_owned()),
        output: Some(crate::OutputObserver::new(|_| {})),
    }
}

#[gpui_kit::test]
fn a_task_starts_hidden_and_its_tab_is_used_again(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    let launch = |story: &mut PanelStory<'_>| {
        let request = task_request("all");
        let view = story.panel.update_in(story.cx, |panel, window, cx| {
            panel.set_visible(false, cx);
            panel.launch(request, window, cx)
        });
        story.settle();
        view
    };
    let view = launch(&mut story);
    assert_eq!(story.service.launches().len(), 2);
    story.program(1).end(ProcessExit::Exited(0));
    story.settle();
    story.panel.update(story.cx, |panel, cx| {
        panel.set_note(&view, Some("exit 0".into()), cx)
    });
    story
        .panel
        .update(story.cx, |panel, cx| panel.set_visible(true, cx));
    story.settle();
    let tabs = story.labels(Role::Tab);
    assert_eq!(tabs.len(), 2);
    assert!(tabs[1].starts_with("all \u{b7} exit 0"), "{tabs:?}");
    let again = launch(&mut story);
    assert!(again != view);
    story
        .panel
        .update(story.cx, |panel, cx| panel.set_visible(true, cx));
    story.settle();
    assert_eq!(story.labels(Role::Tab).len(), 2);
    // While one runs, another run has a tab of its own.
    launch(&mut story);
    assert_eq!(story.service.launches().len(), 4);
    story
        .panel
        .update(story.cx, |panel, cx| panel.set_visible(true, cx));
    story.settle();
    assert_eq!(story.labels(Role::Tab).len(), 3);
}

#[gpui_kit::test]
fn an_ended_task_is_run_again_by_the_window(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    let view = story.panel.update_in(story.cx, |panel, window, cx| {
        let view = panel.launch(task_request("all"), window, cx);
        panel.show(&view, cx);
        view
    });
    story.focus();
    story.program(0).end(ProcessExit::Exited(1));
    story.settle();
    story.keys("enter");
    let rerun = TerminalPanelEvent::RerunRequested("all".to_owned());
    assert!(story.events.borrow().contains(&rerun));
    assert_eq!(story.service.launches().len(), 1);
    view.update(story.cx, |view, cx| view.stop(cx));
}
