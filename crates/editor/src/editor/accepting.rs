//! Accepting a suggestion or its first part, and jumping to its start.
//!
//! Invariant: accepting changes only what was shown, and only if the replaced text is unchanged.
//! Start at `Editor::accept`.

use autocomplete::AcceptGranularity;
use base::{ByteOffset, Row, Span};
use gpui_kit::{Context, Window};
use text::EditKind;

use super::suggesting::SuggestionEvent;
use super::{Editor, EditorEvent, Reveal};
use crate::suggestion::{CaretPlace, Presentation, accepted_edits, extra_carets, tab_takes};

/// Maximum number of carets examined to decide whether Tab accepts; with more, Tab indents.
const MAX_CARETS: usize = 16;

impl Editor {
    /// Accepts a part of the shown suggestion. If it is elsewhere, the first call jumps to it and
    /// shows it; the next one accepts. Returns `false` if nothing is shown or it no longer applies.
    pub fn accept(
        &mut self,
        part: AcceptGranularity,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        self.sync(cx);
        self.refresh_suggestion(cx);
        let (Some(suggestion), Some(shown)) =
            (self.suggestion(), self.suggestion.shown_presentation())
        else {
            return false;
        };
        // During a drag, the visible suggestion may already be dropped.
        if self.mouse.drag.is_some() {
            return false;
        }
        let id = suggestion.id;
        match shown {
            Presentation::Portal => {
                cx.emit(EditorEvent::Suggestion(SuggestionEvent::Entered(id)));
                true
            }
            Presentation::Jump(jump) => {
                let to = jump.to;
                jump_to_suggestion(self, to, window, cx);
                true
            }
            Presentation::InText(_) => take_shown(self, part, window, cx),
        }
    }

    /// Returns whether Tab accepts the suggestion instead of indenting; see `suggestion::tab_key`.
    pub fn tab_takes_suggestion(&self, cx: &Context<Self>) -> bool {
        let is_shown =
            self.shows_suggestion() && self.mouse.drag.is_none() && !self.is_in_snippet();
        let shown = self.suggestion.shown_presentation().filter(|_| is_shown);
        let Some(shown) = shown else {
            return false;
        };
        let is_mere = self.selections.iter().all(|selection| selection.is_empty());
        if !is_mere || self.selections.len() > MAX_CARETS {
            return false;
        }
        let head = self.selections.primary().head;
        let has_jumped = self.suggestion.has_jumped_to(head);
        let at_caret = match shown {
            Presentation::InText(shown) => shown.at_caret.as_deref(),
            Presentation::Jump(_) | Presentation::Portal => None,
        };
        let others = self
            .selections
            .iter()
            .map(|selection| selection.head)
            .filter(|other| *other != head);
        let places: Vec<CaretPlace> = std::iter::once(head)
            .chain(others)
            .map(|caret| caret_place(self, caret, cx))
            .collect();
        tab_takes(at_caret, has_jumped, &places)
    }
}

/// Moves the caret to the start of the suggestion.
fn jump_to_suggestion(
    editor: &mut Editor,
    to: ByteOffset,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    let Some(suggestion) = checked_suggestion(editor, cx) else {
        return;
    };
    let id = suggestion.id;
    editor.go_to(to, Reveal::Center, cx);
    editor.suggestion.jumped = Some((id, to));
    editor.suggestion.invalidate();
    editor.refresh_suggestion(cx);
    editor.tell_input_method(window);
    cx.emit(EditorEvent::Suggestion(SuggestionEvent::Jumped(id)));
}

/// Returns the suggestion if it still applies; otherwise drops it.
fn checked_suggestion(
    editor: &mut Editor,
    cx: &mut Context<Editor>,
) -> Option<autocomplete::Suggestion> {
    let suggestion = editor.suggestion().cloned()?;
    if suggestion.revision == editor.snapshot.revision() && suggestion.applies_to(&editor.snapshot)
    {
        return Some(suggestion);
    }
    editor.set_suggestion(None, cx);
    None
}

/// Applies the suggestion, or the `part` of it, at every caret. Returns `false` and changes no text
/// if the document is read-only or no suggestion applies any more; an outdated one is dropped.
fn take_shown(
    editor: &mut Editor,
    part: AcceptGranularity,
    window: &mut Window,
    cx: &mut Context<Editor>,
) -> bool {
    let Some(suggestion) = checked_suggestion(editor, cx) else {
        return false;
    };
    let before = editor.snapshot.revision();
    let extra_carets = match editor.suggestion.in_text() {
        Some(shown) if shown.is_ghost => {
            extra_carets(&suggestion, &editor.snapshot, &editor.selections)
        }
        _ => Vec::new(),
    };
    let (edits, selections) = accepted_edits(
        suggestion.accept_edits(part),
        &extra_carets,
        &editor.selections,
    );
    if !editor.edit(&edits, selections, EditKind::Other, cx) {
        return false;
    }
    editor.suggestion.last_taken = Some((editor.snapshot.revision(), part));
    editor.unfold_at_carets(cx);
    editor.follow = Some(crate::scroll::ScrollMargin::Fit);
    editor.tell_input_method(window);
    let change = editor
        .model
        .read(cx)
        .document()
        .buffer()
        .changes_since(before);
    if let Some(change) = change {
        let id = suggestion.id;
        cx.emit(EditorEvent::Suggestion(SuggestionEvent::Taken {
            id,
            part,
            change,
        }));
    }
    cx.notify();
    true
}

fn caret_place(editor: &Editor, caret: ByteOffset, cx: &Context<Editor>) -> CaretPlace {
    let row = editor.snapshot.point_at(caret).row;
    let start = editor.snapshot.row_start(row);
    let blanks = leading_blanks(editor, row);
    if caret - start > blanks {
        return CaretPlace::InText;
    }
    CaretPlace::InIndent {
        cells: cells_before(editor, start, blanks),
        asked: asked_indent(editor, row, cx),
    }
}

/// Counts the leading blanks of a row, up to a limit that no real indentation reaches.
fn leading_blanks(editor: &Editor, row: Row) -> usize {
    const MAX_BLANK_BYTES: usize = 2_000;
    let chars = editor
        .snapshot
        .chars_at(editor.snapshot.row_start(row))
        .take(MAX_BLANK_BYTES);
    chars.take_while(|char| matches!(char, ' ' | '\t')).count()
}

/// Returns the cells that `blanks` fill at the start of a row.
fn cells_before(editor: &Editor, start: ByteOffset, blanks: usize) -> u32 {
    let width = editor.caret_options.tab_width.max(1);
    let text = editor.snapshot.text(Span::new(start, start + blanks));
    text.chars().fold(0, |cells, char| match char {
        '\t' => (cells / width + 1) * width,
        _ => cells + 1,
    })
}

/// Returns the expected indentation of a row, in cells: from its syntax, or that of the last
/// non-blank row above.
fn asked_indent(editor: &Editor, row: Row, cx: &Context<Editor>) -> u32 {
    /// Rows searched upwards for a non-blank one.
    const MAX_ROWS: u32 = 100;
    if row.0 == 0 {
        return 0;
    }
    let indent_of = |row: Row| {
        cells_before(
            editor,
            editor.snapshot.row_start(row),
            leading_blanks(editor, row),
        )
    };
    let syntax = editor
        .model
        .read(cx)
        .syntax()
        .filter(|syntax| syntax.has_tree());
    if let Some(syntax) = syntax.filter(|_| editor.caret_options.smart_indent) {
        let hint = syntax.indent_for_new_line(&editor.snapshot, editor.snapshot.row_end(row - 1));
        let levels = i64::from(hint.levels) * i64::from(editor.caret_options.tab_width.max(1));
        let cells = i64::from(indent_of(hint.base)) + levels + i64::from(hint.columns);
        return u32::try_from(cells.max(0)).unwrap_or(u32::MAX);
    }
    let above = (row.0.saturating_sub(MAX_ROWS)..row.0).rev().map(Row);
    let has_text =
        |row: &Row| leading_blanks(editor, *row) < editor.snapshot.row_len(*row).0 as usize;
    above.into_iter().find(has_text).map_or(0, indent_of)
}

/// Handler of an action: accepts the whole suggestion. If no suggestion is shown, passes the key on
/// to other handlers.
pub(crate) fn accept_suggestion(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    accept_or_propagate(editor, AcceptGranularity::All, window, cx);
}

/// Handler of an action: accepts the suggestion up to the end of the next word. If no suggestion is
/// shown, passes the key on to other handlers.
pub(crate) fn accept_suggestion_word(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    accept_or_propagate(editor, AcceptGranularity::Word, window, cx);
}

/// Handler of an action: accepts the suggestion up to the end of the line. If no suggestion is
/// shown, passes the key on to other handlers.
pub(crate) fn accept_suggestion_line(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    accept_or_propagate(editor, AcceptGranularity::Line, window, cx);
}

/// Accepts a part, or propagates the key if nothing is shown.
fn accept_or_propagate(
    editor: &mut Editor,
    part: AcceptGranularity,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    editor.refresh_suggestion(cx);
    if editor.shows_suggestion() {
        editor.accept(part, window, cx);
    } else {
        cx.propagate()
    }
}
