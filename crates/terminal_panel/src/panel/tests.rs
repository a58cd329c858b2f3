//! Tests the panel: tabs, splits, closing, names, and terminals across restarts.

mod editor_area;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::{AbsPath, Platform};
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{Entity, Role, TestAppContext, VisualTestContext};
use host::process::{ProcessExit, TerminalSize};
use settings::Settings;

use super::{TerminalPanel, TerminalPanelEvent};
use crate::actions::{
    CloseAllTerminals, CloseTerminal, FocusNextSplit, GiveBack, NewTerminal, NextTerminal,
    RenameTerminal, SplitTerminal, TakeOver,
};
use crate::attached::{AttachedInput, AttachedProgram};
use crate::fake::{FakeProgram, FakeTerminals};
use crate::program::{ProgramControl, TerminalProgram as _};
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
        sandbox: None,
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

/// Opens two terminals whose shells are kept, lets the first one print, and saves them.
fn save_kept_shells(service: &FakeTerminals, cx: &mut TestAppContext) {
    service.keep_programs(true);
    let mut story = open(service.clone(), cx);
    story.focus();
    story.act(NewTerminal);
    story.program(0).print("first words\r\n");
    story.cx.executor().advance_clock(Duration::from_secs(3));
    story.settle();
    let shells: Vec<_> = service.saved().into_iter().map(|pane| pane.shell).collect();
    assert_eq!(shells, [Some("s0".to_owned()), Some("s1".to_owned())]);
    story.program(0).set_processes(2);
    let count = story
        .panel
        .read_with(story.cx, |panel, cx| panel.running_count(cx));
    assert_eq!(count, 0, "the end of the window stops none");
    story.program(0).set_processes(1);
}

fn shown_rows(story: &mut PanelStory<'_>) -> Vec<String> {
    let view = story
        .panel
        .read_with(story.cx, |panel, _| panel.active_view().cloned());
    view.expect("a terminal")
        .read_with(story.cx, |view, _| view.visible_text())
}

#[gpui_kit::test]
fn a_restored_terminal_attaches_to_its_shell(cx: &mut TestAppContext) {
    let service = FakeTerminals::default();
    let mut app = cx.new_app();
    save_kept_shells(&service, &mut app);
    let mut story = open(service, cx);
    story.focus();
    assert_eq!(story.service.programs().len(), 2, "no shell starts");
    let rows = shown_rows(&mut story);
    assert!(
        rows.iter().any(|row| row.starts_with("first words")),
        "{rows:?}"
    );
    assert!(
        !rows.iter().any(|row| row.starts_with("restored")),
        "{rows:?}"
    );
    story.keys("l s");
    assert_eq!(story.program(0).take_input(), "ls");
    story.act(CloseTerminal);
    assert!(story.program(0).exit().is_some());
}

#[gpui_kit::test]
fn a_restored_terminal_says_that_its_shell_has_ended(cx: &mut TestAppContext) {
    let service = FakeTerminals::default();
    let mut app = cx.new_app();
    save_kept_shells(&service, &mut app);
    service.keep_programs(false);
    let mut story = open(service, cx);
    story.focus();
    assert_eq!(story.service.programs().len(), 3, "a shell starts");
    let rows = shown_rows(&mut story);
    assert!(
        rows.iter().any(|row| row.starts_with("first words")),
        "{rows:?}"
    );
    let notice = "restored, 14:02; its shell has ended";
    assert!(rows.iter().any(|row| row.starts_with(notice)), "{rows:?}");
}

#[gpui_kit::test]
fn closing_an_unseen_terminal_ends_its_shell(cx: &mut TestAppContext) {
    let service = FakeTerminals::default();
    let mut app = cx.new_app();
    save_kept_shells(&service, &mut app);
    let mut story = open(service, cx);
    story.focus();
    story.act(CloseAllTerminals);
    assert!(story.is_empty());
    assert_eq!(story.service.ended_shells(), ["s1"]);
    assert!(story.program(0).exit().is_some());
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

/// Opens the terminal of a program that an agent runs, and returns what the program gets.
fn attach(
    story: &mut PanelStory<'_>,
    has_terminal: bool,
) -> (Arc<AttachedProgram>, Arc<Mutex<Vec<AttachedInput>>>) {
    let sent: Arc<Mutex<Vec<AttachedInput>>> = Arc::default();
    let sink = sent.clone();
    let size = TerminalSize {
        rows: 24,
        columns: 80,
    };
    let program = Arc::new(AttachedProgram::new(
        size,
        100,
        has_terminal,
        move |input| {
            sink.lock().expect("no panic").push(input);
        },
    ));
    let request = TerminalRequest {
        title: Some("Fix it: npm run dev".to_owned()),
        sandbox: Some("sandbox".to_owned()),
        ..TerminalRequest::default()
    };
    let attached = program.clone();
    story.panel.update_in(story.cx, |panel, window, cx| {
        panel.open_attached(request, attached, window, cx);
        panel.focus(window, cx);
    });
    story.settle();
    sent.lock().expect("no panic").clear();
    (program, sent)
}

/// Takes the inputs of a program, without sizes.
fn take(sent: &Mutex<Vec<AttachedInput>>) -> Vec<AttachedInput> {
    let mut taken = std::mem::take(&mut *sent.lock().expect("no panic"));
    taken.retain(|it| !matches!(it, AttachedInput::Resize(_)));
    taken
}

#[gpui_kit::test]
fn a_program_of_an_agent_is_taken_over_and_given_back(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    let (program, sent) = attach(&mut story, true);
    assert!(story.service.launches().is_empty());
    program.feed(b"ready", false);
    story.settle();
    let tab = "Fix it: npm run dev";
    let detail = |story: &mut PanelStory<'_>| {
        story
            .labels(Role::Tab)
            .into_iter()
            .find(|label| label.starts_with(tab))
            .expect("the tab")
    };
    assert!(detail(&mut story).contains("sandbox, watching"));
    let bar = story.labels(Role::Status);
    assert!(
        bar[0].starts_with("Watching; typing takes the command over"),
        "{bar:?}"
    );
    // Typing goes out as typed text; the engine takes the command over for it.
    story.cx.simulate_input("y");
    story.settle();
    assert_eq!(take(&sent), [AttachedInput::Typed(b"y".to_vec())]);
    program.note_control(ProgramControl::You);
    story.settle();
    assert!(detail(&mut story).contains("you have control"));
    story.act(GiveBack);
    assert_eq!(take(&sent), [AttachedInput::GiveBack]);
    program.note_control(ProgramControl::Agent);
    story.settle();
    story.act(TakeOver);
    assert_eq!(take(&sent), [AttachedInput::TakeOver]);
    // The mouse and the focus take nothing over, although the program asks for them.
    program.feed(b"\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[>3u", false);
    story.settle();
    let position = gpui_kit::point(gpui_kit::px(60.0), gpui_kit::px(90.0));
    story
        .cx
        .simulate_click(position, gpui_kit::Modifiers::default());
    story.settle();
    let typed = |it: &AttachedInput| matches!(it, AttachedInput::Typed(_));
    assert!(!take(&sent).iter().any(typed));
    program.end(ProcessExit::Exited(3));
    story.settle();
    let ended = story.labels(Role::Status);
    let text = "The agent\u{2019}s command ended with code 3";
    assert!(ended.iter().any(|label| label == text), "{ended:?}");
}

#[gpui_kit::test]
fn closing_the_terminal_of_an_agent_only_detaches_it(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    let (program, sent) = attach(&mut story, false);
    story.cx.simulate_input("y");
    story.settle();
    assert!(take(&sent).is_empty(), "it can only be watched");
    // Nothing of it is saved for another run of Burin.
    story.cx.executor().advance_clock(Duration::from_secs(3));
    story.settle();
    assert!(story.service.saved().is_empty());
    story.act(CloseTerminal);
    let events = story.events.borrow().clone();
    let detached = TerminalPanelEvent::Detached("Fix it: npm run dev".into());
    assert!(events.contains(&detached), "{events:?}");
    assert_eq!(program.exit(), None);
    assert_eq!(Arc::strong_count(&program), 1);
}

#[gpui_kit::test]
fn mentions_quote_the_last_command_of_each_terminal(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    story.program(0).run_command("make", "it failed\r\n", 2);
    story.settle();
    story.act(NewTerminal);
    story.program(1).print("no marks here");
    story.settle();
    let mentions = story
        .panel
        .read_with(story.cx, |panel, cx| panel.mentions(cx));
    let [second, first] = mentions.as_slice() else {
        panic!("{mentions:?}");
    };
    assert_eq!(first.command, "make");
    assert_eq!(first.state, "exit code 2");
    assert_eq!(
        (second.command.as_str(), second.state.as_str()),
        ("", "visible text")
    );
    let quote = |story: &mut PanelStory<'_>, id: &str| {
        let panel = story.panel.clone();
        let quoted = panel.read_with(story.cx, |panel, cx| panel.mentioned_output(id, cx));
        quoted.map(|it| it.text)
    };
    let text = quote(&mut story, &first.id).expect("the quote");
    assert!(text.ends_with("$ make\nit failed\n[exit code 2]"), "{text}");
    let text = quote(&mut story, &second.id).expect("the quote");
    assert!(text.ends_with("\nno marks here"), "{text}");
    // Another command ran since.
    let old = first.id.clone();
    story.program(0).run_command("ls", "a\r\n", 0);
    story.settle();
    assert_eq!(quote(&mut story, &old), None);
}

#[gpui_kit::test]
fn a_mention_quotes_the_end_of_a_long_output(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    let output: String = (0..20_000).map(|ix| format!("line {ix}\r\n")).collect();
    story.program(0).run_command("make", &output, 2);
    story.settle();
    let panel = story.panel.clone();
    let text = panel.read_with(story.cx, |panel, cx| {
        let mention = panel.mentions(cx).pop().expect("a terminal");
        let quoted = panel.mentioned_output(&mention.id, cx);
        quoted.expect("the quote").text
    });
    assert!(text.ends_with("\nline 19999\n[exit code 2]"), "{text}");
    assert!(text.len() < 33 << 10, "{} bytes", text.len());
    let kept = text.lines().filter(|it| it.starts_with("line ")).count();
    let omitted = 20_000 - kept;
    let sentence = format!("$ make\n[The first {omitted} lines of the output are left out.]\n");
    assert!(kept > 1_000 && text.contains(&sentence), "{text}");
}

fn task_request(label: &str) -> TerminalRequest {
    TerminalRequest {
        program: Some(crate::ProgramCommand {
            name: "make".to_owned(),
            arguments: vec![label.to_owned()],
            variables: Vec::new(),
        }),
        title: Some(label.to_owned()),
        output: Some(crate::OutputObserver::new(|_| {})),
        ..TerminalRequest::default()
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
            panel.launch(request, window, cx).view
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
        let view = panel.launch(task_request("all"), window, cx).view;
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
