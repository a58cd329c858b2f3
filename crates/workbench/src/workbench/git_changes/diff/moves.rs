//! The way from moved lines to their other place in the diff.

use base::Row;
use editor::{Reveal, reviewed_rows};
use gpui_kit::{Context, Window};
use ui::Tone;

use super::{OpenDiff, ShownHunk, active};
use crate::notices::Notice;
use crate::workbench::Workbench;
use crate::workbench::git_changes::moved_parts::{MoveEnd, PartMove};

/// Goes to the other place of the moved lines at the caret of the active diff.
pub(in crate::workbench::git_changes) fn go_to_moved_lines(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match at_caret(workbench, cx) {
        Some(moved) => go_to_other_end(workbench, &moved, cx),
        None => {
            let text = "There are no moved lines at the caret";
            workbench.report(Notice::new(Tone::Info, text).key("git"), window, cx);
        }
    }
}

/// Returns the move of the line with the caret, or else the first of the change at the caret.
fn at_caret(workbench: &Workbench, cx: &mut Context<Workbench>) -> Option<PartMove> {
    let diff = active(workbench)?;
    let (index, rows, caret) = diff.editor.update(cx, |editor, cx| {
        let index = editor.reviewed_at_caret(cx)?;
        let rows = reviewed_rows(editor, cx).get(index).copied()?;
        Some((index, rows, editor.caret_point(cx).row))
    })?;
    let hunk = diff.hunks.get(index)?;
    let row = hunk.shown.work.start + caret.0.checked_sub(rows.start.0)?;
    let moves = hunk.moves.iter();
    let here = moves
        .clone()
        .find(|it| it.end == MoveEnd::Added && it.rows.contains(row));
    let here = here.or_else(|| moves.clone().find(|it| it.end == MoveEnd::Removed));
    here.or_else(|| moves.clone().next()).cloned()
}

/// Goes to the other place of moved lines in the active diff.
pub(in crate::workbench::git_changes) fn go_to_other_end(
    workbench: &Workbench,
    moved: &PartMove,
    cx: &mut Context<Workbench>,
) {
    let Some(diff) = active(workbench) else {
        return;
    };
    let Some((index, hunk)) = other_hunk(diff, moved) else {
        return;
    };
    let below = moved.other_rows.start.0 - start_of(hunk, moved.end).0;
    diff.editor.update(cx, |editor, cx| {
        let rows = reviewed_rows(editor, cx).get(index).copied();
        match (moved.end, rows) {
            (MoveEnd::Removed, Some(rows)) => {
                let text = editor.model().read(cx).snapshot();
                let row = (rows.start + below).min(text.last_row());
                editor.go_to(text.row_start(row), Reveal::Center, cx);
            }
            // Removed lines are above the change.
            _ => editor.go_to_reviewed(index, cx),
        }
    });
}

/// Returns the hunk with the other end.
fn other_hunk<'d>(diff: &'d OpenDiff, moved: &PartMove) -> Option<(usize, &'d ShownHunk)> {
    let mut hunks = diff.hunks.iter().enumerate();
    hunks.find(|(_, hunk)| {
        let rows = match moved.end {
            MoveEnd::Removed => hunk.shown.work,
            MoveEnd::Added => hunk.shown.base,
        };
        hunk.diff.path == moved.other_path
            && rows.start <= moved.other_rows.start
            && moved.other_rows.end <= rows.end
    })
}

/// Returns the first row of a hunk on the side opposite to this end of a move.
fn start_of(hunk: &ShownHunk, end: MoveEnd) -> Row {
    match end {
        MoveEnd::Removed => hunk.shown.work.start,
        MoveEnd::Added => hunk.shown.base.start,
    }
}
