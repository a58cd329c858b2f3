//! Tasks by the keyboard: running them in terminals, their problems, trust, questions.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use base::AbsPath;
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{Role, TestAppContext};
use host::FakeFiles;
use host::process::ProcessExit;
use tasks::TaskFile;
use terminal_panel::{FakeProgram, FakeTerminals, TerminalPanelEvent};
use ui::picker::Picker;

use super::problems::{listed, report_open};
use super::{Story, path, project, services, start_with};
use crate::TabItem;
use crate::actions::{language, tasks as actions};
use crate::pickers::tasks::TaskPicker;
use crate::services::TaskTrust;
use crate::windows::OpenRequest;

/// The permission of a user in a test.
#[derive(Default)]
struct FakeTaskTrust {
    is_trusted: bool,
    /// Texts of allowed files.
    allowed: Mutex<HashSet<String>>,
}

impl TaskTrust for FakeTaskTrust {
    fn is_trusted(&self, _: &AbsPath) -> bool {
        self.is_trusted
    }

    fn is_allowed(&self, _: &AbsPath, file: &TaskFile) -> bool {
        self.allowed.lock().expect("no panic").contains(&file.text)
    }

    fn allow(&self, _: &AbsPath, file: &TaskFile) -> Result<(), host::Error> {
        let mut allowed = self.allowed.lock().expect("no panic");
        allowed.insert(file.text.clone());
        Ok(())
    }
}

const FILE: &str = "/p/.vscode/tasks.json";
const CHECK: &str = r#"{ "version": "2.0.0", "tasks": [
    { "label": "check", "command": "check-it", "args": ["${relativeFile}"], "problemMatcher": "$rustc", "group": "build" },
    { "label": "other", "command": "other-it" },
    { "label": "broken", "command": "x", "args": ["${nonsense}"] }
] }"#;

/// Opens the project with a file of tasks, which the user allowed before if `is_allowed`.
fn open(
    tasks: &str,
    is_trusted: bool,
    is_allowed: bool,
    cx: &mut TestAppContext,
) -> (Story, FakeTerminals) {
    let (files, fake): (FakeFiles, _) = (project(), FakeTerminals::default());
    files.write(&path(FILE), tasks);
    let trust = FakeTaskTrust {
        is_trusted,
        ..FakeTaskTrust::default()
    };
    if is_allowed {
        trust
            .allowed
            .lock()
            .expect("no panic")
            .insert(tasks.to_owned());
    }
    let service = Arc::new(fake.clone());
    let services = crate::Services {
        terminals: Some(Arc::new(move |_| service.clone())),
        task_trust: Some(Arc::new(trust)),
        ..services(&files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    story.open_file("main.rs");
    (story, fake)
}

/// Runs a task by its name, as the user does.
fn run(story: &mut Story, name: &str) {
    story.keys("alt-shift-t").settle();
    story.input(name).keys("enter").settle();
}

/// Returns the programs that were started, each with its arguments.
fn started(fake: &FakeTerminals) -> Vec<String> {
    let launches = fake.launches().into_iter();
    let programs = launches.filter_map(|launch| launch.program);
    let words = programs.map(|program| [vec![program.name], program.arguments].concat());
    words.map(|words| words.join(" ")).collect()
}

fn last_program(fake: &FakeTerminals) -> FakeProgram {
    fake.programs().pop().expect("a program")
}

fn end(story: &mut Story, fake: &FakeTerminals, code: i32) {
    last_program(fake).end(ProcessExit::Exited(code));
    story.settle();
}

fn labels(story: &mut Story, role: Role) -> Vec<String> {
    let elements = story.cx.update(|window, _| window.find_all_by_role(role));
    let labels = elements.iter().filter_map(|it| it.label());
    labels.map(str::to_owned).collect()
}

fn problems(story: &mut Story) -> Vec<String> {
    story.act(language::ShowProblems);
    let listed = listed(story);
    story.keys("escape").settle();
    listed
}

#[gpui_kit::test]
fn a_task_runs_by_the_keyboard_and_shows_its_problems(cx: &mut TestAppContext) {
    let (mut story, fake) = open(CHECK, true, true, cx);
    run(&mut story, "check");
    assert_eq!(started(&fake), ["check-it src/main.rs"]);
    assert!(story.read(|it, _| it.are_terminals_visible()));
    let program = last_program(&fake);
    program.print("\x1b[31merror[E0425]\x1b[0m: cannot find `old`\r\n  \x1b[34m--> ");
    program.print("\x1b[0msrc/main.rs:2:5\r\nerror: unused\r\n --> src/lib.rs:3:8\r\n");
    story.settle();
    let of_lib = "src/lib.rs:3: error: unused (rustc)";
    let of_main = "src/main.rs:2: error: cannot find `old` (rustc E0425)";
    assert_eq!(problems(&mut story), [of_lib, of_main]);
    // The open text has the problem at its column, over the word.
    let editor = story.read(|it, _| it.active_item().and_then(TabItem::editor).cloned());
    let editor = editor.expect("a text");
    let word = story.cx.update(|_, cx| {
        let model = editor.read(cx).model().read(cx);
        let placed = model.diagnostics().next().expect("a problem");
        model.snapshot().text(placed.span).into_owned()
    });
    assert_eq!(word, "old");
    story
        .act(language::ShowProblems)
        .input("unused")
        .keys("enter");
    story.settle();
    assert!(story.text().starts_with("pub fn one()"));
    let editor = story.read(|it, _| it.active_item().and_then(TabItem::editor).cloned());
    let editor = editor.expect("a text");
    let caret = story
        .cx
        .update(|_, cx| editor.update(cx, |it, cx| it.caret_point(cx)));
    assert_eq!((caret.row.0, caret.column.0), (2, 7));
    end(&mut story, &fake, 101);
    let tabs = labels(&mut story, Role::Tab);
    let is_ended = |tab: &String| tab.starts_with("check \u{b7} exit 101 after 0.0 s");
    assert!(tabs.iter().any(is_ended), "{tabs:?}");
    assert_eq!(problems(&mut story).len(), 2);
}

#[gpui_kit::test]
fn a_problem_of_a_task_and_a_server_is_listed_once(cx: &mut TestAppContext) {
    let (mut story, fake) = open(CHECK, true, true, cx);
    let at = story.text().find("old").expect("a word");
    run(&mut story, "check");
    let program = last_program(&fake);
    program.print("error[E0425]: cannot find `old`\r\n  --> src/main.rs:2:5\r\n");
    story.settle();
    let of_task = "src/main.rs:2: error: cannot find `old` (rustc E0425)";
    assert_eq!(problems(&mut story), [of_task]);
    let error = lsp::DiagnosticSeverity::Error;
    let report = [(
        at,
        error,
        "cannot find `old` [E0425]\nnot found in this scope",
    )];
    report_open(&mut story, "/p/src/main.rs", &report);
    let listed = problems(&mut story);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(listed[0].ends_with("(rustc)"), "{listed:?}");
    report_open(&mut story, "/p/src/main.rs", &[]);
    assert_eq!(problems(&mut story), [of_task]);
}

#[gpui_kit::test]
fn the_last_task_runs_again_in_its_tab(cx: &mut TestAppContext) {
    let (mut story, fake) = open(CHECK, true, true, cx);
    story.act(actions::RunBuildTask);
    last_program(&fake).print("error: a\r\n --> src/main.rs:1:1\r\n");
    story.settle();
    end(&mut story, &fake, 1);
    assert_eq!(problems(&mut story).len(), 1);
    story.keys("alt-shift-r").settle();
    assert_eq!(started(&fake), ["check-it src/main.rs"; 2]);
    assert_eq!(problems(&mut story), [] as [&str; 0]);
    end(&mut story, &fake, 0);
    let tabs = labels(&mut story, Role::Tab);
    let of_task = tabs.iter().filter(|tab| tab.starts_with("check \u{b7}"));
    assert_eq!(of_task.count(), 1, "{tabs:?}");
    // The terminal itself asks for another run.
    let panel = story.read(|it, _| it.terminals().expect("the panel").clone());
    let again = TerminalPanelEvent::RerunRequested("check".to_owned());
    story
        .cx
        .update(|_, cx| panel.update(cx, |_, cx| cx.emit(again)));
    story.settle();
    assert_eq!(started(&fake).len(), 3);
}

#[gpui_kit::test]
fn the_list_shows_recent_tasks_first_and_problems_of_files(cx: &mut TestAppContext) {
    let (mut story, fake) = open(CHECK, true, true, cx);
    run(&mut story, "other");
    end(&mut story, &fake, 0);
    story.act(actions::RunTask);
    let titles = story.read(|workbench, cx| {
        let picker = workbench.modal().read(cx);
        let picker = picker.active_view::<Picker<TaskPicker>>();
        picker.expect("the tasks").read(cx).delegate().titles()
    });
    let file = ".vscode/tasks.json";
    assert_eq!(
        titles[..3],
        ["other", "check", "broken"].map(|it| format!("{it} [{file}]"))
    );
    assert!(
        titles[3].starts_with("unknown variable ${nonsense}"),
        "{titles:?}"
    );
    assert!(titles[3].ends_with("[.vscode/tasks.json:4]"), "{titles:?}");
    story.keys("escape").settle();
    run(&mut story, "broken x");
    let reports = story.reports();
    assert!(
        reports[0].starts_with(".vscode/tasks.json:4: \"broken\": unknown"),
        "{reports:?}"
    );
    assert_eq!(started(&fake).len(), 1);
}

#[gpui_kit::test]
fn nothing_runs_in_a_folder_without_trust(cx: &mut TestAppContext) {
    let (mut story, fake) = open(CHECK, false, true, cx);
    run(&mut story, "check");
    assert_eq!(
        labels(&mut story, Role::AlertDialog),
        ["Trust this folder?"]
    );
    story.keys("enter").settle();
    assert!(!story.is_asking());
    story.keys("alt-shift-r").settle();
    story.keys("escape").settle();
    assert_eq!(started(&fake), [] as [&str; 0]);
}

#[gpui_kit::test]
fn a_changed_file_asks_again(cx: &mut TestAppContext) {
    let (mut story, fake) = open(CHECK, true, false, cx);
    let question = ["Run the tasks in .vscode/tasks.json?"];
    run(&mut story, "check");
    assert_eq!(labels(&mut story, Role::AlertDialog), question);
    assert_eq!(started(&fake), [] as [&str; 0]);
    story.keys("left enter").settle();
    assert_eq!(started(&fake).len(), 1);
    end(&mut story, &fake, 0);
    run(&mut story, "check");
    assert_eq!(started(&fake).len(), 2);
    end(&mut story, &fake, 0);
    let changed = CHECK.replace("check-it", "rm");
    story.files.write(&path(FILE), &changed);
    run(&mut story, "check");
    assert_eq!(labels(&mut story, Role::AlertDialog), question);
    story.keys("escape").settle();
    assert_eq!(started(&fake).len(), 2);
}

#[gpui_kit::test]
fn values_are_asked_and_dependencies_run_first(cx: &mut TestAppContext) {
    let tasks = r#"{ "version": "2.0.0",
        "inputs": [{ "id": "name", "type": "promptString", "description": "Name of the release", "default": "v1" }],
        "tasks": [
            { "label": "one", "command": "first", "presentation": { "reveal": "never" } },
            { "label": "all", "command": "last", "args": ["${input:name}"], "dependsOn": "one" }
        ] }"#;
    let (mut story, fake) = open(tasks, true, true, cx);
    run(&mut story, "all");
    assert_eq!(started(&fake), [] as [&str; 0]);
    story.input("v2 beta").keys("enter").settle();
    assert_eq!(started(&fake), ["first"]);
    assert!(!story.read(|it, _| it.are_terminals_visible()));
    end(&mut story, &fake, 0);
    assert_eq!(started(&fake), ["first", "last v2 beta"]);
    end(&mut story, &fake, 0);
    run(&mut story, "all");
    story.keys("enter").settle();
    end(&mut story, &fake, 2);
    let sentence = "\u{201c}all\u{201d} does not run, because \u{201c}one\u{201d} failed";
    let reports = story.reports();
    assert!(reports.iter().any(|it| it == sentence), "{reports:?}");
    assert_eq!(started(&fake).len(), 3);
    // Without a value, nothing runs.
    run(&mut story, "all");
    story.keys("escape").settle();
    assert_eq!(started(&fake).len(), 3);
}

#[gpui_kit::test]
fn a_running_task_is_stopped(cx: &mut TestAppContext) {
    let (mut story, fake) = open(CHECK, true, true, cx);
    run(&mut story, "other");
    run(&mut story, "other");
    let question = ["\u{201c}other\u{201d} is running. Start it again?"];
    assert_eq!(labels(&mut story, Role::AlertDialog), question);
    story.keys("escape").settle();
    assert_eq!(started(&fake).len(), 1);
    story.act(actions::StopTask);
    let tabs = labels(&mut story, Role::Tab);
    let is_stopped = |tab: &String| tab.starts_with("other \u{b7} stopped after");
    assert!(tabs.iter().any(is_stopped), "{tabs:?}");
    run(&mut story, "other");
    assert_eq!(started(&fake).len(), 2);
}

#[gpui_kit::test]
fn a_file_of_tasks_is_created_with_an_example(cx: &mut TestAppContext) {
    let (mut story, _fake) = open(CHECK, true, true, cx);
    story.act(actions::OpenTaskFile);
    assert!(
        story.text().contains("\"version\": \"2.0.0\""),
        "{}",
        story.text()
    );
    let tabs = story.tabs();
    assert!(tabs.contains("tasks.jsonc*"), "{tabs}");
}
