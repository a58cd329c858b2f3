//! The keys that move in the list or close it. Without a list, they pass on.

use gpui_kit::{Context, Window};

use super::{MAX_ROWS, documentation, resolving};
use crate::completion::CompletionList;
use crate::editor::Editor;

/// Handler of an action: closes the list.
pub(crate) fn hide_completions(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    if editor.shows_completions() {
        editor.dismiss_completions(cx);
    } else {
        cx.propagate();
    }
}

/// Handler of an action: selects the next item.
pub(crate) fn next_completion(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    move_selection(editor, |list| list.cycle(true), cx);
}

/// Handler of an action: selects the previous item.
pub(crate) fn previous_completion(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    move_selection(editor, |list| list.cycle(false), cx);
}

/// Handler of an action: selects an item one page below.
pub(crate) fn next_completion_page(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    move_selection(editor, |list| list.page(MAX_ROWS - 1, true), cx);
}

/// Handler of an action: selects an item one page above.
pub(crate) fn previous_completion_page(
    editor: &mut Editor,
    _: &mut Window,
    cx: &mut Context<Editor>,
) {
    move_selection(editor, |list| list.page(MAX_ROWS - 1, false), cx);
}

fn move_selection(
    editor: &mut Editor,
    change: impl FnOnce(&mut CompletionList),
    cx: &mut Context<Editor>,
) {
    let session = editor.completions.session.as_mut();
    let Some(session) = session.filter(|session| session.is_shown()) else {
        return cx.propagate();
    };
    session.accepting = None;
    change(&mut session.list);
    session.show_selected();
    resolving::resolve_at_rest(editor, cx);
    documentation::follow_selection(editor, cx);
    cx.notify();
}
