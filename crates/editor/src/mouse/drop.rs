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

impl Editor {
    /// Offers the dragged text to other views.
    pub(super) fn offer_dragged_text(&mut self, cx: &mut Context<Self>) {
        let this = cx.weak_entity();
        cx.default_global::<DraggedText>().0 = Some(this);
    }

    /// Shows or hides the drop position.
    pub(super) fn note_dragged_text(&mut self, is_over: bool, cx: &mut Context<Self>) {
        let is_shown = is_over && dragged_from(cx).is_some();
        if is_shown || self.shows_drop_place != is_shown {
            self.shows_drop_place = is_shown;
            cx.notify();
        }
    }

    /// Ends the drag after every view has received the release: another one may take the text until
    /// then.
    pub(super) fn end_drag_later(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let this = cx.weak_entity();
        window.defer(cx, move |_, cx| {
            // The view may have been closed.
            this.update(cx, |editor, cx| editor.end_drag(cx)).ok();
        });
    }

    /// Withdraws the offer of dragged text.
    pub(super) fn withdraw_dragged_text(&mut self, cx: &mut Context<Self>) {
        self.shows_drop_place = false;
        if dragged_from(cx).is_some_and(|from| from == cx.weak_entity()) {
            forget_dragged_text(cx);
        }
    }

    /// Inserts text dragged from another view and released over this one.
    pub(super) fn take_dragged_text(
        &mut self,
        event: &MouseUpEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(from) = dragged_from(cx).and_then(|from| from.upgrade()) else {
            return;
        };
        self.shows_drop_place = false;
        cx.notify();
        if from == cx.entity() || area_of(self.geometry.as_ref(), event.position) != HitArea::Text {
            return;
        }
        let Some(to) = self.offset_at(event.position, cx) else {
            return;
        };
        let copies = event.modifiers.secondary(cx) || event.modifiers.alt;
        let spans = from.update(cx, |from, cx| from.dragged_spans(cx));
        if spans.is_empty() {
            return;
        }
        window.focus(&self.focus.clone(), cx);
        if from.read(cx).model == self.model {
            self.move_text(&spans, to, copies, window, cx);
            return;
        }
        let text = from.read(cx).text_of(&spans);
        let edit = Edit::new(Span::at(to), text.clone());
        let selection = SelectionSet::single(Selection::new(to, to + text.len()));
        if self.edit(&[edit], selection, EditKind::Other, cx) && !copies {
            from.update(cx, |from, cx| from.delete_spans(&spans, cx));
        }
        self.tell_input_method(window);
    }

    fn dragged_spans(&mut self, cx: &mut Context<Self>) -> Vec<Span> {
        self.sync(cx);
        match &self.drag {
            Some(Drag::Move { spans, .. }) => spans.clone(),
            _ => Vec::new(),
        }
    }

    fn text_of(&self, spans: &[Span]) -> String {
        let texts = spans.iter().map(|span| self.snapshot.text(*span));
        texts.collect()
    }

    fn delete_spans(&mut self, spans: &[Span], cx: &mut Context<Self>) {
        // Text in a read-only view was copied.
        if self.model.read(cx).document().can_edit()
            && let Some(first) = spans.iter().map(|span| span.start).min()
        {
            let mut edits: Vec<Edit> = spans.iter().map(|span| Edit::new(*span, "")).collect();
            edits.sort_by_key(|edit| edit.span.start);
            let caret = SelectionSet::single(Selection::new(first, first));
            self.edit(&edits, caret, EditKind::Other, cx);
        }
    }

    /// Returns the drop position while the pointer is over this view.
    pub(crate) fn drop_place(&self) -> Option<ByteOffset> {
        let point = self
            .display_point_at(self.pointer)
            .filter(|_| self.shows_drop_place)?;
        Some(self.display.to_buffer(point, Bias::Left))
    }

    /// Moves or copies spans to an offset and selects them there.
    pub(super) fn move_text(
        &mut self,
        spans: &[Span],
        to: ByteOffset,
        copies: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if spans.iter().any(|span| span.start <= to && to <= span.end) {
            return;
        }
        let text = self.text_of(spans);
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
        self.edit(&edits, SelectionSet::single(selection), EditKind::Other, cx);
        self.tell_input_method(window);
    }
}
