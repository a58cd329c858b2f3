//! The history of the repository and blame in the texts, by the keyboard.

use std::path::Path;
use std::sync::Arc;

use editor::Editor;
use git_history::actions::{CherryPick, ResetHard, Revert};
use git_history::{CommitCommand, FakeHistory, HistoryError, HistoryService};
use git_program::{
    BlamedCommit, BlamedLines, NamedCommits, ReflogEntry, ReflogState, ResetMode, UndoPlan,
    UndoStep,
};
use gpui_kit::{Entity, TestAppContext};

use super::{Story, path, project, services, start_with};
use crate::TabItem;
use crate::actions::file;
use crate::windows::OpenRequest;

fn id(digit: char) -> String {
    digit.to_string().repeat(40)
}

/// Opens the project with a history of three commits, and `main.rs` in a tab.
fn open(fake: &FakeHistory, cx: &mut TestAppContext) -> Story {
    fake.set_line_of_commits(&[("Ann", "third"), ("Bob", "second"), ("Ann", "first")]);
    let files = project();
    let service: Arc<dyn HistoryService> = Arc::new(fake.clone());
    let services = crate::Services {
        history: Some(Arc::new(move |_| service.clone())),
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
    story
}

/// Blame of `main.rs`: two lines of one commit, the others of another.
fn blamed() -> Vec<BlamedLines> {
    let lines = |first: u32, end: u32, digit: char, author: &str| BlamedLines {
        lines: first..end,
        source_line: first,
        source_path: "src/main.rs".into(),
        commit: Arc::new(BlamedCommit {
            id: Some(id(digit)),
            author: author.to_owned(),
            subject: "subject".to_owned(),
            ..BlamedCommit::default()
        }),
    };
    vec![lines(0, 2, '2', "Bob"), lines(2, 6, '1', "Ann")]
}

fn editor(story: &mut Story) -> Entity<Editor> {
    let editor = story.read(|it, _| it.active_item().and_then(TabItem::editor).cloned());
    editor.expect("a text")
}

/// Returns the author of each row of the active text.
fn authors(story: &mut Story) -> Vec<Option<String>> {
    let editor = editor(story);
    story.read(|_, cx| {
        let model = editor.read(cx).model().read(cx);
        let rows = (0..model.snapshot().row_count()).map(base::Row);
        rows.map(|row| model.line_author(row).map(|it| it.name.to_string()))
            .collect()
    })
}

fn names(names: &[Option<&str>]) -> Vec<Option<String>> {
    names.iter().map(|name| name.map(str::to_owned)).collect()
}

#[gpui_kit::test]
fn the_history_opens_in_a_tab_and_shows_a_change(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-k h").settle();
    assert_eq!(story.tabs(), "main.rs [History]");
    let shown = super::a11y::names(&mut story, "the history");
    for wanted in [
        "Commits",
        "second, Bob",
        "Selected commit",
        "src/main.rs, modified",
    ] {
        assert!(
            shown.iter().any(|name| name.contains(wanted)),
            "{wanted}: {shown:?}"
        );
    }
    story.keys("down").settle().keys("enter enter").settle();
    assert_eq!(story.tabs(), "main.rs History [main.rs (22222222)]");
    assert_eq!(story.text(), "fn main() {}\n");
    // It is the text of a commit, which cannot be edited.
    story.input("x");
    assert_eq!(story.text(), "fn main() {}\n");
}

#[gpui_kit::test]
fn file_and_line_history_set_the_filter(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-home down shift-down");
    story.keys("ctrl-k shift-h").settle();
    let query = fake.take_log_queries().pop().expect("a query");
    assert_eq!(query.path.as_deref(), Some(Path::new("src/main.rs")));
    assert!(query.follow);
    assert_eq!(story.tabs(), "main.rs [History of main.rs]");
    story.keys("ctrl-pageup").settle();
    story.keys("ctrl-k l").settle();
    let query = fake.take_log_queries().pop().expect("a query");
    assert_eq!(query.lines, Some(("src/main.rs".into(), 2..=3)));
    assert_eq!(story.tabs(), "main.rs [History of main.rs]");
}

#[gpui_kit::test]
fn commands_run_at_the_selected_commit_and_a_reset_asks(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-k h").settle().keys("down").settle();
    story.act(CherryPick);
    story.act(Revert);
    let commands = fake.take_commit_commands();
    let expected = [CommitCommand::CherryPick, CommitCommand::Revert];
    assert_eq!(commands, expected.map(|command| (id('2'), command)));
    story.act(ResetHard);
    assert!(story.is_asking());
    // The harmless answer has the focus.
    story.keys("enter").settle();
    assert!(fake.take_commit_commands().is_empty());
    story.act(ResetHard).keys("left enter").settle();
    let reset = CommitCommand::Reset(ResetMode::Hard);
    assert_eq!(fake.take_commit_commands(), [(id('2'), reset)]);
    story
        .keys("b")
        .settle()
        .input("topic")
        .keys("enter")
        .settle();
    let branch = CommitCommand::Branch("topic".to_owned());
    assert_eq!(fake.take_commit_commands(), [(id('2'), branch)]);
    // The history is read again if the command moved HEAD, and only then.
    fake.take_log_queries();
    story.act(Revert);
    assert_eq!(fake.take_log_queries().len(), 0);
    fake.move_head(&id('9'));
    story.act(Revert);
    assert_eq!(fake.take_log_queries().len(), 1);
}

#[gpui_kit::test]
fn blame_runs_once_and_follows_edits(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    fake.set_blamed_lines(blamed());
    let mut story = open(&fake, cx);
    let requests = fake.take_blame_requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].content, None, "the file has the text");
    let (ann, bob) = (Some("Ann"), Some("Bob"));
    assert_eq!(authors(&mut story), names(&[bob, bob, ann, ann, ann, ann]));
    story
        .keys("ctrl-home end")
        .input("x")
        .keys("down end enter");
    story.settle();
    let edited = [None, bob, None, ann, ann, ann, ann];
    assert_eq!(authors(&mut story), names(&edited));
    assert!(
        fake.take_blame_requests().is_empty(),
        "edits ask for nothing"
    );
    story.act(file::Save);
    story.keys("ctrl-home").settle();
    assert_eq!(
        fake.take_blame_requests().len(),
        1,
        "the file is another one"
    );
    story.keys("down").settle().keys("up").settle();
    assert!(fake.take_blame_requests().is_empty());
}

#[gpui_kit::test]
fn the_commit_of_a_line_opens_in_the_history(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    fake.set_blamed_lines(blamed());
    let mut story = open(&fake, cx);
    story.keys("ctrl-home").settle();
    story.keys("ctrl-k b").settle();
    let shown = super::a11y::names(&mut story, "the margin");
    assert!(
        shown.iter().any(|name| name.starts_with("Bob, ")),
        "{shown:?}"
    );
    story.keys("ctrl-k shift-i").settle();
    assert_eq!(story.tabs(), "main.rs [History]");
    story.keys("c").settle();
    let copied = story.cx.read_from_clipboard().and_then(|item| item.text());
    assert_eq!(copied, Some(id('2')));
}

#[gpui_kit::test]
fn a_plan_is_shown_before_it_undoes_an_action(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-k z").settle();
    let report = story.reports().first().cloned();
    let expected = "The last action of Git cannot be undone";
    assert_eq!(report.as_deref(), Some(expected));
    fake.set_undo_plan(UndoPlan {
        action: "commit: third".to_owned(),
        step: UndoStep::ResetSoft(id('2')),
        head: id('3'),
    });
    story.keys("ctrl-k z").settle();
    assert!(story.is_asking());
    assert_eq!(fake.undone_plans(), 0);
    story.keys("left enter").settle();
    assert_eq!(fake.undone_plans(), 1);
}

#[gpui_kit::test]
fn failures_are_said_and_blame_stays_quiet(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    fake.fail_reads(HistoryError::Untrusted);
    let mut story = open(&fake, cx);
    assert!(story.reports().is_empty(), "{:?}", story.reports());
    story.keys("ctrl-k h").settle();
    let shown = super::a11y::names(&mut story, "the failed history");
    assert!(shown.iter().any(|name| name == "Try again"), "{shown:?}");
}

#[gpui_kit::test]
fn a_former_state_is_chosen_with_what_it_loses(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-k shift-z").settle();
    let report = story.reports().first().cloned();
    assert_eq!(report.as_deref(), Some("There is no former state"));
    let description = "commit: second".to_owned();
    fake.set_reflog_states(vec![ReflogState {
        entry: ReflogEntry {
            id: id('2'),
            before: Some(id('1')),
            seconds: 0,
            description: description.clone(),
        },
        plan: UndoPlan {
            action: description,
            step: UndoStep::ResetKeep(id('2')),
            head: id('3'),
        },
        gained: NamedCommits::default(),
        lost: NamedCommits {
            count: 1,
            subjects: vec!["third".to_owned()],
            is_cut: false,
        },
    }]);
    story.keys("ctrl-k shift-z").settle();
    let shown = super::a11y::names(&mut story, "the former states");
    assert!(
        shown.iter().any(|name| name.contains("commit: second")),
        "{shown:?}"
    );
    story.keys("enter").settle();
    assert!(story.is_asking());
    // The harmless answer has the focus.
    story.keys("enter").settle();
    assert_eq!(fake.undone_plans(), 0);
    story.keys("ctrl-k shift-z").settle().keys("enter").settle();
    story.keys("left enter").settle();
    assert_eq!(fake.undone_plans(), 1);
    let report = story.reports().first().cloned();
    assert_eq!(report.as_deref(), Some("The former state is restored"));
}

#[gpui_kit::test]
fn versions_of_a_file_are_stepped_through_in_one_tab(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-k shift-h").settle();
    story.keys("enter enter").settle();
    let tabs = |digit: char| {
        let short = digit.to_string().repeat(8);
        format!("main.rs History of main.rs [main.rs ({short})]")
    };
    assert_eq!(story.tabs(), tabs('3'));
    story.keys("alt-[").settle();
    assert_eq!(story.tabs(), tabs('2'));
    story.keys("alt-j").settle();
    assert_eq!(story.tabs(), tabs('1'));
    story.keys("alt-[").settle();
    assert_eq!(story.tabs(), tabs('1'));
    let report = story.reports().first().cloned();
    let expected = "This is the oldest version in the list";
    assert_eq!(report.as_deref(), Some(expected));
    story.keys("alt-]").settle();
    assert_eq!(story.tabs(), tabs('2'));
}

#[gpui_kit::test]
fn a_version_from_the_whole_history_has_no_neighbours(cx: &mut TestAppContext) {
    let fake = FakeHistory::default();
    let mut story = open(&fake, cx);
    story.keys("ctrl-k h").settle().keys("enter enter").settle();
    story.keys("alt-[").settle();
    assert_eq!(story.tabs(), "main.rs History [main.rs (33333333)]");
    let report = story.reports().first().cloned();
    let expected = "Open a version from the history of a file first";
    assert_eq!(report.as_deref(), Some(expected));
}
