//! The view over a history in memory: batches, filters, selection, errors.

use std::sync::Arc;

use gpui_kit::{Entity, TestAppContext, VisualTestContext};

use super::{HistoryEvent, HistoryView};
use crate::actions::{
    Cancel, CompareWithMarked, CompareWithWorkingTree, CopyId, MarkForComparison, OpenSelected,
    RebaseFrom, SelectFirst, SelectLast, SelectNext,
};
use crate::fake::FakeHistory;
use crate::service::HistoryError;

/// Opens the view in a window of its own.
fn open(fake: &FakeHistory, cx: &mut TestAppContext) -> (Entity<HistoryView>, VisualTestContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
    });
    let service = Arc::new(fake.clone());
    let window = cx.add_window(|window, cx| HistoryView::new(service, "", 100, window, cx));
    let view = window.root(cx).expect("an open window");
    let mut cx = VisualTestContext::from_window(window.into(), cx);
    cx.update(|window, cx| {
        window.activate_window();
        let focus = gpui_kit::Focusable::focus_handle(view.read(cx), cx);
        focus.focus(window, cx);
    });
    settle(&mut cx);
    (view, cx)
}

fn settle(cx: &mut VisualTestContext) {
    for _ in 0..3 {
        cx.run_until_parked();
        cx.executor().advance_clock(super::REST * 2);
    }
    cx.run_until_parked();
}

fn subjects(view: &Entity<HistoryView>, cx: &VisualTestContext) -> Vec<String> {
    view.read_with(cx, |view, _| {
        let rows = view.rows.iter();
        rows.map(|row| row.commit.subject.clone()).collect()
    })
}

fn three() -> FakeHistory {
    let fake = FakeHistory::default();
    fake.set_line_of_commits(&[("Ann", "third"), ("Bob", "second"), ("Ann", "first")]);
    fake
}

#[gpui_kit::test]
fn rows_have_a_graph_and_the_first_is_selected(cx: &mut TestAppContext) {
    let (view, cx) = open(&three(), cx);
    assert_eq!(subjects(&view, &cx), ["third", "second", "first"]);
    view.read_with(&cx, |view, _| {
        assert!(view.rows.iter().all(|row| row.graph.is_some()));
        assert_eq!(view.lanes, 1);
        assert_eq!(view.selected, Some(0));
        assert_eq!(view.status_words(), "3 commits");
    });
}

#[gpui_kit::test]
fn a_filter_replaces_the_query_once_it_rests(cx: &mut TestAppContext) {
    let fake = three();
    let (view, mut cx) = open(&fake, cx);
    assert_eq!(fake.take_log_queries().len(), 1);
    cx.update(|window, cx| {
        view.update(cx, |view, cx| view.set_filter("author:bob", window, cx));
    });
    settle(&mut cx);
    assert_eq!(subjects(&view, &cx), ["second"]);
    let queries = fake.take_log_queries();
    assert_eq!(queries.len(), 1, "the query is not run twice");
    assert_eq!(queries[0].author.as_deref(), Some("bob"));
    view.read_with(&cx, |view, _| {
        assert!(view.rows.iter().all(|row| row.graph.is_none()));
    });
    cx.dispatch_action(Cancel);
    settle(&mut cx);
    assert_eq!(subjects(&view, &cx).len(), 3);
}

/// Returns the events of the view from now on.
fn events_of(
    view: &Entity<HistoryView>,
    cx: &mut VisualTestContext,
) -> async_channel::Receiver<HistoryEvent> {
    cx.update(|_, cx| {
        let (sender, events) = async_channel::unbounded();
        cx.subscribe(view, move |_, event: &HistoryEvent, _| {
            sender.try_send(event.clone()).expect("a listener");
        })
        .detach();
        events
    })
}

#[gpui_kit::test]
fn a_marked_commit_is_compared_with_another_the_older_first(cx: &mut TestAppContext) {
    let (view, mut cx) = open(&three(), cx);
    let events = events_of(&view, &mut cx);
    let compared = |cx: &mut VisualTestContext| {
        settle(cx);
        let events = std::iter::from_fn(|| events.try_recv().ok());
        let mut compared = events.filter_map(|event| match event {
            HistoryEvent::Compare { before, after } => {
                let first = |id: String| id.chars().next().unwrap_or('?');
                Some((first(before), after.map(first)))
            }
            _ => None,
        });
        compared.next()
    };
    cx.dispatch_action(CompareWithMarked);
    assert_eq!(compared(&mut cx), None, "no commit is marked");
    cx.dispatch_action(MarkForComparison);
    cx.dispatch_action(SelectLast);
    cx.dispatch_action(CompareWithMarked);
    assert_eq!(compared(&mut cx), Some(('1', Some('3'))));
    cx.dispatch_action(MarkForComparison);
    cx.dispatch_action(SelectFirst);
    cx.dispatch_action(CompareWithMarked);
    assert_eq!(compared(&mut cx), Some(('1', Some('3'))));
    cx.dispatch_action(CompareWithWorkingTree);
    assert_eq!(compared(&mut cx), Some(('3', None)));
}

#[gpui_kit::test]
fn the_files_of_the_selected_commit_open_by_enter(cx: &mut TestAppContext) {
    let (view, mut cx) = open(&three(), cx);
    let events = events_of(&view, &mut cx);
    cx.dispatch_action(SelectNext);
    settle(&mut cx);
    cx.dispatch_action(OpenSelected);
    cx.dispatch_action(OpenSelected);
    settle(&mut cx);
    let event = events.try_recv().expect("an event");
    let HistoryEvent::OpenChange { id, change } = event else {
        panic!("{event:?}");
    };
    assert_eq!(id, "2".repeat(40));
    assert_eq!(change.path.to_str(), Some("src/main.rs"));
    cx.dispatch_action(CopyId);
    settle(&mut cx);
    let copied = cx.read_from_clipboard().and_then(|item| item.text());
    assert_eq!(copied, Some("2".repeat(40)));
    cx.dispatch_action(RebaseFrom);
    settle(&mut cx);
    let is_asked = std::iter::from_fn(|| events.try_recv().ok())
        .any(|event| event == HistoryEvent::RebaseFrom("2".repeat(40)));
    assert!(is_asked);
}

#[gpui_kit::test]
fn an_awaited_commit_is_selected_when_its_row_arrives(cx: &mut TestAppContext) {
    let (view, mut cx) = open(&three(), cx);
    cx.update(|_, cx| {
        view.update(cx, |view, cx| {
            view.select_commit(&"1".repeat(40), cx);
            view.refresh(200, cx);
        });
    });
    settle(&mut cx);
    view.read_with(&cx, |view, _| assert_eq!(view.selected, Some(2)));
    cx.dispatch_action(SelectLast);
    view.read_with(&cx, |view, _| assert_eq!(view.selected, Some(2)));
}

#[gpui_kit::test]
fn failures_and_limits_are_sentences(cx: &mut TestAppContext) {
    let fake = three();
    fake.set_history_limits("The history is cut here.");
    let (view, mut cx) = open(&fake, cx);
    view.read_with(&cx, |view, _| {
        let limits = view.load.limits.as_deref();
        assert_eq!(limits, Some("The history is cut here."));
    });
    fake.fail_reads(HistoryError::Untrusted);
    cx.update(|_, cx| view.update(cx, |view, cx| view.refresh(100, cx)));
    settle(&mut cx);
    assert!(subjects(&view, &cx).is_empty());
    view.read_with(&cx, |view, _| {
        let error = view.load.error.as_ref().expect("an error");
        let sentence = "This needs git, which runs only in trusted folders.";
        assert_eq!(HistoryView::failure(error), sentence);
    });
}
