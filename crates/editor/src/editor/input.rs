//! Text input from the keyboard and from input methods, and their queries about the text around the
//! caret.
//!
//! Offsets are UTF-16 code units from the start of the text, as in the platform APIs.
//! Invariant: composed text is part of the buffer, once per caret, and `marked` holds its spans.

use std::ops::Range;

use base::{Bias, ByteOffset, Span};
use caret::Command;
use gpui_kit::{Bounds, Context, EntityInputHandler, Pixels, Point, UTF16Selection, Window, size};
use text::{Edit, EditKind, Selection, SelectionSet};

use super::{Editor, vim_mode};
use crate::scroll::ScrollMargin;

/// Maximum text returned to an input method at once, in bytes.
const MAX_INPUT_BYTES: usize = 64 * 1024;

fn span_of_units(editor: &Editor, units: &Range<usize>) -> Span {
    let at = |unit: usize| editor.snapshot.offset_at_utf16(unit);
    Span::new(at(units.start), at(units.end))
}

/// Converts a span of bytes to UTF-16 code units.
fn units_of_span(editor: &Editor, span: Span) -> Range<usize> {
    editor.snapshot.utf16_at(span.start)..editor.snapshot.utf16_at(span.end)
}

/// Returns the spans that composed text replaces: its previous spans, or the selections.
fn spans_to_compose(editor: &Editor, units: Option<Range<usize>>) -> Vec<Span> {
    let asked = units.map(|units| span_of_units(editor, &units));
    match asked {
        // A part of the composition at the newest caret corresponds to the same part at every
        // other.
        Some(span) if editor.marked.len() > 1 => {
            let newest = marked_at_newest(editor).unwrap_or(span);
            let (from, to) = (
                span.start - newest.start,
                newest.end - span.end.min(newest.end),
            );
            let part = |marked: &Span| Span::new(marked.start + from, marked.end - to);
            editor.marked.iter().map(part).collect()
        }
        Some(span) => vec![span],
        None if !editor.marked.is_empty() => editor.marked.clone(),
        None => editor.selections.iter().map(Selection::span).collect(),
    }
}

/// Suppresses suggestions and the completion list during composition.
fn composing_changed(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.close_completions(cx);
    editor.suggestion.invalidate();
    editor.refresh_suggestion(cx);
}

/// Returns the composed text at the newest caret, or the first composed text if that caret is
/// outside of all. Returns `None` if nothing is being composed.
fn marked_at_newest(editor: &Editor) -> Option<Span> {
    let head = editor.selections.primary().head;
    let holds = |span: &&Span| span.start <= head && head <= span.end;
    editor
        .marked
        .iter()
        .find(holds)
        .or(editor.marked.first())
        .copied()
}

/// Replaces each span by `text` and selects the bytes `caret` of each copy. Returns the new spans,
/// or `None` if the document is read-only.
fn replace_each(
    editor: &mut Editor,
    spans: &[Span],
    text: &str,
    caret: Range<usize>,
    cx: &mut Context<Editor>,
) -> Option<Vec<Span>> {
    let edits: Vec<Edit> = spans.iter().map(|span| Edit::new(*span, text)).collect();
    let mut shift = 0isize;
    let mut placed = Vec::with_capacity(spans.len());
    for span in spans {
        let start = ByteOffset(span.start.0.saturating_add_signed(shift));
        placed.push(Span::new(start, start + text.len()));
        shift += text.len() as isize - span.len() as isize;
    }
    let newest = editor
        .selections
        .primary_ix()
        .min(spans.len().saturating_sub(1));
    let carets = placed
        .iter()
        .map(|span| Selection::new(span.start + caret.start, span.start + caret.end));
    let selections = SelectionSet::new(carets.collect(), newest);
    editor
        .edit(&edits, selections, EditKind::Typing, cx)
        .then_some(placed)
}

impl EntityInputHandler for Editor {
    fn text_for_range(
        &mut self,
        units: Range<usize>,
        actual: &mut Option<Range<usize>>,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) -> Option<String> {
        self.sync(cx);
        let mut span = span_of_units(self, &units);
        if span.len() > MAX_INPUT_BYTES {
            span.end = self.snapshot.clip(span.start + MAX_INPUT_BYTES, Bias::Left);
        }
        *actual = Some(units_of_span(self, span));
        Some(self.snapshot.text(span).into_owned())
    }

    fn selected_text_range(
        &mut self,
        _: bool,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) -> Option<UTF16Selection> {
        self.sync(cx);
        let newest = *self.selections.primary();
        Some(UTF16Selection {
            range: units_of_span(self, newest.span()),
            reversed: newest.is_reversed(),
        })
    }

    fn set_selected_text_range(
        &mut self,
        units: Range<usize>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.sync(cx);
        let span = span_of_units(self, &units);
        self.set_selections(
            SelectionSet::single(Selection::new(span.start, span.end)),
            cx,
        );
        self.follow = Some(ScrollMargin::Fit);
        window.notify_text_selection_changed(&self.focus);
    }

    fn text_length_utf16(&mut self, _: &mut Window, cx: &mut Context<Self>) -> Option<usize> {
        self.sync(cx);
        Some(self.snapshot.utf16_at(self.snapshot.len()))
    }

    fn marked_text_range(&self, _: &mut Window, _: &mut Context<Self>) -> Option<Range<usize>> {
        Some(units_of_span(self, marked_at_newest(self)?))
    }

    fn unmark_text(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if !self.marked.is_empty() {
            self.marked.clear();
            composing_changed(self, cx);
            self.tell_input_method(window);
            cx.notify();
        }
    }

    fn replace_text_in_range(
        &mut self,
        units: Option<Range<usize>>,
        text: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.sync(cx);
        if vim_mode::commit(self, text, units.is_some(), window, cx) {
            return;
        }
        if units.is_none() && self.marked.is_empty() {
            self.run(&Command::Insert(text.to_owned()), window, cx);
            return;
        }
        let spans = spans_to_compose(self, units);
        self.marked.clear();
        replace_each(self, &spans, text, text.len()..text.len(), cx);
        composing_changed(self, cx);
        self.follow = Some(ScrollMargin::Fit);
        self.tell_input_method(window);
        cx.notify();
    }

    fn replace_and_mark_text_in_range(
        &mut self,
        units: Option<Range<usize>>,
        text: &str,
        selected: Option<Range<usize>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.sync(cx);
        if vim_mode::compose(self, text, cx) {
            return;
        }
        let spans = spans_to_compose(self, units);
        let bytes = |unit: usize| byte_at_unit(text, unit);
        let caret = selected.map_or(text.len()..text.len(), |units| {
            bytes(units.start)..bytes(units.end)
        });
        self.marked.clear();
        if let Some(placed) = replace_each(self, &spans, text, caret, cx)
            && !text.is_empty()
        {
            self.marked = placed;
        }
        composing_changed(self, cx);
        self.follow = Some(ScrollMargin::Fit);
        self.tell_input_method(window);
        cx.notify();
    }

    fn bounds_for_range(
        &mut self,
        units: Range<usize>,
        _: Bounds<Pixels>,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) -> Option<Bounds<Pixels>> {
        self.sync(cx);
        let span = span_of_units(self, &units);
        let geometry = self.geometry.as_ref()?;
        let start = self.display.to_display(span.start, Bias::Left);
        let end = self.display.to_display(span.end, Bias::Left);
        let left = geometry.x_of(start.cell);
        let right = if end.row == start.row {
            geometry.x_of(end.cell)
        } else {
            geometry.text.right()
        };
        let y = geometry.y_of(self.display.y_of(start.row));
        Some(Bounds::new(
            gpui_kit::point(left, y),
            size(right - left, geometry.line_height),
        ))
    }

    fn character_index_for_point(
        &mut self,
        point: Point<Pixels>,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) -> Option<usize> {
        let offset = self.offset_at(point, cx)?;
        Some(self.snapshot.utf16_at(offset))
    }

    fn accepts_text_input(&self, _: &mut Window, cx: &mut Context<Self>) -> bool {
        vim_mode::accepts_text(self).unwrap_or_else(|| self.model.read(cx).document().can_edit())
    }
}

/// Converts an offset in UTF-16 code units into a byte offset.
fn byte_at_unit(text: &str, unit: usize) -> usize {
    let mut units = 0;
    for (byte, char) in text.char_indices() {
        if units >= unit {
            return byte;
        }
        units += char.len_utf16();
    }
    text.len()
}
