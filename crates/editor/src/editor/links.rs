//! The link under the pointer while the link key is held.
//!
//! Links are requested when the key is held, so that a text without a use for them costs nothing.
//! Start at `pointer_moved`.

use std::sync::Arc;

use base::{ByteOffset, Span};
use gpui_kit::{App, Context, Modifiers};
use lsp::DocumentLink;
use settings::MultiCursorModifier;
use text::Change;

use super::{Editor, annotations, hover};
use crate::model::{AnnotationKind, AnnotationsChanged};

/// The link that a click would open.
#[derive(Default)]
pub(crate) struct HoveredLink {
    /// Whether the link key is held while the pointer is over the view.
    is_held: bool,
    is_over: bool,
    span: Option<Span>,
}

impl HoveredLink {
    /// Returns the part of the text to underline.
    pub(crate) fn span(&self) -> Option<Span> {
        self.span
    }

    /// Moves the link with a change.
    pub(super) fn follow(&mut self, change: &Change) {
        self.span = self.span.map(|span| change.map_span(span));
    }
}

/// Returns whether a click with these modifier keys follows a link. The link key is the one of Ctrl (on macOS Cmd) and
/// Alt that doesn't add a caret.
pub(crate) fn follows_links(editor: &Editor, modifiers: &Modifiers, cx: &App) -> bool {
    let (secondary, alt) = (modifiers.secondary(cx), modifiers.alt);
    let is_held = match editor.settings.multi_cursor_modifier {
        MultiCursorModifier::Alt => secondary && !alt,
        MultiCursorModifier::Secondary => alt && !secondary,
    };
    is_held && !modifiers.shift
}

/// Underlines the link under the pointer after a move. `is_over` is whether the pointer is over the view.
pub(crate) fn pointer_moved(
    editor: &mut Editor,
    is_over: bool,
    modifiers: &Modifiers,
    cx: &mut Context<Editor>,
) {
    editor.link.is_over = is_over;
    modifiers_changed(editor, modifiers, cx);
}

/// Underlines the link under the pointer, or no link any more.
pub(crate) fn modifiers_changed(
    editor: &mut Editor,
    modifiers: &Modifiers,
    cx: &mut Context<Editor>,
) {
    let is_held =
        editor.link.is_over && editor.mouse.drag.is_none() && follows_links(editor, modifiers, cx);
    if !is_held && !editor.link.is_held {
        return;
    }
    editor.link.is_held = is_held;
    update(editor, cx);
}

/// Ends the underline: the view or its window lost the focus, so that it may miss the release of the key.
pub(super) fn end(editor: &mut Editor, cx: &mut Context<Editor>) {
    if std::mem::take(&mut editor.link.is_held) {
        update(editor, cx);
    }
}

/// Finds the link under the pointer, and requests the links if they are not known.
fn update(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let mut span = None;
    if editor.link.is_held {
        annotations::want_now::<Arc<DocumentLink>>(editor, cx);
        let at = hover::offset_under_pointer(editor);
        span = at
            .and_then(|at| link_at(editor, at, cx))
            .map(|(span, _)| span);
    }
    if editor.link.span != span {
        editor.link.span = span;
        cx.notify();
    }
}

/// Finds the link under the pointer again if the links are others.
pub(super) fn annotations_changed(
    editor: &mut Editor,
    event: AnnotationsChanged,
    cx: &mut Context<Editor>,
) {
    if event.kind == AnnotationKind::Links {
        update(editor, cx);
    }
}

/// Returns the innermost link at a character.
pub(crate) fn link_at(
    editor: &Editor,
    at: ByteOffset,
    cx: &App,
) -> Option<(Span, Arc<DocumentLink>)> {
    let links = editor
        .model
        .read(cx)
        .annotations_in::<Arc<DocumentLink>>(Span::at(at));
    let mut links: Vec<_> = links
        .into_iter()
        .filter(|(span, _)| span.start <= at && at < span.end)
        .collect();
    links.sort_by_key(|(span, _)| span.len());
    links.into_iter().next()
}
