//! Tests in a window: the commands that run them, their list in a tab, and marks in the gutter.
//!
//! Start at `FollowedTests`.

use base::Span;
use composer_panel::actions::TrustFolder;
use editor::{DiagnosticOrigin, DiagnosticSet, DocumentModel, Editor};
use gpui_kit::{
    App, AppContext as _, Context, Div, Entity, InteractiveElement as _, Stateful, Subscription,
    Window,
};
use test_runner::TestId;
use ui::Tone;

use super::Workbench;
use crate::actions::test_runs::{
    RunAll, RunAtCaret, RunFailed, RunFile, RunLast, ShowTests, Stop, ToggleWatch,
};
use crate::item::TabItem;
use crate::layout::{ItemId, TabOpenMode};
use crate::notices::Notice;
use crate::tests_panel::{RunRequest, TestsEvent, TestsPanel, TestsPanelEvent, WindowTests};

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(run_at_caret))
        .on_action(cx.listener(run_file))
        .on_action(cx.listener(run_all))
        .on_action(cx.listener(run_failed))
        .on_action(cx.listener(run_last))
        .on_action(cx.listener(stop))
        .on_action(cx.listener(show_tests))
        .on_action(cx.listener(toggle_watch))
}

/// The tests of the window's folder.
#[derive(Default)]
pub(super) struct FollowedTests {
    tests: Option<Entity<WindowTests>>,
    _events: Option<Subscription>,
}

impl FollowedTests {
    /// Returns the tests of the folder; `None` if no folder is open, or if this process cannot run tests.
    pub(super) fn tests(&self) -> Option<&Entity<WindowTests>> {
        self.tests.as_ref()
    }
}

/// Opens the tests of the folder of the window after that folder was opened, replaced or closed.
pub(super) fn follow_folder(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let folder = workbench.folder.clone();
    let tests = folder.and_then(|folder| WindowTests::open(&folder, cx));
    let events = tests
        .as_ref()
        .map(|tests| cx.subscribe_in(tests, window, tests_event));
    workbench.tests = FollowedTests {
        tests: tests.clone(),
        _events: events,
    };
    let mut documents = Vec::new();
    for entry in workbench.items.values() {
        documents.extend(entry.item.documents(cx));
        if let TabItem::Tests(panel) = &entry.item {
            panel.update(cx, |panel, cx| panel.follow(tests.clone(), cx));
        }
    }
    for document in documents {
        // Removes what the tests of the former folder showed.
        document.update(cx, |document, cx| {
            let revision = document.snapshot().revision();
            document.set_gutter_marks(revision, Vec::new(), cx);
            document.set_diagnostics(
                DiagnosticOrigin::Tests,
                revision,
                DiagnosticSet::default(),
                cx,
            );
        });
        watch(workbench, &document, cx);
    }
}

/// Follows the tests of an open text.
pub(super) fn watch(
    workbench: &Workbench,
    document: &Entity<DocumentModel>,
    cx: &mut Context<Workbench>,
) {
    if let Some(tests) = workbench.tests.tests() {
        tests.update(cx, |tests, cx| tests.watch(document, cx));
    }
}

fn tests_event(
    workbench: &mut Workbench,
    _: &Entity<WindowTests>,
    event: &TestsEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        TestsEvent::Report(notice) => workbench.report(notice.clone(), window, cx),
        TestsEvent::Untrusted => {
            let notice = Notice::new(Tone::Warning, "Tests run only in trusted folders")
                .key("tests")
                .action("Trust folder", TrustFolder);
            workbench.report(notice, window, cx);
        }
    }
}

/// Handles a request of the list of tests.
pub(super) fn panel_event(
    workbench: &mut Workbench,
    _: &Entity<TestsPanel>,
    event: &TestsPanelEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        TestsPanelEvent::Open(path, options) => {
            workbench.open_path(path.clone(), *options, window, cx);
        }
        TestsPanelEvent::Cancelled => workbench.focus_active(window, cx),
    }
}

/// Runs the test of a mark in the gutter.
pub(super) fn run_mark(
    workbench: &Workbench,
    editor: &Entity<Editor>,
    key: usize,
    cx: &mut Context<Workbench>,
) {
    let Some(tests) = workbench.tests.tests() else {
        return;
    };
    let model = editor.read(cx).model().read(cx);
    let item = tests.read(cx).marked_item(model, key);
    if let Some(id) = item.map(|item| item.id.clone()) {
        run(tests, RunRequest::Tests(vec![id]), cx);
    }
}

fn run(tests: &Entity<WindowTests>, request: RunRequest, cx: &mut App) {
    tests.update(cx, |tests, cx| tests.run(request, cx));
}

/// Returns the tests of the window; reports if there are none.
fn tests_or_report(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<Entity<WindowTests>> {
    let tests = workbench.tests.tests().cloned();
    if tests.is_none() {
        workbench.tell("tests", "Tests run in an open folder", window, cx);
    }
    tests
}

fn run_at_caret(
    workbench: &mut Workbench,
    _: &RunAtCaret,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(tests) = tests_or_report(workbench, window, cx) else {
        return;
    };
    let id = test_at_caret(workbench, &tests, cx);
    match id {
        Some(id) => run(&tests, RunRequest::Tests(vec![id]), cx),
        None => workbench.tell("tests", "There is no test at the caret", window, cx),
    }
}

/// Returns the innermost test or suite in the row of the caret.
fn test_at_caret(
    workbench: &Workbench,
    tests: &Entity<WindowTests>,
    cx: &mut Context<Workbench>,
) -> Option<TestId> {
    let editor = workbench.active_item().and_then(TabItem::editor).cloned()?;
    let row = editor.update(cx, |editor, cx| editor.caret_point(cx).row);
    let model = editor.read(cx).model().read(cx);
    let snapshot = model.snapshot();
    let span = Span::new(snapshot.row_start(row), snapshot.row_end(row));
    let state = tests.read(cx).state();
    let item = state.touching(model.path()?, span)?;
    Some(item.id.clone())
}

fn run_file(
    workbench: &mut Workbench,
    _: &RunFile,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(tests) = tests_or_report(workbench, window, cx) else {
        return;
    };
    match workbench.active_item().and_then(|item| item.path(cx)) {
        Some(path) => {
            let id = TestId::of_file(&path);
            run(&tests, RunRequest::Tests(vec![id]), cx);
        }
        None => workbench.tell("tests", "There are no tests to run", window, cx),
    }
}

fn run_all(
    workbench: &mut Workbench,
    _: &RunAll,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(tests) = tests_or_report(workbench, window, cx) {
        run(&tests, RunRequest::All, cx);
    }
}

fn run_failed(
    workbench: &mut Workbench,
    _: &RunFailed,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(tests) = tests_or_report(workbench, window, cx) else {
        return;
    };
    let failed = tests.read(cx).state().failed();
    if failed.is_empty() {
        workbench.tell("tests", "No test has failed", window, cx);
    } else {
        run(&tests, RunRequest::Tests(failed), cx);
    }
}

fn run_last(
    workbench: &mut Workbench,
    _: &RunLast,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(tests) = tests_or_report(workbench, window, cx) else {
        return;
    };
    let last = tests.read(cx).last_request();
    match last {
        Some(request) => run(&tests, request, cx),
        None => workbench.tell("tests", "No test has run yet", window, cx),
    }
}

fn stop(workbench: &mut Workbench, _: &Stop, _: &mut Window, cx: &mut Context<Workbench>) {
    if let Some(tests) = workbench.tests.tests().cloned() {
        tests.update(cx, |tests, cx| tests.stop(cx));
    }
}

fn toggle_watch(
    workbench: &mut Workbench,
    _: &ToggleWatch,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(tests) = tests_or_report(workbench, window, cx) else {
        return;
    };
    let Some(path) = workbench.active_item().and_then(|item| item.path(cx)) else {
        return;
    };
    let is_watched = tests.update(cx, |tests, _| tests.toggle_watch(&path));
    let name = path.printable_name();
    let sentence = if is_watched {
        format!("The tests of {name} run after each save")
    } else {
        format!("The tests of {name} run no longer after a save")
    };
    workbench.tell("tests", sentence, window, cx);
}

fn show_tests(
    workbench: &mut Workbench,
    _: &ShowTests,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(tests) = tests_or_report(workbench, window, cx) else {
        return;
    };
    tests.update(cx, |tests, cx| tests.scan_folder(cx));
    workbench.leave_place(cx);
    if let Some(id) = open_panel(workbench) {
        return workbench.activate(id, window, cx);
    }
    let panel = cx.new(|cx| TestsPanel::new(Some(tests), window, cx));
    let pane = workbench.layout.active_pane();
    let item = TabItem::Tests(panel);
    workbench.add_item(item, pane, TabOpenMode::Lasting, window, cx);
    workbench.focus_active(window, cx);
}

/// Returns the tab with the list of tests, if there is one.
fn open_panel(workbench: &Workbench) -> Option<ItemId> {
    let mut items = workbench.layout.items().into_iter();
    items.find(|id| matches!(workbench.item(*id), Some(TabItem::Tests(_))))
}
