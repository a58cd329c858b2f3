//! Navigates between the changes since the last commit and reverts them.

use base::{Row, Span};
use gpui_kit::{Context, Window};
use text::{Edit, EditKind, RowHunk, Selection, SelectionSet, Snapshot};

use super::{Editor, Reveal};

/// Handler of an action: moves to the next change since the last commit, wrapping around.
pub(crate) fn next_hunk(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    go_to_next(editor, cx);
}

/// Moves to the next change since the last commit, wrapping around.
pub(super) fn go_to_next(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let row = editor
        .snapshot
        .point_at(editor.selections.primary().head)
        .row;
    let hunks = editor.model.read(cx).hunks().clone();
    let next = hunks
        .iter()
        .find(|hunk| hunk.after.start > row)
        .or(hunks.first());
    go_to_hunk(editor, next.copied(), cx);
}

/// Handler of an action: moves to the previous change since the last commit, wrapping around.
pub(crate) fn previous_hunk(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    go_to_previous(editor, cx);
}

/// Moves to the previous change since the last commit, wrapping around.
pub(super) fn go_to_previous(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let row = editor
        .snapshot
        .point_at(editor.selections.primary().head)
        .row;
    let hunks = editor.model.read(cx).hunks().clone();
    let previous = hunks
        .iter()
        .rev()
        .find(|hunk| hunk.after.start < row)
        .or(hunks.last());
    go_to_hunk(editor, previous.copied(), cx);
}

fn go_to_hunk(editor: &mut Editor, hunk: Option<RowHunk>, cx: &mut Context<Editor>) {
    if let Some(hunk) = hunk {
        let offset = editor
            .snapshot
            .row_start(hunk.after.start.min(editor.snapshot.last_row()));
        editor.go_to(offset, Reveal::Center, cx);
    }
}

/// Handler of an action: restores the committed text of the changes at the selections, as one
/// undoable edit. Does nothing if the file has no committed text.
pub(crate) fn revert_hunk(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let model = editor.model.read(cx);
    let Some(head) = model.head().cloned() else {
        return;
    };
    let hunks = model.hunks().clone();
    let rows: Vec<(Row, Row)> = editor
        .selections
        .iter()
        .map(|selection| {
            let row = |offset| editor.snapshot.point_at(offset).row;
            (row(selection.start()), row(selection.end()))
        })
        .collect();
    let touched = hunks.iter().filter(|hunk| {
        // A deletion lies between two rows and belongs to both.
        let end = hunk.after.end.max(hunk.after.start + 1);
        let start = if hunk.after.is_empty() {
            hunk.after.start - 1
        } else {
            hunk.after.start
        };
        rows.iter()
            .any(|(first, last)| *first < end && start <= *last)
    });
    let edits: Vec<Edit> = touched
        .map(|hunk| revert(hunk, &head, &editor.snapshot))
        .collect();
    let Some(first) = edits.first() else {
        return;
    };
    let selections = SelectionSet::single(Selection::caret(first.span.start));
    editor.edit(&edits, selections, EditKind::Other, cx);
    editor.tell_input_method(window);
}

/// Returns the edit that restores the text replaced by a hunk.
fn revert(hunk: &RowHunk, head: &Snapshot, snapshot: &Snapshot) -> Edit {
    let rows = |snapshot: &Snapshot, start: Row, end: Row| {
        Span::new(snapshot.row_start(start), snapshot.row_start(end))
    };
    let old = rows(head, hunk.before.start, hunk.before.end);
    let mut new = rows(snapshot, hunk.after.start, hunk.after.end);
    let mut text = head.text(old).into_owned();
    // The last row has no line ending, so the ending of the previous row is removed or added with
    // it.
    if hunk.after.end.0 >= snapshot.row_count()
        && hunk.before.end.0 < head.row_count()
        && text.ends_with('\n')
    {
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
    } else if text.is_empty() && hunk.after.end.0 >= snapshot.row_count() && hunk.after.start.0 > 0
    {
        new.start = snapshot.row_end(hunk.after.start - 1);
    }
    Edit::new(new, text)
}
