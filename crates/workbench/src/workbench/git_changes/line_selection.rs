//! Staging, unstaging and discarding of the selected lines of a diff.
//!
//! Invariant: only lines of the diff that is shown are chosen; a text that was edited since is refused.

use std::sync::Arc;

use editor::reviewed_rows;
use git::staging::{DiffHunk, LineSelection, Side};
use git_panel::actions::{DiscardLines, StageLines, UnstageLines};
use gpui_kit::{Context, Div, InteractiveElement as _, Stateful, Window};
use text::RowSpan;
use ui::Tone;

use super::diff::{self, OpenDiff, ShownHunk};
use super::{discard_lines, stage_lines};
use crate::notices::Notice;
use crate::workbench::Workbench;
use crate::workbench::inline_edit::selected_rows;

/// The chosen lines of one file: a hunk of it, and the lines.
type ChosenLines = (ShownHunk, LineSelection);

/// Work on chosen lines.
type LinesWork =
    fn(&mut Workbench, &ShownHunk, LineSelection, &mut Window, &mut Context<Workbench>);

/// The reason why no lines can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum NoLines {
    #[error("no diff of this side is open; open the changes from the Git panel")]
    NoDiff,
    #[error("no changed line is selected")]
    NoChange,
    #[error("the text changed since its diff was made; save it, and choose the lines again")]
    Outdated,
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|this, _: &StageLines, window, cx| {
            with_selected(this, Side::Unstaged, stage_lines, window, cx);
        }))
        .on_action(cx.listener(|this, _: &UnstageLines, window, cx| {
            with_selected(this, Side::Staged, stage_lines, window, cx);
        }))
        .on_action(cx.listener(|this, _: &DiscardLines, window, cx| {
            with_selected(this, Side::Unstaged, discard_lines, window, cx);
        }))
}

/// Works on the selected lines of the active diff, file by file, or on the line of the caret.
fn with_selected(
    workbench: &mut Workbench,
    side: Side,
    work: LinesWork,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match chosen_lines(workbench, side, cx) {
        Ok(chosen) => {
            for (hunk, lines) in chosen {
                work(workbench, &hunk, lines, window, cx);
            }
        }
        Err(reason) => {
            let text = base::sentence(&reason.to_string());
            workbench.report(Notice::new(Tone::Info, text).key("git"), window, cx);
        }
    }
}

/// Returns the selected lines of each file of the active diff.
fn chosen_lines(
    workbench: &Workbench,
    side: Side,
    cx: &mut Context<Workbench>,
) -> Result<Vec<ChosenLines>, NoLines> {
    let is_of_side = |diff: &&OpenDiff| {
        let place = diff.source.staging();
        place.is_some_and(|place| place.side == side)
    };
    let diff = diff::active(workbench).filter(is_of_side);
    let diff = diff.ok_or(NoLines::NoDiff)?;
    let (selected, shown) = diff.editor.update(cx, |editor, cx| {
        let shown = reviewed_rows(editor, cx);
        let selections = editor.selections(cx).clone();
        let text = editor.model().read(cx).snapshot();
        let selected = selections.iter().map(|it| selected_rows(it, &text));
        (selected.collect::<Vec<RowSpan>>(), shown)
    });
    let mut chosen: Vec<ChosenLines> = Vec::new();
    for (hunk, rows) in diff.hunks.iter().zip(shown) {
        let mut lines = match chosen.last() {
            Some((last, lines)) if Arc::ptr_eq(&last.diff, &hunk.diff) => lines.clone(),
            _ => LineSelection::default(),
        };
        if !choose(&hunk.shown, rows, &selected, &mut lines) {
            continue;
        }
        if rows.len() != hunk.shown.work.len() && !hunk.shown.work.is_empty() {
            return Err(NoLines::Outdated);
        }
        chosen.pop_if(|(last, _)| Arc::ptr_eq(&last.diff, &hunk.diff));
        chosen.push((hunk.clone(), lines));
    }
    if chosen.is_empty() {
        return Err(NoLines::NoChange);
    }
    Ok(chosen)
}

/// Adds the lines of a hunk that are selected; returns whether there are any. `rows` are its rows in the text. An added
/// line takes the place of the removed line beside it; further removed lines go with the last added one, and those of a
/// pure deletion with the row that follows it.
fn choose(hunk: &DiffHunk, rows: RowSpan, selected: &[RowSpan], lines: &mut LineSelection) -> bool {
    let is_selected = |ix: u32| selected.iter().any(|it| it.contains(rows.start + ix));
    let (removed, added) = (hunk.base.len(), hunk.work.len());
    if added == 0 {
        let is_chosen = is_selected(0);
        if is_chosen {
            (0..removed).for_each(|ix| lines.add_removed(hunk.base.start + ix));
        }
        return is_chosen;
    }
    let chosen: Vec<u32> = (0..added).filter(|ix| is_selected(*ix)).collect();
    for ix in &chosen {
        lines.add_added(hunk.work.start + *ix);
        if *ix < removed {
            lines.add_removed(hunk.base.start + *ix);
        }
    }
    if chosen.last() == Some(&(added - 1)) {
        (added..removed).for_each(|ix| lines.add_removed(hunk.base.start + ix));
    }
    !chosen.is_empty()
}

#[cfg(test)]
mod tests {
    use base::Row;
    use git::merge::{EntryMode, TreePath};
    use git::staging::{FileDiff, LineSelection, Side};
    use text::RowSpan;

    use super::choose;

    /// Returns the staged text if these rows of the work text are selected.
    #[track_caller]
    fn staged(base: &str, work: &str, rows: (u32, u32)) -> Option<String> {
        let content = |text: &str| Some((EntryMode::Plain, text.as_bytes().to_vec()));
        let path = TreePath::new("a");
        let diff = FileDiff::of_contents(&path, Side::Unstaged, content(base), content(work));
        let selected = [RowSpan {
            start: Row(rows.0),
            end: Row(rows.1),
        }];
        let mut lines = LineSelection::default();
        let mut is_any = false;
        for hunk in &diff.hunks {
            is_any |= choose(hunk, hunk.work, &selected, &mut lines);
        }
        let text = diff.with_lines(&lines);
        is_any.then(|| String::from_utf8_lossy(&text).into_owned())
    }

    #[test]
    fn a_selected_line_takes_the_place_of_the_one_beside_it() {
        let (base, work) = ("a\nb\nc\nd\n", "A\nB\nc\nD\n");
        assert_eq!(staged(base, work, (0, 1)).as_deref(), Some("A\nb\nc\nd\n"));
        assert_eq!(staged(base, work, (1, 4)).as_deref(), Some("a\nB\nc\nD\n"));
        assert_eq!(staged(base, work, (2, 3)), None);
    }

    #[test]
    fn further_removed_lines_go_with_the_last_added_one() {
        let (base, work) = ("a\nb\nc\nd\n", "A\nB\nd\n");
        assert_eq!(staged(base, work, (0, 1)).as_deref(), Some("A\nb\nc\nd\n"));
        assert_eq!(staged(base, work, (1, 2)).as_deref(), Some("a\nB\nd\n"));
    }

    #[test]
    fn a_deletion_is_chosen_by_the_row_below() {
        let (base, work) = ("a\nb\nc\nd\n", "a\nd\n");
        assert_eq!(staged(base, work, (1, 2)).as_deref(), Some("a\nd\n"));
        assert_eq!(staged(base, work, (0, 1)), None);
    }
}
