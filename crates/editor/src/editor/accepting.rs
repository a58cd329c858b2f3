//! Accepting a suggestion or its first part, and jumping to its start.
//!
//! Invariant: accepting changes only what was shown, and only if the replaced text is unchanged.
//! Start at `Editor::take`.

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
            (self.suggestion(), self.suggesting.shown_presentation())
        else {
            return false;
        };
        // During a drag, the visible suggestion may already be dropped.
        if self.drag.is_some() {
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
                self.jump_to_suggestion(to, window, cx);
                true
            }
            Presentation::InText(_) => self.take_shown(part, window, cx),
        }
    }

    /// Moves the caret to the start of the suggestion.
    fn jump_to_suggestion(&mut self, to: ByteOffset, window: &mut Window, cx: &mut Context<Self>) {
        let Some(suggestion) = self.checked_suggestion(cx) else {
            return;
        };
        let id = suggestion.id;
        self.go_to(to, Reveal::Center, cx);
        self.suggesting.jumped = Some((id, to));
        self.suggesting.invalidate();
        self.refresh_suggestion(cx);
        self.tell_input_method(window);
        cx.emit(EditorEvent::Suggestion(SuggestionEvent::Jumped(id)));
    }

    /// Returns the suggestion if it still applies; otherwise drops it.
    fn checked_suggestion(&mut self, cx: &mut Context<Self>) -> Option<autocomplete::Suggestion> {
        let suggestion = self.suggestion().cloned()?;
        if suggestion.revision == self.snapshot.revision() && suggestion.applies_to(&self.snapshot)
        {
            return Some(suggestion);
        }
        self.set_suggestion(None, cx);
        None
    }

    fn take_shown(
        &mut self,
        part: AcceptGranularity,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        let Some(suggestion) = self.checked_suggestion(cx) else {
            return false;
        };
        let before = self.snapshot.revision();
        let fellows = match self.suggesting.in_text() {
            Some(shown) if shown.is_ghost => {
                extra_carets(&suggestion, &self.snapshot, &self.selections)
            }
            _ => Vec::new(),
        };
        let (edits, selections) =
            accepted_edits(suggestion.accept_edits(part), &fellows, &self.selections);
        if !self.edit(&edits, selections, EditKind::Other, cx) {
            return false;
        }
        self.suggesting.last_taken = Some((self.snapshot.revision(), part));
        self.unfold_at_carets(cx);
        self.follow = Some(crate::scroll::ScrollMargin::Fit);
        self.tell_input_method(window);
        let change = self
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

    /// Returns whether Tab accepts the suggestion instead of indenting; see `suggestion::tab_key`.
    pub fn tab_takes_suggestion(&self, cx: &Context<Self>) -> bool {
        let is_shown = self.shows_suggestion() && self.drag.is_none();
        let shown = self.suggesting.shown_presentation().filter(|_| is_shown);
        let Some(shown) = shown else {
            return false;
        };
        let is_mere = self.selections.iter().all(|selection| selection.is_empty());
        if !is_mere || self.selections.len() > MAX_CARETS {
            return false;
        }
        let head = self.selections.primary().head;
        let has_jumped = self.suggesting.has_jumped_to(head);
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
            .map(|caret| self.caret_place(caret, cx))
            .collect();
        tab_takes(at_caret, has_jumped, &places)
    }

    fn caret_place(&self, caret: ByteOffset, cx: &Context<Self>) -> CaretPlace {
        let row = self.snapshot.point_at(caret).row;
        let start = self.snapshot.row_start(row);
        let blanks = self.leading_blanks(row);
        if caret - start > blanks {
            return CaretPlace::InText;
        }
        CaretPlace::InIndent {
            cells: self.cells_before(start, blanks),
            asked: self.asked_indent(row, cx),
        }
    }

    /// Counts the leading blanks of a row, up to a limit that no real indentation reaches.
    fn leading_blanks(&self, row: Row) -> usize {
        const MAX_BLANK_BYTES: usize = 2_000;
        let chars = self
            .snapshot
            .chars_at(self.snapshot.row_start(row))
            .take(MAX_BLANK_BYTES);
        chars.take_while(|char| matches!(char, ' ' | '\t')).count()
    }

    /// Returns the cells that `blanks` fill at the start of a row.
    fn cells_before(&self, start: ByteOffset, blanks: usize) -> u32 {
        let width = self.caret_options.tab_width.max(1);
        let text = self.snapshot.text(Span::new(start, start + blanks));
        text.chars().fold(0, |cells, char| match char {
            '\t' => (cells / width + 1) * width,
            _ => cells + 1,
        })
    }

    /// Returns the expected indentation of a row, in cells: from its syntax, or that of the last
    /// non-blank row above.
    fn asked_indent(&self, row: Row, cx: &Context<Self>) -> u32 {
        /// Rows searched upwards for a non-blank one.
        const MAX_ROWS: u32 = 100;
        if row.0 == 0 {
            return 0;
        }
        let indent_of =
            |row: Row| self.cells_before(self.snapshot.row_start(row), self.leading_blanks(row));
        let syntax = self
            .model
            .read(cx)
            .syntax()
            .filter(|syntax| syntax.has_tree());
        if let Some(syntax) = syntax.filter(|_| self.caret_options.smart_indent) {
            let hint = syntax.indent_for_new_line(&self.snapshot, self.snapshot.row_end(row - 1));
            let levels = i64::from(hint.levels) * i64::from(self.caret_options.tab_width.max(1));
            let cells = i64::from(indent_of(hint.base)) + levels + i64::from(hint.columns);
            return u32::try_from(cells.max(0)).unwrap_or(u32::MAX);
        }
        let above = (row.0.saturating_sub(MAX_ROWS)..row.0).rev().map(Row);
        let has_text =
            |row: &Row| self.leading_blanks(*row) < self.snapshot.row_len(*row).0 as usize;
        above.into_iter().find(has_text).map_or(0, indent_of)
    }

    pub(crate) fn accept_suggestion(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.accept_or_propagate(AcceptGranularity::All, window, cx);
    }

    pub(crate) fn accept_suggestion_word(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.accept_or_propagate(AcceptGranularity::Word, window, cx);
    }

    pub(crate) fn accept_suggestion_line(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.accept_or_propagate(AcceptGranularity::Line, window, cx);
    }

    /// Accepts a part, or propagates the key if nothing is shown.
    fn accept_or_propagate(
        &mut self,
        part: AcceptGranularity,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.sync(cx);
        self.refresh_suggestion(cx);
        if self.shows_suggestion() {
            self.accept(part, window, cx);
        } else {
            cx.propagate()
        }
    }
}
