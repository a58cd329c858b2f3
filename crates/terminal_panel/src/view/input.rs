//! Text input: committed text goes to the program; composed text is drawn at the cursor until it is committed.
//!
//! Offsets are UTF-16 code units of the composed text, as in the platform APIs.

use std::ops::Range;

use gpui_kit::{Bounds, Context, EntityInputHandler, Pixels, Point, UTF16Selection, Window};

use super::TerminalView;

/// Text that an input method composes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preedit {
    pub(crate) text: String,
    /// The selected part, in UTF-16 units.
    selected: Range<usize>,
}

impl Preedit {
    fn units(&self) -> usize {
        self.text.encode_utf16().count()
    }
}

impl EntityInputHandler for TerminalView {
    fn text_for_range(
        &mut self,
        units: Range<usize>,
        actual: &mut Option<Range<usize>>,
        _: &mut Window,
        _: &mut Context<Self>,
    ) -> Option<String> {
        let preedit = self.preedit.as_ref()?;
        let text: Vec<u16> = preedit.text.encode_utf16().collect();
        let end = units.end.min(text.len());
        let range = units.start.min(end)..end;
        let part = String::from_utf16_lossy(&text[range.clone()]);
        *actual = Some(range);
        Some(part)
    }

    fn selected_text_range(
        &mut self,
        _: bool,
        _: &mut Window,
        _: &mut Context<Self>,
    ) -> Option<UTF16Selection> {
        let selected = self
            .preedit
            .as_ref()
            .map(|preedit| preedit.selected.clone());
        Some(UTF16Selection {
            range: selected.unwrap_or(0..0),
            reversed: false,
        })
    }

    fn marked_text_range(&self, _: &mut Window, _: &mut Context<Self>) -> Option<Range<usize>> {
        self.preedit.as_ref().map(|preedit| 0..preedit.units())
    }

    fn unmark_text(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        // The input method cancelled the composition. Text that it commits arrives through `replace_text_in_range`.
        self.preedit = None;
        cx.notify();
    }

    fn replace_text_in_range(
        &mut self,
        _: Option<Range<usize>>,
        text: &str,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.preedit = None;
        if self.is_copying() {
            return;
        }
        // Keys such as Enter come as key presses; text has no control characters.
        let text: String = text.chars().filter(|char| !char.is_control()).collect();
        self.end_selection(cx);
        self.send(text.into_bytes(), cx);
        cx.notify();
    }

    fn replace_and_mark_text_in_range(
        &mut self,
        _: Option<Range<usize>>,
        text: &str,
        selected: Option<Range<usize>>,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let preedit = Preedit {
            text: text.chars().filter(|char| !char.is_control()).collect(),
            selected: 0..0,
        };
        let units = preedit.units();
        let selected = selected.unwrap_or(units..units);
        self.preedit = (units > 0).then_some(Preedit {
            selected,
            ..preedit
        });
        cx.notify();
    }

    fn bounds_for_range(
        &mut self,
        _: Range<usize>,
        _: Bounds<Pixels>,
        _: &mut Window,
        _: &mut Context<Self>,
    ) -> Option<Bounds<Pixels>> {
        let cursor = self.contents.snapshot.cursor?;
        let geometry = self.geometry.as_ref()?;
        Some(geometry.cells_at(cursor.row, cursor.position.column, 1))
    }

    fn character_index_for_point(
        &mut self,
        _: Point<Pixels>,
        _: &mut Window,
        _: &mut Context<Self>,
    ) -> Option<usize> {
        None
    }

    fn accepts_text_input(&self, _: &mut Window, _: &mut Context<Self>) -> bool {
        self.takes_input() && !self.is_copying()
    }
}

impl TerminalView {
    /// Returns the composed text.
    pub(crate) fn preedit(&self) -> Option<&Preedit> {
        self.preedit.as_ref()
    }

    /// Removes the selection: typed text ends it.
    fn end_selection(&mut self, cx: &mut Context<Self>) {
        if self.contents.snapshot.selection.is_some() {
            self.change_emulator(cx, terminal::Emulator::clear_selection);
        }
    }
}
