//! Input methods: composed text is part of the text while inserting, and of the command line while one is open.
//!
//! Committed text is typed into the machine, so that `.` repeats it.

use base::Span;
use gpui_kit::{Context, Window};
use text::{Edit, EditKind};
use vim::{Key, Mode};

use super::{Editor, press, type_text};

/// Takes text that an input method composes. Returns `false` if it goes into the text of the
/// view.
pub(crate) fn compose(editor: &mut Editor, text: &str, cx: &mut Context<Editor>) -> bool {
    let Some(view) = &mut editor.vim else {
        return false;
    };
    match view.machine.mode() {
        Mode::Insert | Mode::Select(_) => {
            view.machine.begin_insertion();
            view.keeps_insertion = true;
            false
        }
        Mode::Prompt(_) => {
            text.clone_into(&mut view.composed);
            cx.notify();
            true
        }
        // No text falls through to the view in a mode of commands.
        _ => true,
    }
}

/// Types committed text in place of what was composed. Returns `false` if the view takes it: without
/// the keys of Vim, and if it replaces a range of the text (`has_range`) while inserting.
pub(crate) fn commit(
    editor: &mut Editor,
    text: &str,
    has_range: bool,
    window: &mut Window,
    cx: &mut Context<Editor>,
) -> bool {
    let Some(view) = &mut editor.vim else {
        return false;
    };
    view.composed.clear();
    let is_inserting = view.machine.mode() == Mode::Insert;
    if has_range && is_inserting && editor.marked.is_empty() {
        return false;
    }
    remove_marked(editor, cx);
    type_text(editor, text, window, cx);
    true
}

/// Inserts the clipboard into an open command line. Returns `false` if none is open.
pub(crate) fn paste(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) -> bool {
    let mode = editor.vim.as_ref().map(|view| view.machine.mode());
    if !matches!(mode, Some(Mode::Prompt(_))) {
        return false;
    }
    for key in [Key::Ctrl('r'), Key::Char('+')] {
        press(editor, key, window, cx);
    }
    true
}

/// Removes composed text.
fn remove_marked(editor: &mut Editor, cx: &mut Context<Editor>) {
    if editor.marked.is_empty() {
        return;
    }
    let edits: Vec<Edit> = editor
        .marked
        .iter()
        .map(|span| Edit::new(*span, ""))
        .collect();
    let mut removed = 0;
    let mut starts = Vec::with_capacity(edits.len());
    for edit in &edits {
        let start = edit.span.start - removed;
        removed += edit.span.len();
        starts.push(Span::at(start));
    }
    let carets = starts
        .iter()
        .map(|span| text::Selection::caret(span.start))
        .collect();
    let newest = editor.selections.primary_ix().min(edits.len() - 1);
    let carets = text::SelectionSet::new(carets, newest);
    if let Some(view) = &mut editor.vim {
        view.keeps_insertion = true;
    }
    editor.edit(&edits, carets, EditKind::Typing, cx);
    editor.marked.clear();
    if let Some(view) = &mut editor.vim {
        view.keeps_insertion = false;
    }
}
