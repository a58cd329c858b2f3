//! Tests diagnostics in a view with the default keys: where they are after edits, keys that go to them, and the card.

use base::Span;
use gpui_kit::{Entity, TestAppContext, VisualTestContext};
use lsp::{Diagnostic, DiagnosticSeverity, DiagnosticTags};

use super::super::hover::shown_messages;
use super::state;
use super::suggesting::open_with_keys;
use crate::{DiagnosticCounts, DiagnosticOrigin, DiagnosticSet, Editor};

/// Returns a diagnostic about the bytes `span`.
pub(super) fn diagnostic(span: Span, severity: DiagnosticSeverity, message: &str) -> Diagnostic {
    Diagnostic {
        span,
        severity,
        message: message.to_owned(),
        code: None,
        code_url: None,
        source: None,
        tags: DiagnosticTags::default(),
        related: Vec::new(),
    }
}

/// Sets diagnostics about the present text.
fn report(
    items: &[(usize, usize, DiagnosticSeverity)],
    editor: &Entity<Editor>,
    cx: &mut VisualTestContext,
) {
    let items = items.iter().map(|(start, end, severity)| {
        diagnostic(Span::from(*start..*end), *severity, &format!("at {start}"))
    });
    let items = DiagnosticSet::new(items.collect());
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    model.update(cx, |model, cx| {
        let revision = model.snapshot().revision();
        model.set_diagnostics(DiagnosticOrigin::Servers, revision, items, cx);
    });
}

fn spans(editor: &Entity<Editor>, cx: &VisualTestContext) -> Vec<(usize, usize)> {
    editor.read_with(cx, |editor, cx| {
        let placed = editor.model().read(cx).diagnostics();
        placed.map(|it| (it.span.start.0, it.span.end.0)).collect()
    })
}

fn shown(editor: &Entity<Editor>, cx: &VisualTestContext) -> Vec<String> {
    editor.read_with(cx, |editor, _| shown_messages(editor))
}

const ERROR: DiagnosticSeverity = DiagnosticSeverity::Error;
const WARNING: DiagnosticSeverity = DiagnosticSeverity::Warning;

#[gpui_kit::test]
fn spans_follow_edits_and_late_reports_are_carried_over_them(cx: &mut TestAppContext) {
    let (editor, _heard, _subscription, cx) = open_with_keys("/a.rs", "ˇlet a = b;\n", cx);
    report(&[(8, 9, ERROR)], &editor, cx);
    let before = editor.read_with(cx, |editor, cx| {
        editor.model().read(cx).snapshot().revision()
    });
    cx.simulate_input("xy");
    assert_eq!(spans(&editor, cx), [(10, 11)]);
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    model.update(cx, |model, cx| {
        let late = vec![
            diagnostic(Span::from(4..5), WARNING, "unused"),
            diagnostic(Span::from(8..9), ERROR, "unknown"),
        ];
        model.set_diagnostics(
            DiagnosticOrigin::Servers,
            before,
            DiagnosticSet::new(late),
            cx,
        );
        let counts = DiagnosticCounts {
            errors: 1,
            warnings: 1,
        };
        assert_eq!(model.diagnostic_counts(), counts);
    });
    assert_eq!(spans(&editor, cx), [(6, 7), (10, 11)]);
}

#[gpui_kit::test]
fn diagnostics_of_tasks_are_beside_those_of_servers(cx: &mut TestAppContext) {
    let (editor, _heard, _subscription, cx) = open_with_keys("/a.rs", "ˇa b c d\n", cx);
    report(&[(0, 1, ERROR), (4, 5, ERROR)], &editor, cx);
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    let find = |items: Vec<Diagnostic>, cx: &mut VisualTestContext| {
        model.update(cx, |model, cx| {
            let revision = model.snapshot().revision();
            model.set_diagnostics(
                DiagnosticOrigin::Tasks,
                revision,
                DiagnosticSet::new(items),
                cx,
            );
        });
    };
    let found = [2..3, 6..7].map(|span| diagnostic(Span::from(span), WARNING, "of a task"));
    find(found.to_vec(), cx);
    assert_eq!(spans(&editor, cx), [(0, 1), (2, 3), (4, 5), (6, 7)]);
    let touching = editor.read_with(cx, |editor, cx| {
        let model = editor.model().read(cx);
        let counts = model.diagnostic_counts();
        assert_eq!((counts.errors, counts.warnings), (2, 2));
        model.diagnostics_in(Span::from(2..5)).len()
    });
    assert_eq!(touching, 2);
    // Neither replaces the other, and both follow edits.
    report(&[(4, 5, ERROR)], &editor, cx);
    cx.simulate_input("x");
    assert_eq!(spans(&editor, cx), [(3, 4), (5, 6), (7, 8)]);
    find(Vec::new(), cx);
    assert_eq!(spans(&editor, cx), [(5, 6)]);
}

#[gpui_kit::test]
fn keys_go_around_the_diagnostics_and_show_them(cx: &mut TestAppContext) {
    let (editor, _heard, _subscription, cx) = open_with_keys("/a.rs", "aˇ b c\n", cx);
    let hint = DiagnosticSeverity::Hint;
    report(
        &[(0, 1, WARNING), (2, 3, ERROR), (3, 4, hint), (4, 5, ERROR)],
        &editor,
        cx,
    );
    for (key, text, message) in [
        ("alt-f8", "a ˇb c\n", "at 2"),
        ("alt-f8", "a b ˇc\n", "at 4"),
        ("alt-f8", "ˇa b c\n", "at 0"),
        ("shift-alt-f8", "a b ˇc\n", "at 4"),
        ("shift-alt-f8", "a ˇb c\n", "at 2"),
    ] {
        cx.simulate_keystrokes(key);
        assert_eq!(state(&editor, cx), text, "{key}");
        assert_eq!(shown(&editor, cx), [message], "{key}");
    }
    cx.simulate_keystrokes("escape");
    assert_eq!(shown(&editor, cx), Vec::<String>::new());
    assert_eq!(state(&editor, cx), "a ˇb c\n");
}

#[gpui_kit::test]
fn the_card_closes_with_every_edit_and_motion(cx: &mut TestAppContext) {
    let (editor, _heard, _subscription, cx) = open_with_keys("/a.rs", "ˇab\n", cx);
    report(&[(0, 2, ERROR), (0, 1, WARNING)], &editor, cx);
    for key in ["right", "x", "delete"] {
        cx.simulate_keystrokes("home ctrl-k ctrl-i");
        assert_eq!(shown(&editor, cx), ["at 0", "at 0"], "{key}");
        cx.simulate_keystrokes(key);
        assert_eq!(shown(&editor, cx), Vec::<String>::new(), "{key}");
        report(&[(0, 2, ERROR), (0, 1, WARNING)], &editor, cx);
    }
}

#[gpui_kit::test]
fn without_diagnostics_keys_move_nothing(cx: &mut TestAppContext) {
    let (editor, _heard, _subscription, cx) = open_with_keys("/a.rs", "aˇb\n", cx);
    cx.simulate_keystrokes("alt-f8 shift-alt-f8 ctrl-k ctrl-i");
    assert_eq!(state(&editor, cx), "aˇb\n");
    assert_eq!(shown(&editor, cx), Vec::<String>::new());
}

#[gpui_kit::test]
fn the_card_closes_when_something_else_gets_the_focus(cx: &mut TestAppContext) {
    let (editor, _heard, _subscription, cx) = open_with_keys("/a.rs", "ˇab\n", cx);
    cx.update(|window, _| window.activate_window());
    report(&[(0, 2, ERROR)], &editor, cx);
    cx.simulate_keystrokes("ctrl-k ctrl-i");
    assert_eq!(shown(&editor, cx), ["at 0"]);
    cx.update(|window, cx| {
        let other = cx.focus_handle();
        other.focus(window, cx);
    });
    cx.run_until_parked();
    assert_eq!(shown(&editor, cx), Vec::<String>::new());
}

#[gpui_kit::test]
fn problems_of_tasks_hide_while_servers_report_them(cx: &mut TestAppContext) {
    let (editor, _heard, _subscription, cx) = open_with_keys("/a.rs", "ˇa b\nc d\n", cx);
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    let set = |origin, items: Vec<Diagnostic>, cx: &mut VisualTestContext| {
        model.update(cx, |model, cx| {
            let revision = model.snapshot().revision();
            model.set_diagnostics(origin, revision, DiagnosticSet::new(items), cx);
        });
    };
    let found = || {
        vec![
            diagnostic(Span::from(0..1), ERROR, "not  found [E0425]"),
            diagnostic(Span::from(2..3), ERROR, "another"),
            diagnostic(Span::from(6..7), ERROR, "not found"),
        ]
    };
    let errors = |cx: &mut VisualTestContext| {
        let counts = model.read_with(cx, |model, _| model.diagnostic_counts());
        counts.errors
    };
    let reported = |start: usize| {
        let span = Span::from(start..start + 3);
        vec![diagnostic(span, ERROR, "not found\nin this scope")]
    };
    set(DiagnosticOrigin::Tasks, found(), cx);
    set(DiagnosticOrigin::Servers, reported(0), cx);
    assert_eq!(spans(&editor, cx), [(0, 3), (2, 3), (6, 7)]);
    assert_eq!(errors(cx), 3);
    // Hidden ones follow edits as well, and return without the report.
    cx.simulate_input("xy");
    set(DiagnosticOrigin::Servers, Vec::new(), cx);
    assert_eq!(spans(&editor, cx), [(2, 3), (4, 5), (8, 9)]);
    let hint = diagnostic(Span::from(2..3), DiagnosticSeverity::Hint, "not found");
    set(DiagnosticOrigin::Servers, vec![hint], cx);
    assert_eq!(errors(cx), 3);
    // A new run of the task replaces hidden ones.
    set(DiagnosticOrigin::Servers, reported(2), cx);
    set(DiagnosticOrigin::Tasks, Vec::new(), cx);
    assert_eq!(errors(cx), 1);
    set(DiagnosticOrigin::Servers, Vec::new(), cx);
    assert_eq!(errors(cx), 0);
}
