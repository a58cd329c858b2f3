//! Insert mode: typed text with the editor's completions, signatures and indentation.

use base::Span;
use gpui_kit::{Context, Window};
use vim::{Key, Mode, VimGlobals};

use super::{Editor, press, press_key};
use crate::editor::completing::{self, accepting};
use crate::editor::{format_on_type, signature};

/// Types text: keys of commands, or text of insert mode.
pub(crate) fn type_text(
    editor: &mut Editor,
    text: &str,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    if !is_inserting(editor) {
        for char in text.chars() {
            press(editor, key_of(char), window, cx);
        }
        return;
    }
    accepting::before_command(editor, Some(text), window, cx);
    for char in text.chars() {
        press_key(editor, key_of(char), cx);
    }
    editor.tell_input_method(window);
    // Keys of a mapping may have ended the insertion.
    if is_inserting(editor) {
        completing::opening::typed(editor, text, cx);
        signature::typed(editor, text, cx);
        format_on_type::typed(editor, text, cx);
    }
}

/// Notes that a completion goes in place of spans, one for each caret, so that `.` repeats it.
pub(crate) fn note_completion(editor: &mut Editor, spans: &[Span], text: &str) {
    let selections = &editor.selections;
    let (head, span) = (
        selections.primary().head,
        spans.get(selections.primary_ix()),
    );
    let start = span.map_or(head, |span| span.start.min(head));
    let removed = editor.snapshot.char_count(Span::new(start, head));
    let Some(view) = editor
        .vim
        .as_mut()
        .filter(|view| view.machine.mode() == Mode::Insert)
    else {
        return;
    };
    view.keeps_insertion = true;
    view.machine.note_completion(removed, text);
}

fn key_of(char: char) -> Key {
    match char {
        '\n' | '\r' => Key::Enter,
        '\t' => Key::Tab,
        char => Key::Char(char),
    }
}

fn is_inserting(editor: &Editor) -> bool {
    editor
        .vim
        .as_ref()
        .is_some_and(|view| view.machine.mode() == Mode::Insert)
}

/// Closes what belongs to an insertion when it ends.
pub(super) fn mode_changed(editor: &mut Editor, before: Mode, cx: &mut Context<Editor>) {
    if before != Mode::Insert || is_inserting(editor) {
        return;
    }
    editor.close_completions(cx);
    signature::close(editor, cx);
    editor.snippet = None;
}

/// Gives the machine the indentation of the text: hard tabs or spaces, and the width of a level.
pub(super) fn set_indentation(globals: &mut VimGlobals, (hard_tabs, width): (bool, u32)) {
    let options = &mut globals.options;
    options.tab_width = width;
    // The level is that of the tab stops.
    options.shift_width = 0;
    options.expand_tab = !hard_tabs;
}

/// Takes the indentation that `:set` chose.
pub(super) fn take_indentation(editor: &mut Editor, cx: &mut Context<Editor>) {
    let Some(view) = &editor.vim else {
        return;
    };
    let (hard_tabs, width) = {
        let globals = view.globals.borrow();
        let options = &globals.options;
        let level = match options.shift_width {
            0 => options.tab_width,
            level => level,
        };
        (!options.expand_tab, level)
    };
    if (hard_tabs, width) != editor.indentation() {
        editor.set_indentation(hard_tabs, width, cx);
    }
}
