//! Problems of language servers: their list, their marks, and keys that go from one to the next across files.

use base::Span;
use gpui_kit::{App, TestAppContext};
use lsp::{Diagnostic, DiagnosticSeverity, DiagnosticTags, ServerRange, UnopenedDiagnostic};
use text::Snapshot;
use ui::picker::Picker;

use super::a11y::names;
use super::{Story, open, path};
use crate::Workbench;
use crate::actions::language;
use crate::pickers::problems::ProblemPicker;

/// Reports problems about an open document: bytes, severity and message of each.
pub(super) fn report_open(
    story: &mut Story,
    name: &str,
    problems: &[(usize, DiagnosticSeverity, &str)],
) {
    let items = problems.iter().map(|(at, severity, message)| Diagnostic {
        span: Span::from(*at..*at + 1),
        severity: *severity,
        message: (*message).to_owned(),
        code: None,
        code_url: None,
        source: Some("rustc".to_owned()),
        tags: DiagnosticTags::default(),
        related: Vec::new(),
    });
    receive(story, name, items.collect(), Vec::new());
}

/// Reports problems about a file that is not open: row, severity and message of each.
fn report_closed(story: &mut Story, name: &str, problems: &[(usize, DiagnosticSeverity, &str)]) {
    let items = problems.iter().map(|(row, severity, message)| {
        let text = Snapshot::new(&"\n".repeat(*row));
        UnopenedDiagnostic {
            range: ServerRange::of(&text, Span::from(*row..*row)),
            severity: *severity,
            message: (*message).to_owned(),
            code: None,
            source: Some("rustc".to_owned()),
        }
    });
    receive(story, name, Vec::new(), items.collect());
}

fn receive(story: &mut Story, name: &str, open: Vec<Diagnostic>, closed: Vec<UnopenedDiagnostic>) {
    let servers = story.read(|workbench, cx| workbench.language_servers(cx).expect("a folder"));
    story.cx.update(|_, cx| {
        servers.update(cx, |servers, cx| {
            servers.receive(&path(name), open, closed, cx);
        });
    });
    story.settle();
}

pub(super) fn listed(story: &mut Story) -> Vec<String> {
    let rows = |workbench: &Workbench, cx: &App| {
        let picker = workbench.modal().read(cx);
        let picker = picker.active_view::<Picker<ProblemPicker>>();
        picker.expect("the problems").read(cx).delegate().rows()
    };
    story.read(rows)
}

/// Returns the name of the active tab with the row of its caret, counted from 1.
fn place(story: &mut Story) -> (String, u32) {
    let editor = story.read(|workbench, _| {
        let item = workbench.active_item().expect("a tab");
        item.editor().cloned().expect("a text")
    });
    story.cx.update(|_, cx| {
        let title = editor.read(cx).model().read(cx).document().title();
        let row = editor.update(cx, |editor, cx| editor.caret_point(cx).row.0);
        (title, row + 1)
    })
}

const ERROR: DiagnosticSeverity = DiagnosticSeverity::Error;
const WARNING: DiagnosticSeverity = DiagnosticSeverity::Warning;

#[gpui_kit::test]
fn problems_of_open_and_closed_files_are_listed(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    report_open(&mut story, "/p/src/lib.rs", &[(18, WARNING, "unused")]);
    report_closed(&mut story, "/p/src/main.rs", &[(3, ERROR, "not found")]);
    report_closed(&mut story, "/other/a.rs", &[(0, ERROR, "elsewhere")]);
    story.act(language::ShowProblems);
    let main = "src/main.rs:4: error: not found (rustc)";
    let lib = "src/lib.rs:2: warning: unused (rustc)";
    assert_eq!(listed(&mut story), [main, lib]);
    // The list follows the servers.
    report_closed(&mut story, "/p/src/main.rs", &[]);
    assert_eq!(listed(&mut story), [lib]);
    report_closed(&mut story, "/p/src/main.rs", &[(3, ERROR, "not found")]);
    story.keys("tab").settle();
    assert_eq!(listed(&mut story), [main]);
    story.keys("ctrl-c");
    let copied = story.cx.read_from_clipboard().and_then(|it| it.text());
    assert_eq!(copied.as_deref(), Some(main));
    story.keys("enter").settle();
    assert_eq!(place(&mut story), ("main.rs".to_owned(), 4));
}

#[gpui_kit::test]
fn an_agent_is_asked_to_fix_the_listed_problems(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    let both = [(0, ERROR, "not found"), (18, WARNING, "unused")];
    report_open(&mut story, "/p/src/lib.rs", &both);
    story.act(language::ShowProblems).input("found");
    story.keys("alt-enter").settle();
    assert!(!story.is_asking());
    story.keys("ctrl-a ctrl-c");
    let copied = story.cx.read_from_clipboard().and_then(|it| it.text());
    let expected = "Fix this problem:\n\n\
        - src/lib.rs:1: error: not found (rustc)";
    assert_eq!(copied.as_deref(), Some(expected));
}

#[gpui_kit::test]
fn keys_go_to_the_problems_of_the_next_file(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    let both = [(18, ERROR, "not found"), (36, WARNING, "unused")];
    report_open(&mut story, "/p/src/lib.rs", &both);
    let hint = (0, DiagnosticSeverity::Hint, "a hint");
    report_closed(&mut story, "/p/src/deep/leaf.rs", &[hint]);
    let closed = [(3, ERROR, "not found"), (4, WARNING, "unused")];
    report_closed(&mut story, "/p/src/main.rs", &closed);
    let mut check = |keys: &str, name: &str, row: u32| {
        story.keys(keys).settle();
        assert_eq!(place(&mut story), (name.to_owned(), row), "{keys}");
    };
    check("f8", "lib.rs", 2);
    check("f8", "lib.rs", 3);
    check("alt-f8", "lib.rs", 2);
    check("f8 f8", "main.rs", 4);
    check("ctrl-tab", "main.rs", 4);
    check("enter", "lib.rs", 3);
    check("shift-f8", "lib.rs", 2);
    check("shift-f8", "main.rs", 5);
}

#[gpui_kit::test]
fn tabs_and_the_tree_show_files_with_problems(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    let both = [(0, ERROR, "not found"), (18, WARNING, "unused")];
    report_open(&mut story, "/p/src/lib.rs", &both);
    report_closed(&mut story, "/p/src/main.rs", &[(3, WARNING, "unused")]);
    let seen = names(&mut story, "a text and the tree");
    let labelled = |start: &str| {
        let seen = seen.iter().filter(|name| name.starts_with(start));
        seen.cloned().collect::<Vec<_>>()
    };
    assert!(labelled("lib.rs").contains(&"lib.rs, 1 error, 1 warning".to_owned()));
    assert_eq!(labelled("main.rs"), ["main.rs, 1 warning"]);
    assert_eq!(labelled("src,"), ["src, 1 error, 2 warnings"]);
    assert_eq!(labelled("README.md"), ["README.md"]);
    let status = seen
        .iter()
        .find(|name| name.contains("1 error, 2 warnings"));
    assert!(status.is_some(), "the status bar counts them: {seen:?}");
}
