//! Copy and paste.

use gpui_kit::{App, ClipboardItem, Context, Window};
use terminal::prepare_paste;
use ui::{ActiveSettings as _, primary};

use super::TerminalView;
use super::questions::Question;
use crate::actions::{Copy, Paste, SelectAll};

/// Larger selections are not offered to other programs on each step of a drag.
const MAX_PRIMARY_BYTES: usize = 1 << 20;

impl TerminalView {
    /// Handler of an action: copies the selection. Passes the key on if nothing is selected.
    pub(super) fn copy(&mut self, _: &Copy, _: &mut Window, cx: &mut Context<Self>) {
        match self.selected_text() {
            Some(text) => cx.write_to_clipboard(ClipboardItem::new_string(text)),
            None => cx.propagate(),
        }
    }

    /// Handler of an action: pastes the clipboard.
    pub(super) fn paste(&mut self, _: &Paste, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(text) = cx.read_from_clipboard().and_then(|item| item.text()) {
            self.paste_text(&text, window, cx);
        }
    }

    /// Pastes the primary selection, where the system has one.
    pub(super) fn paste_primary(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(text) = primary::read(cx).and_then(|item| item.text()) {
            self.paste_text(&text, window, cx);
        }
    }

    /// Pastes a text; asks first if the program might run it at once.
    pub(super) fn paste_text(&mut self, text: &str, window: &mut Window, cx: &mut Context<Self>) {
        if text.is_empty() || !self.takes_input() {
            return;
        }
        self.refresh(cx);
        let paste = prepare_paste(text, &self.contents.snapshot.modes);
        match paste.risk {
            None => self.send(paste.bytes, cx),
            Some(risk) => self.ask(Question::paste(paste, risk, cx), window, cx),
        }
    }

    /// Handler of an action.
    pub(super) fn select_all(&mut self, _: &SelectAll, _: &mut Window, cx: &mut Context<Self>) {
        self.change_emulator(cx, terminal::Emulator::select_all);
    }

    /// Returns the selected text; `None` if nothing is selected.
    pub(super) fn selected_text(&self) -> Option<String> {
        let program = self.program()?;
        let text = crate::program::read_emulator(&**program, |emulator| emulator.selected_text());
        // The blank rows at the end of the screen are selected with all others.
        let text = text.flatten()?;
        let text = text.trim_end_matches('\n');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Offers the finished selection as the primary selection, and as the clipboard if the settings say so.
    pub(super) fn offer_selection(&mut self, cx: &mut App) {
        let Some(text) = self.selected_text() else {
            return;
        };
        if cx.settings().terminal.copy_on_select {
            cx.write_to_clipboard(ClipboardItem::new_string(text.clone()));
        }
        if primary::EXISTS && text.len() <= MAX_PRIMARY_BYTES {
            primary::write(ClipboardItem::new_string(text), cx);
        }
    }
}
