//! Annotations of a view: requests those of its document for the rows around the visible ones.
//!
//! Invariant: no request is sent while the user types; it follows when the text rests.
//! Start at `ask`; the layout calls `note_visible`.

use std::sync::Arc;
use std::time::Duration;

use base::Span;
use gpui_kit::{Context, Task};
use lsp::{ColorValue, FoldingKind, ServerCommand};
use syntax::HighlightKind;
use text::Change;

use super::{Editor, colors, highlighting, inlay_hints, lenses};
use crate::model::{AnnotationKind, AnnotationValue, AnnotationsChanged, map_window};

/// Time after a scroll until the window moves.
const REST: Duration = Duration::from_millis(50);
/// Minimum number of rows in the window before and after the visible ones.
const MIN_MARGIN: u32 = 20;

/// The annotations that a view shows.
#[derive(Default)]
pub(crate) struct ShownAnnotations {
    /// The rows for which annotations were requested last, and the kinds; `None` before the first layout.
    asked: Option<(Span, WantedKinds)>,
    /// Waits until the window moves.
    rest: Option<Task<()>>,
}

/// The kinds of annotations that a view shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct WantedKinds {
    tokens: bool,
    colors: bool,
    lenses: bool,
    folds: bool,
}

impl ShownAnnotations {
    /// Moves the window with a change.
    pub(super) fn follow(&mut self, change: &Change) {
        if let Some((window, _)) = &mut self.asked {
            *window = map_window(change, *window);
        }
    }

    /// Forgets the window when the edits leading to the text are unknown.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}

impl WantedKinds {
    fn of(editor: &Editor) -> Self {
        if editor.excerpts.is_some() {
            return Self::default();
        }
        Self {
            tokens: editor.settings.semantic_highlighting,
            colors: editor.settings.document_colors,
            lenses: editor.settings.code_lens,
            folds: true,
        }
    }
}

/// Notes the rows of a layout: annotations are requested soon if the window does not contain them.
pub(crate) fn note_visible(editor: &mut Editor, cx: &Context<Editor>) {
    let kinds = WantedKinds::of(editor);
    let is_current = match editor.annotations.asked {
        Some((window, asked)) => {
            let rows = inlay_hints::rows_around(editor, 0);
            asked == kinds && rows.is_none_or(|rows| window.covers(rows))
        }
        None => kinds == WantedKinds::default(),
    };
    if !is_current && editor.annotations.rest.is_none() {
        editor.annotations.rest = Some(ask_soon(cx));
    }
}

fn ask_soon(cx: &Context<Editor>) -> Task<()> {
    cx.spawn(async move |this, cx| {
        cx.background_executor().timer(REST).await;
        // The view may have been closed.
        this.update(cx, ask).ok();
    })
}

/// Moves the window to the visible rows, and requests the annotations in it that are not known unless the text is
/// being edited.
pub(super) fn ask(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.sync(cx);
    editor.annotations.rest = None;
    let margin = editor.page_rows().max(MIN_MARGIN);
    let Some(window) = inlay_hints::rows_around(editor, margin) else {
        return;
    };
    let kinds = WantedKinds::of(editor);
    let before = editor.annotations.asked.replace((window, kinds));
    if before.is_some_and(|(_, before)| before.tokens != kinds.tokens) {
        highlighting::tokens_changed(editor, cx);
    }
    show(editor, cx);
    want(editor, cx);
}

/// Makes the inlays of the view those of the annotations in the window.
pub(super) fn show(editor: &mut Editor, cx: &mut Context<Editor>) {
    if editor.mouse.drag.is_some() {
        // Nothing may move under a pressed pointer.
        editor.annotations.rest = Some(ask_soon(cx));
        return;
    }
    let asked = editor.annotations.asked;
    let window = asked.filter(|(_, kinds)| kinds.colors);
    colors::show(editor, window.map(|(window, _)| window), cx);
    let window = asked.filter(|(_, kinds)| kinds.lenses);
    lenses::show(editor, window.map(|(window, _)| window), cx);
}

fn want(editor: &Editor, cx: &mut Context<Editor>) {
    let Some((window, kinds)) = editor.annotations.asked else {
        return;
    };
    if editor.model.read(cx).is_being_edited() {
        return;
    }
    let model = editor.model.clone();
    model.update(cx, |model, cx| {
        if kinds.tokens {
            model.want_annotations::<HighlightKind>(window, cx);
        }
        if kinds.colors {
            model.want_annotations::<ColorValue>(window, cx);
        }
        if kinds.lenses {
            model.want_annotations::<Arc<ServerCommand>>(window, cx);
        }
        if kinds.folds {
            // Commands fold the whole text.
            let text = model.snapshot().full_span();
            model.want_annotations::<Option<FoldingKind>>(text, cx);
        }
    });
}

/// Requests the annotations of a kind around the visible rows, unless they are known.
pub(super) fn want_now<T: AnnotationValue>(editor: &Editor, cx: &mut Context<Editor>) {
    let rows = inlay_hints::rows_around(editor, 0);
    if let Some(rows) = rows.filter(|_| editor.excerpts.is_none()) {
        let model = editor.model.clone();
        model.update(cx, |model, cx| model.want_annotations::<T>(rows, cx));
    }
}

/// Shows the annotations of a kind that the document has now, and requests those that are not known.
pub(super) fn changed(editor: &mut Editor, event: AnnotationsChanged, cx: &mut Context<Editor>) {
    editor.sync(cx);
    match event.kind {
        _ if !event.has_new_set => {}
        AnnotationKind::Tokens => highlighting::tokens_changed(editor, cx),
        AnnotationKind::Colors | AnnotationKind::Lenses => show(editor, cx),
        AnnotationKind::Folds => cx.notify(),
        AnnotationKind::Links => {}
    }
    want(editor, cx);
}
