//! Navigates between diagnostics.

use std::cmp::Reverse;

use gpui_kit::{Context, Window};
use lsp::DiagnosticSeverity;

use super::{Editor, Reveal, hover};
use crate::model::PlacedDiagnostic;

/// Handler of an action: moves to the next diagnostic, wrapping around, and shows it.
pub(crate) fn next_diagnostic(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let head = editor.selections.primary().head;
    let all = problems(editor, cx);
    // The diagnostic that begins at the caret is the present one.
    let next = all.min_by_key(|it| (it.span.start <= head, it.span.start));
    go_to_diagnostic(editor, next, window, cx);
}

/// Handler of an action: moves to the previous diagnostic, wrapping around, and shows it.
pub(crate) fn previous_diagnostic(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    let head = editor.selections.primary().head;
    let all = problems(editor, cx);
    let previous = all.min_by_key(|it| (it.span.start >= head, Reverse(it.span.start)));
    go_to_diagnostic(editor, previous, window, cx);
}

/// Returns the diagnostics for keyboard navigation: all except hints, which explain other diagnostics.
fn problems<'a>(
    editor: &'a Editor,
    cx: &'a Context<Editor>,
) -> impl Iterator<Item = PlacedDiagnostic> + 'a {
    let all = editor.model.read(cx).diagnostics();
    all.filter(|it| it.diagnostic.severity != DiagnosticSeverity::Hint)
}

fn go_to_diagnostic(
    editor: &mut Editor,
    placed: Option<PlacedDiagnostic>,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    if let Some(placed) = placed {
        editor.go_to(placed.span.start, Reveal::Nearest, cx);
        hover::show_diagnostics(editor, placed.span.start, window, cx);
    }
}
