//! Dragging text: within its view, or onto another one.
//!
//! Every view receives pointer moves. The source view offers the text; the view under the pointer
//! takes it on release. Releasing over no view leaves the text in place.
//! Invariant: text is deleted at its origin only after another view has inserted it.

use base::{Bias, ByteOffset, Span};
use gpui_kit::{App, Context, Global, MouseUpEvent, WeakEntity, Window};
use text::{Edit, EditKind, Selection, SelectionSet};

use super::{Drag, HitArea, area_of};
use crate::editor::Editor;

/// The view whose selected text is being dragged.
#[derive(Default)]
struct DraggedText(Option<WeakEntity<Editor>>);

impl Global for DraggedText {}

fn dragged_from(cx: &App) -> Option<WeakEntity<Editor>> {
    cx.try_global::<DraggedText>()?.0.clone()
}

/// Ends a stale drag on a new button press, even if the release went to another window.
pub(super) fn forget_dragged_text(cx: &mut App) {
    if cx.has_global::<DraggedText>() {
        cx.set_global(DraggedText(None));
    }
}

/// Offers the dragged text to other views.
pub(super) fn offer_dragged_text(cx: &mut Context<Editor>) {
    let this = cx.weak_entity();
    cx.default_global::<DraggedText>().0 = Some(this);
}

/// Shows or hides the drop position.
pub(super) fn note_dragged_text(editor: &mut Editor, is_over: bool, cx: &mut Context<Editor>) {
    let is_shown = is_over && dragged_from(cx).is_some();
    if is_shown || editor.mouse.shows_drop_place != is_shown {
        editor.mouse.shows_drop_place = is_shown;
        cx.notify();
    }
}

/// Ends the drag after every view has received the release: another one may take the text until
/// then.
pub(super) fn end_drag_later(window: &mut Window, cx: &mut Context<Editor>) {
    let this = cx.weak_entity();
    window.defer(cx, move |_, cx| {
        // The view may have been closed.
        this.update(cx, super::end_drag).ok();
    });
}

/// Withdraws the offer of dragged text.
pub(super) fn withdraw_dragged_text(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.mouse.shows_drop_place = false;
    if dragged_from(cx).is_some_and(|from| from == cx.weak_entity()) {
        forget_dragged_text(cx);
    }
}

/// Inserts text dragged from another view and released over this one.
pub(super) fn take_dragged_text(
    editor: &mut Editor,
    event: &MouseUpEvent,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    let Some(from) = dragged_from(cx).and_then(|from| from.upgrade()) else {
        return;
    };
    editor.mouse.shows_drop_place = false;
    cx.notify();
    if from == cx.entity() || area_of(editor.geometry.as_ref(), event.position) != HitArea::Text {
        return;
    }
    let Some(to) = editor.offset_at(event.position, cx) else {
        return;
    };
    let copies = event.modifiers.secondary(cx) || event.modifiers.alt;
    let spans = from.update(cx, dragged_spans);
    if spans.is_empty() {
        return;
    }
    window.focus(&editor.focus.clone(), cx);
    if from.read(cx).model == editor.model {
        move_text(editor, &spans, to, copies, window, cx);
        return;
    }
    let text = text_of(from.read(cx), &spans);
    let edit = Edit::new(Span::at(to), text.clone());
    let selection = SelectionSet::single(Selection::new(to, to + text.len()));
    if editor.edit(&[edit], selection, EditKind::Other, cx) && !copies {
        from.update(cx, |from, cx| delete_spans(from, &spans, cx));
    }
    editor.tell_input_method(window);
}

fn dragged_spans(editor: &mut Editor, cx: &mut Context<Editor>) -> Vec<Span> {
    editor.sync(cx);
    match &editor.mouse.drag {
        Some(Drag::Move { spans, .. }) => spans.clone(),
        _ => Vec::new(),
    }
}

fn text_of(editor: &Editor, spans: &[Span]) -> String {
    let texts = spans.iter().map(|span| editor.snapshot.text(*span));
    texts.collect()
}

fn delete_spans(editor: &mut Editor, spans: &[Span], cx: &mut Context<Editor>) {
    // Text in a read-only view was copied.
    if editor.model.read(cx).document().can_edit()
        && let Some(first) = spans.iter().map(|span| span.start).min()
    {
        let mut edits: Vec<Edit> = spans.iter().map(|span| Edit::new(*span, "")).collect();
        edits.sort_by_key(|edit| edit.span.start);
        let caret = SelectionSet::single(Selection::new(first, first));
        editor.edit(&edits, caret, EditKind::Other, cx);
    }
}

/// Returns the offset where dragged text would be dropped. Returns `None` while no text is dragged
/// over this view.
pub(crate) fn drop_place(editor: &Editor) -> Option<ByteOffset> {
    let point = editor
        .display_point_at(editor.mouse.position)
        .filter(|_| editor.mouse.shows_drop_place)?;
    Some(editor.display.to_buffer(point, Bias::Left))
}

/// Moves or copies spans to an offset and selects them there.
pub(super) fn move_text(
    editor: &mut Editor,
    spans: &[Span],
    to: ByteOffset,
    copies: bool,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    if spans.iter().any(|span| span.start <= to && to <= span.end) {
        return;
    }
    let text = text_of(editor, spans);
    let mut edits = vec![Edit::new(Span::at(to), text.clone())];
    let mut start = to;
    if !copies {
        edits.extend(spans.iter().map(|span| Edit::new(*span, "")));
        let before: usize = spans
            .iter()
            .filter(|span| span.end <= to)
            .map(Span::len)
            .sum();
        start = to - before;
    }
    edits.sort_by_key(|edit| edit.span.start);
    let selection = Selection::new(start, start + text.len());
    editor.edit(&edits, SelectionSet::single(selection), EditKind::Other, cx);
    editor.tell_input_method(window);
}
