//! Tests views under gpui's scheduler by pressing keys and reading state.

mod annotations;
mod colors;
mod completing;
mod diagnostics;
mod document_highlights;
mod expanding;
mod finding;
mod folding;
mod folding_ranges;
mod format_on_type;
mod gutter_marks;
mod inlay_hints;
mod input;
mod lenses;
mod light_bulb;
mod line_authors;
mod linked_editing;
mod links;
mod pointer;
mod reviewing;
mod scripted;
mod selection_ranges;
mod semantic_tokens;
mod signature;
mod snippets;
mod suggesting;
mod typing;
mod views;
mod vim_mode;

use gpui_kit::{Entity, KeyBinding, TestAppContext, VisualTestContext};

use super::Editor;
use crate::fixture;

/// Opens a marked text in a window with the keyboard focus.
pub(super) fn open<'a>(
    path: &str,
    marked: &str,
    cx: &'a mut TestAppContext,
) -> (Entity<Editor>, &'a mut VisualTestContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
        cx.set_reduce_motion(true);
        cx.bind_keys(keys());
    });
    let (text, selections) = fixture::unmark(marked);
    let model = cx.update(|cx| fixture::model(path, &text, fixture::environment(), cx));
    let (editor, cx) = cx.add_window_view(|window, cx| Editor::new(model, window, cx));
    editor.update_in(cx, |editor, window, cx| {
        window.focus(&editor.focus.clone(), cx);
        editor.set_selections(selections, cx);
    });
    cx.run_until_parked();
    (editor, cx)
}

fn keys() -> Vec<KeyBinding> {
    use crate::{actions as act, caret_actions as caret};
    let context = Some("Editor");
    vec![
        KeyBinding::new("left", caret::MoveLeft, context),
        KeyBinding::new("right", caret::MoveRight, context),
        KeyBinding::new("up", caret::MoveUp, context),
        KeyBinding::new("down", caret::MoveDown, context),
        KeyBinding::new("shift-right", caret::SelectRight, context),
        KeyBinding::new("backspace", caret::DeleteLeft, context),
        KeyBinding::new("delete", caret::DeleteRight, context),
        KeyBinding::new("alt-up", caret::MoveRowsUp, context),
        KeyBinding::new("alt-down", caret::MoveRowsDown, context),
        KeyBinding::new("enter", caret::Newline, context),
        KeyBinding::new("tab", caret::Tab, context),
        KeyBinding::new("ctrl-d", caret::SelectNextOccurrence, context),
        KeyBinding::new("ctrl-alt-down", caret::AddCaretBelow, context),
        KeyBinding::new("ctrl-end", caret::MoveFileEnd, context),
        KeyBinding::new("ctrl-home", caret::MoveFileStart, context),
        KeyBinding::new("ctrl-z", act::Undo, context),
        KeyBinding::new("ctrl-y", act::Redo, context),
        KeyBinding::new("ctrl-u", act::UndoCaret, context),
        KeyBinding::new("ctrl-c", act::Copy, context),
        KeyBinding::new("ctrl-x", act::Cut, context),
        KeyBinding::new("ctrl-v", act::Paste, context),
        KeyBinding::new("escape", act::Cancel, context),
        KeyBinding::new("ctrl-f", act::Find, context),
        KeyBinding::new("ctrl-h", act::Replace, context),
        KeyBinding::new("f3", act::FindNext, None),
        KeyBinding::new("alt-enter", act::SelectAllMatches, None),
    ]
}

/// Returns the text with its carets.
pub(super) fn state(editor: &Entity<Editor>, cx: &mut VisualTestContext) -> String {
    cx.run_until_parked();
    cx.update(|_, cx| fixture::marked(editor, cx))
}

/// Opens a text, presses keys, and compares.
pub(super) fn check(path: &str, before: &str, keys: &str, after: &str, cx: &mut TestAppContext) {
    let (editor, cx) = open(path, before, cx);
    cx.simulate_keystrokes(keys);
    assert_eq!(state(&editor, cx), after, "{before:?} {keys}");
}
