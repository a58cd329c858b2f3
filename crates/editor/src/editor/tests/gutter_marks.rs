//! Tests marks in the gutter, and failures of tests beside diagnostics.

use std::cell::RefCell;
use std::rc::Rc;

use base::Span;
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{Entity, TestAppContext, VisualTestContext};
use lsp::DiagnosticSeverity;

use super::diagnostics::diagnostic;
use super::suggesting::open_with_keys;
use crate::{DiagnosticOrigin, DiagnosticSet, Editor, EditorEvent, GutterIcon, GutterMark};

fn mark(editor: &Entity<Editor>, spans: &[(usize, usize)], cx: &mut VisualTestContext) {
    let marks = spans.iter().enumerate().map(|(key, (start, end))| {
        let mark = GutterMark {
            icon: GutterIcon::Run,
            label: format!("Run test {key}").into(),
            key,
        };
        (Span::from(*start..*end), mark)
    });
    let marks = marks.collect();
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    model.update(cx, |model, cx| {
        let revision = model.snapshot().revision();
        model.set_gutter_marks(revision, marks, cx);
    });
    cx.run_until_parked();
}

/// Returns the rows with marks, by the text.
fn marked_rows(editor: &Entity<Editor>, cx: &VisualTestContext) -> Vec<u32> {
    editor.read_with(cx, |editor, cx| {
        let model = editor.model().read(cx);
        let snapshot = model.snapshot();
        let marks = model.gutter_marks_in(snapshot.full_span()).into_iter();
        marks
            .map(|(span, _)| snapshot.point_at(span.start).row.0)
            .collect()
    })
}

#[gpui_kit::test]
fn marks_follow_edits_and_report_clicks(cx: &mut TestAppContext) {
    let (editor, _suggestions, _subscription, cx) =
        open_with_keys("/a.txt", "ˇone\ntwo\nthree", cx);
    let heard = Rc::new(RefCell::new(Vec::new()));
    let received = heard.clone();
    let _events = cx.update(|_, cx| {
        cx.subscribe(&editor, move |_, event: &EditorEvent, _| {
            received.borrow_mut().push(event.clone());
        })
    });
    mark(&editor, &[(0, 3), (8, 13)], cx);
    assert_eq!(marked_rows(&editor, cx), [0, 2]);
    cx.update(|window, cx| window.click(("gutter-mark", 1_usize), cx));
    let clicks = heard.take().into_iter();
    let clicks = clicks.filter(|it| matches!(it, EditorEvent::GutterMarkClicked(_)));
    assert_eq!(
        clicks.collect::<Vec<_>>(),
        [EditorEvent::GutterMarkClicked(1)]
    );
    cx.simulate_keystrokes("enter");
    assert_eq!(marked_rows(&editor, cx), [1, 3]);
    mark(&editor, &[], cx);
    assert!(marked_rows(&editor, cx).is_empty());
    let is_drawn = cx.update(|window, _| window.try_find(("gutter-mark", 0_usize)).is_some());
    assert!(!is_drawn);
}

#[gpui_kit::test]
fn failures_of_tests_are_sorted_among_diagnostics(cx: &mut TestAppContext) {
    let (editor, _heard, _subscription, cx) = open_with_keys("/a.txt", "ˇone two three", cx);
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    let set = |spans: &[(usize, usize)]| {
        let items = spans.iter().map(|(start, end)| {
            let span = Span::from(*start..*end);
            diagnostic(span, DiagnosticSeverity::Error, &format!("at {start}"))
        });
        DiagnosticSet::new(items.collect())
    };
    let (own, failures) = (set(&[(0, 3), (8, 13)]), set(&[(4, 7)]));
    model.update(cx, |model, cx| {
        let revision = model.snapshot().revision();
        model.set_diagnostics(DiagnosticOrigin::Servers, revision, own, cx);
        model.set_diagnostics(DiagnosticOrigin::Tests, revision, failures, cx);
        let starts: Vec<usize> = model.diagnostics().map(|it| it.span.start.0).collect();
        assert_eq!(starts, [0, 4, 8]);
        let found = model.diagnostics_in(Span::from(3..9));
        assert_eq!(found.len(), 3);
        assert_eq!(model.diagnostic_counts().errors, 3);
        // A report of the servers keeps the failures.
        model.set_diagnostics(
            DiagnosticOrigin::Servers,
            revision,
            DiagnosticSet::default(),
            cx,
        );
        assert_eq!(model.diagnostics().count(), 1);
        model.set_diagnostics(
            DiagnosticOrigin::Tests,
            revision,
            DiagnosticSet::default(),
            cx,
        );
        assert_eq!(model.diagnostics().count(), 0);
    });
}
