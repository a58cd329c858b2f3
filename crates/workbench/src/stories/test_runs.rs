//! Tests in a window, by the keyboard: runs, marks in the gutter, failures among the problems, the list.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_channel::Sender;
use base::AbsPath;
use editor::{Editor, GutterIcon};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gpui_kit::{Entity, TestAppContext};
use host::FakeFiles;
use test_runner::{TestCommand, TestRunEnd, TestStatus};

use super::{Story, path, services, start_with};
use crate::actions::test_runs as act;
use crate::actions::{file, language};
use crate::pickers::problems::ProblemPicker;
use crate::windows::OpenRequest;
use crate::{TabItem, TestOutput, TestRun, TestService, TestServiceError};
use ui::picker::Picker;

const LIBRARY: &str = "pub fn one() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n\n    #[test]\n    fn subtracts() {\n        assert!(false);\n    }\n}\n";

/// A service whose commands print what the story wants.
#[derive(Clone, Default)]
struct FakeTests(Arc<Mutex<FakeState>>);

#[derive(Default)]
struct FakeState {
    is_untrusted: bool,
    commands: Vec<String>,
    running: Vec<Sender<TestOutput>>,
    stops: usize,
}

impl TestService for FakeTests {
    fn start(&self, command: TestCommand) -> BoxFuture<'static, Result<TestRun, TestServiceError>> {
        let mut state = self.0.lock().expect("not poisoned");
        if state.is_untrusted {
            return futures::future::ready(Err(TestServiceError::Untrusted)).boxed();
        }
        let words = std::iter::once(command.program).chain(command.arguments);
        state.commands.push(words.collect::<Vec<_>>().join(" "));
        let (sender, output) = async_channel::unbounded();
        state.running.push(sender.clone());
        let shared = self.0.clone();
        let stop = Box::new(move || {
            shared.lock().expect("not poisoned").stops += 1;
            let end = TestOutput::Ended(TestRunEnd::Signalled(15));
            sender.try_send(end).expect("a listener");
        });
        futures::future::ready(Ok(TestRun { output, stop })).boxed()
    }
}

impl FakeTests {
    /// Prints a part of the output of the latest command.
    fn print(&self, output: &str) {
        let state = self.0.lock().expect("not poisoned");
        let sender = state.running.last().expect("a command");
        let chunk = TestOutput::Chunk(output.as_bytes().to_vec());
        sender.try_send(chunk).expect("a listener");
    }

    /// Prints the output of the latest command, and ends it with a code.
    fn end(&self, output: &str, code: i32) {
        let state = self.0.lock().expect("not poisoned");
        let sender = state.running.last().expect("a command");
        // In two chunks, of which none ends with a line.
        let (first, second) = output.as_bytes().split_at(output.len() / 2);
        for chunk in [first, second] {
            let chunk = TestOutput::Chunk(chunk.to_vec());
            sender.try_send(chunk).expect("a listener");
        }
        let end = TestOutput::Ended(TestRunEnd::Exited(code));
        sender.try_send(end).expect("a listener");
    }

    fn commands(&self) -> Vec<String> {
        self.0.lock().expect("not poisoned").commands.clone()
    }

    fn stops(&self) -> usize {
        self.0.lock().expect("not poisoned").stops
    }
}

fn files() -> FakeFiles {
    let files = FakeFiles::new();
    for (name, text) in [
        ("/p/Cargo.toml", "[package]\nname = \"sums\"\n"),
        ("/p/src/lib.rs", LIBRARY),
        ("/p/tests/it.rs", "#[test]\nfn works() {}\n"),
        ("/p/README.md", "# Sums\n"),
    ] {
        files.write(&path(name), text);
    }
    files
}

/// Opens the project with the fake service, and the library in a tab.
fn open(fake: &FakeTests, cx: &mut TestAppContext) -> Story {
    let files = files();
    let service: Arc<dyn TestService> = Arc::new(fake.clone());
    let services = crate::Services {
        tests: Some(Arc::new(move |_: &AbsPath| service.clone())),
        ..services(&files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    story.open_file("lib.rs");
    story
}

fn editor(story: &mut Story) -> Entity<Editor> {
    let editor = story.read(|it, _| it.active_item().and_then(TabItem::editor).cloned());
    editor.expect("a text")
}

/// Returns the marks of the active text: rows counted from 1, with their icons.
fn marks(story: &mut Story) -> Vec<(u32, GutterIcon)> {
    let editor = editor(story);
    story.cx.update(|_, cx| {
        let model = editor.read(cx).model().read(cx);
        let snapshot = model.snapshot();
        let marks = model.gutter_marks_in(snapshot.full_span()).into_iter();
        marks
            .map(|(span, mark)| (snapshot.point_at(span.start).row.0 + 1, mark.icon))
            .collect()
    })
}

fn caret_row(story: &mut Story) -> u32 {
    let editor = editor(story);
    story
        .cx
        .update(|_, cx| editor.update(cx, |editor, cx| editor.caret_point(cx).row.0 + 1))
}

/// Moves the caret to a row, counted from 1.
fn go_to_row(story: &mut Story, row: usize) {
    story.keys("ctrl-home");
    for _ in 1..row {
        story.keys("down");
    }
}

const RUNNING: &str = "     Running unittests src/lib.rs (target/debug/deps/sums-0123456789abcdef)\n\nrunning 2 tests\n";

/// The output of a run in which one test fails.
fn failing() -> String {
    format!(
        "{RUNNING}test tests::adds ... ok\ntest tests::subtracts ... FAILED\n\nfailures:\n\n\
         ---- tests::subtracts stdout ----\n\
         thread 'tests::subtracts' panicked at src/lib.rs:10:9:\n\
         assertion failed: false\n\n\
         failures:\n    tests::subtracts\n\n\
         test result: FAILED. 1 passed; 1 failed\n"
    )
}

fn passing() -> String {
    format!("{RUNNING}test tests::adds ... ok\ntest tests::subtracts ... ok\n\ntest result: ok.\n")
}

/// Returns the list of tests: label and state of each row.
fn listed(story: &mut Story) -> Vec<(String, Option<TestStatus>)> {
    let panel = story.read(|it, _| match it.active_item() {
        Some(TabItem::Tests(panel)) => panel.clone(),
        _ => panic!("the list is shown"),
    });
    let rows = story
        .cx
        .update(|_, cx| panel.update(cx, |panel, cx| panel.rows(cx)));
    let rows = rows.into_iter();
    rows.map(|row| (row.label, row.status)).collect()
}

fn row(label: &str, status: Option<TestStatus>) -> (String, Option<TestStatus>) {
    (label.to_owned(), status)
}

#[gpui_kit::test]
fn the_test_at_the_caret_runs_and_is_marked(cx: &mut TestAppContext) {
    use GutterIcon::{Failed, Passed, Run, Running};
    let fake = FakeTests::default();
    let mut story = open(&fake, cx);
    assert_eq!(marks(&mut story), [(4, Run), (6, Run), (9, Run)]);
    go_to_row(&mut story, 6);
    story.keys("ctrl-; c").settle();
    let run = "cargo test --no-fail-fast --lib -- --exact tests::adds";
    assert_eq!(fake.commands(), [run]);
    assert_eq!(marks(&mut story), [(4, Running), (6, Running), (9, Run)]);
    fake.end(&failing(), 101);
    story.settle();
    assert_eq!(marks(&mut story), [(4, Failed), (6, Passed), (9, Failed)]);
    // The marks follow edits.
    story.keys("ctrl-home enter").settle();
    let moved = marks(&mut story);
    let rows: Vec<u32> = moved.iter().map(|(row, _)| *row).collect();
    assert_eq!(rows, [5, 7, 10]);
    story.keys("ctrl-home").act(act::RunAtCaret);
    let report = story.reports().first().cloned();
    assert_eq!(report.as_deref(), Some("There is no test at the caret"));
    story.keys("ctrl-; l").settle();
    assert_eq!(fake.commands(), [run, run]);
}

#[gpui_kit::test]
fn a_failure_is_a_problem_at_its_line(cx: &mut TestAppContext) {
    let fake = FakeTests::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-; f").settle();
    fake.end(&failing(), 101);
    story.settle();
    story.keys("ctrl-home f8").settle();
    assert_eq!(caret_row(&mut story), 10);
    let problems = |story: &mut Story| {
        story.act(language::ShowProblems);
        let rows = story.read(|workbench, cx| {
            let picker = workbench.modal().read(cx);
            let picker = picker.active_view::<Picker<ProblemPicker>>();
            picker.expect("the problems").read(cx).delegate().rows()
        });
        story.keys("escape").settle();
        rows
    };
    let failure = "src/lib.rs:10: error: tests \u{203a} subtracts: assertion failed: false (tests)";
    assert_eq!(problems(&mut story), [failure]);
    // A closed file keeps its problem.
    story.keys("ctrl-w").settle();
    assert_eq!(problems(&mut story), [failure]);
    story.open_file("lib.rs");
    assert_eq!(problems(&mut story), [failure]);
    story.keys("ctrl-; e").settle();
    let last = fake.commands().pop();
    let failed = "cargo test --no-fail-fast --lib -- --exact tests::subtracts";
    assert_eq!(last.as_deref(), Some(failed));
    fake.end(&passing(), 0);
    story.settle();
    assert_eq!(problems(&mut story), [""; 0]);
}

#[gpui_kit::test]
fn results_are_shown_with_pauses_and_the_last_ones_always(cx: &mut TestAppContext) {
    use GutterIcon::{Failed, Passed, Running};
    let fake = FakeTests::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-; f").settle();
    fake.print(&format!("{RUNNING}test tests::adds ... ok\n"));
    story.cx.run_until_parked();
    assert_eq!(marks(&mut story)[1..], [(6, Passed), (9, Running)]);
    // Further results wait for the end of the pause, and the end of the command does not.
    fake.print("test tests::subtracts ... FAILED\n");
    story.cx.run_until_parked();
    assert_eq!(marks(&mut story)[2], (9, Running));
    story
        .cx
        .executor()
        .advance_clock(Duration::from_millis(100));
    story.cx.run_until_parked();
    assert_eq!(marks(&mut story)[2], (9, Failed));
    fake.end("test tests::subtracts ... ok\n", 0);
    story.cx.run_until_parked();
    assert_eq!(marks(&mut story)[2], (9, Passed));
}

#[gpui_kit::test]
fn the_list_has_all_tests_with_failed_ones_first(cx: &mut TestAppContext) {
    use TestStatus::{Failed, Passed};
    let fake = FakeTests::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-; t").settle();
    let expected = [
        row("src/lib.rs", None),
        row("tests", None),
        row("adds", None),
        row("subtracts", None),
        row("tests/it.rs", None),
        row("works", None),
    ];
    assert_eq!(listed(&mut story), expected);
    story.keys("ctrl-; a").settle();
    assert_eq!(fake.commands(), ["cargo test --no-fail-fast --workspace"]);
    let integration =
        "     Running tests/it.rs (target/debug/deps/it-0123456789abcdef)\n\ntest works ... ok\n";
    fake.end(&format!("{}{integration}", failing()), 101);
    story.settle();
    let expected = [
        row("src/lib.rs", Some(Failed)),
        row("tests", Some(Failed)),
        row("subtracts", Some(Failed)),
        row("adds", Some(Passed)),
        row("tests/it.rs", Some(Passed)),
        row("works", Some(Passed)),
    ];
    assert_eq!(listed(&mut story), expected);
    story.input("works");
    assert_eq!(listed(&mut story).len(), 2);
    story.keys("down down ctrl-enter").settle();
    let last = fake.commands().pop();
    let works = "cargo test --no-fail-fast --test it -- --exact works";
    assert_eq!(last.as_deref(), Some(works));
    story
        .keys("escape")
        .input("subtracts")
        .keys("down down down enter");
    story.settle();
    assert_eq!(caret_row(&mut story), 10);
}

#[gpui_kit::test]
fn a_stopped_run_says_so_and_ends_the_command(cx: &mut TestAppContext) {
    let fake = FakeTests::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-; f").settle();
    story.keys("ctrl-; ctrl-x").settle();
    assert_eq!(fake.stops(), 1);
    let skipped = GutterIcon::Skipped;
    assert_eq!(
        marks(&mut story),
        [(4, skipped), (6, skipped), (9, skipped)]
    );
    // A runner that fails leaves its tests without results.
    story.keys("ctrl-; f").settle();
    fake.end("error: could not compile `sums`\n", 101);
    story.settle();
    story.keys("ctrl-; t").settle();
    let rows = listed(&mut story);
    assert!(
        rows.contains(&row("adds", Some(TestStatus::NotRun))),
        "{rows:?}"
    );
}

#[gpui_kit::test]
fn watched_files_run_again_after_a_save(cx: &mut TestAppContext) {
    let fake = FakeTests::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-home").input("// ").act(file::Save);
    assert!(fake.commands().is_empty());
    story.keys("ctrl-; w").input("x").act(file::Save);
    assert_eq!(fake.commands(), ["cargo test --no-fail-fast --lib"]);
    fake.end(&passing(), 0);
    story.settle();
    story.keys("ctrl-; w").input("y").act(file::Save);
    assert_eq!(fake.commands().len(), 1);
}

#[gpui_kit::test]
fn an_untrusted_folder_runs_nothing(cx: &mut TestAppContext) {
    let fake = FakeTests::default();
    fake.0.lock().expect("not poisoned").is_untrusted = true;
    let mut story = open(&fake, cx);
    story.keys("ctrl-; f").settle();
    assert!(fake.commands().is_empty());
    let report = story.reports().first().cloned();
    assert_eq!(report.as_deref(), Some("Tests run only in trusted folders"));
    let skipped = GutterIcon::Skipped;
    assert_eq!(marks(&mut story)[0], (4, skipped));
}

#[gpui_kit::test]
fn without_a_service_there_are_no_tests(cx: &mut TestAppContext) {
    let mut story = super::open_with(files(), cx);
    story.open_file("lib.rs");
    assert!(marks(&mut story).is_empty());
    story.keys("ctrl-; c").settle();
    let report = story.reports().first().cloned();
    assert_eq!(report.as_deref(), Some("Tests run in an open folder"));
}
