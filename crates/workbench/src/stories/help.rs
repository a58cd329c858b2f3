//! Help: the guide, notes about crashes, the text of an issue.

use std::sync::Arc;

use gpui_kit::TestAppContext;
use host::{Fact, FactVerdict, FakeFiles};

use super::{Story, open, open_with, path, project, services, start_with};
use crate::Services;
use crate::actions::help;
use crate::windows::OpenRequest;

/// A note of a run that crashed.
const NOTE: &str = "burin crash note 1\nprogram: burin 0.0.9\nbuild: 0aff\ntime: 5\nthread: main\n\
                    place: crates/text/src/a.rs:3:5\nmessage:\n  cannot read \"my diary\"\n";

fn crashed(files: &FakeFiles) {
    files.write(&path("/burin/state/crashes/0000000000005-7-0.crash"), NOTE);
}

fn crash_reports(story: &mut Story) -> Vec<String> {
    let reports = story.reports().into_iter();
    reports
        .filter(|report| report.contains("crashed at"))
        .collect()
}

#[gpui_kit::test]
fn the_guide_is_searched_and_opened_at_the_section(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.keys("shift-f1").input("folder trust").keys("enter");
    story.settle();
    assert_eq!(story.tabs(), "[safety.md]");
    let text = story.text();
    assert!(text.starts_with("# Safety"), "{text}");
    let heading = text.lines().position(|line| line == "## Folder trust");
    let workbench = story.workbench.clone();
    let point = story.cx.update(|_, cx| {
        let item = workbench.read(cx).active_item();
        let editor = item.and_then(|item| item.editor().cloned());
        let editor = editor.expect("a text");
        editor.update(cx, |editor, cx| editor.caret_point(cx))
    });
    let caret = Some(point.row.0 as usize);
    assert!(
        caret > heading && heading.is_some(),
        "{caret:?} {heading:?}"
    );
    assert!(
        story
            .on_disk("/burin/cache/guide/tab.md")
            .starts_with("# Tab")
    );
}

#[gpui_kit::test]
async fn a_crash_is_reported_at_the_next_start_alone(cx: &mut TestAppContext) {
    let files = project();
    crashed(&files);
    let mut story = open_with(files.clone(), cx);
    assert_eq!(
        crash_reports(&mut story),
        ["burin 0.0.9 crashed at crates/text/src/a.rs:3:5. Nothing was sent."]
    );
    drop(story);
    let mut again = cx.new_app();
    let mut story = open_with(files, &mut again);
    assert!(crash_reports(&mut story).is_empty());
}

#[gpui_kit::test]
fn the_copied_report_is_redacted(cx: &mut TestAppContext) {
    let files = project();
    crashed(&files);
    let mut story = open_with(files, cx);
    story.act(help::CopyCrashReport);
    let copied = story.cx.read_from_clipboard().and_then(|it| it.text());
    let copied = copied.expect("a report");
    assert!(
        copied.contains("cannot read \"[text]\"") && copied.contains("build: 0aff"),
        "{copied}"
    );
    assert!(!copied.contains("diary"));
}

#[gpui_kit::test]
fn an_issue_has_versions_machine_and_crash(cx: &mut TestAppContext) {
    let files = project();
    crashed(&files);
    let fact = || Fact {
        name: "git",
        value: "2.39.5".to_owned(),
        verdict: FactVerdict::Good,
    };
    let services = Services {
        facts: Some(Arc::new(move || vec![fact()])),
        ..services(&files)
    };
    let mut stories = start_with(services, &files, OpenRequest::default(), cx);
    let story = stories.last_mut().expect("a window");
    story.settle();
    story.act(help::ReportIssue);
    let text = story.text();
    for expected in [
        "## Problem\n",
        concat!("- burin: ", env!("CARGO_PKG_VERSION"), "\n"),
        "- git: 2.39.5\n",
        "place: crates/text/src/a.rs:3:5\n",
    ] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
    assert!(!text.contains("diary"));
}
