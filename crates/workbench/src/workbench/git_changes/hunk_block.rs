//! The block above a hunk of a diff: its removed lines, its buttons, and the way to lines that moved.

use std::sync::Arc;

use editor::{BlockPlace, BlockView};
use git::staging::Side;
use gpui_kit::{
    App, Context, Div, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, WeakEntity, Window, div, px,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, dp};

use super::diff::{DiffLayout, ShownHunk, go_to_other_end};
use super::moved_parts::{MoveEnd, PartMove, moved_away};
use super::{discard_hunk, stage_hunk};
use crate::workbench::Workbench;
use crate::workbench::removed_lines::{self, RemovedMarks};

/// Height of the line with the buttons, in pixels.
const HEAD: f32 = 32.0;
/// Maximum number of removed lines shown; the rest is only counted.
const MAX_REMOVED: usize = 200;
/// Maximum number of moves that have a button.
const MAX_MOVES: usize = 3;

/// Work on a hunk by a button.
type HunkWork = fn(&mut Workbench, &ShownHunk, &mut Window, &mut Context<Workbench>);

/// The part of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadSide {
    /// The only head of the hunk.
    Both,
    /// The head beside that of the added lines.
    Removed,
    /// The head beside that of the removed lines.
    Added,
}

/// Returns the height, in line heights, and the view of the block above a hunk.
pub(super) fn render(
    hunk: &ShownHunk,
    layout: DiffLayout,
    workbench: WeakEntity<Workbench>,
    cx: &App,
) -> (f32, BlockView) {
    let (side, removed) = match layout {
        DiffLayout::Unified => (HeadSide::Both, lines_of(hunk)),
        DiffLayout::SideBySide => (HeadSide::Added, Vec::new()),
    };
    let shown = removed.len().min(MAX_REMOVED + 1);
    let height = cx.theme().code_lines(HEAD) + shown as f32;
    let hunk = hunk.clone();
    let moved = moved_away(&hunk.shown, &hunk.moves);
    let view = BlockView::new(move |place, _, cx| {
        let name = format!(
            "Change of {}, line {}: {} lines removed, {} added",
            hunk.diff.path,
            hunk.shown.work.start.0 + 1,
            hunk.shown.base.len(),
            hunk.shown.work.len()
        );
        let marks = RemovedMarks {
            words: &hunk.words,
            kinds: &hunk.kinds,
            moved: &moved,
        };
        div()
            .id(("git-hunk", place.id.0 as usize))
            .role(Role::Group)
            .aria_label(ui::foreign::one_line(name))
            .test_support()
            .size_full()
            .flex()
            .flex_col()
            .child(head(&hunk, side, place, &workbench, cx))
            .children(removed_lines::render(
                &removed,
                &marks,
                MAX_REMOVED,
                place,
                cx,
            ))
            .into_any_element()
    });
    (height, view)
}

/// Returns the height, in line heights, and the view of the block above the removed lines of a hunk in the text before.
pub(super) fn render_before(
    hunk: &ShownHunk,
    workbench: WeakEntity<Workbench>,
    cx: &App,
) -> (f32, BlockView) {
    let hunk = hunk.clone();
    let view = BlockView::new(move |place, _, cx| {
        let name = format!(
            "Before the change of {}, line {}: {} lines",
            hunk.diff.path,
            hunk.shown.base.start.0 + 1,
            hunk.shown.base.len()
        );
        div()
            .id(("git-hunk-before", place.id.0 as usize))
            .role(Role::Group)
            .aria_label(ui::foreign::one_line(name))
            .test_support()
            .size_full()
            .child(head(&hunk, HeadSide::Removed, place, &workbench, cx))
            .into_any_element()
    });
    (cx.theme().code_lines(HEAD), view)
}

fn lines_of(hunk: &ShownHunk) -> Vec<String> {
    let text = String::from_utf8_lossy(&hunk.diff.base);
    let rows = hunk.shown.base;
    let lines = text.split_inclusive('\n').skip(rows.start.0 as usize);
    let lines = lines.take(rows.len() as usize);
    lines
        .map(|line| line.trim_end_matches(['\n', '\r']).to_owned())
        .collect()
}

fn head(
    hunk: &ShownHunk,
    side: HeadSide,
    place: &BlockPlace,
    workbench: &WeakEntity<Workbench>,
    cx: &App,
) -> Div {
    let colors = cx.theme().colors;
    let removed = hunk.shown.base.len();
    let added = hunk.shown.work.len();
    let line = div()
        .flex()
        .flex_none()
        .items_center()
        .gap(dp(8.0))
        .w_full()
        .h(px(HEAD * cx.theme().fonts.zoom))
        .pl(place.gutter)
        .pr(dp(16.0))
        .bg(colors.raised)
        .border_y_1()
        .border_color(colors.border)
        .children(
            (side != HeadSide::Removed)
                .then(|| Label::new(format!("+{added}")).tiny().color(colors.added)),
        )
        .children((side != HeadSide::Added).then(|| {
            Label::new(format!("\u{2212}{removed}"))
                .tiny()
                .color(colors.removed)
        }))
        .children(move_buttons(hunk, side, place, workbench))
        .child(div().flex_1());
    if side == HeadSide::Removed {
        return line;
    }
    let button = |id: &'static str, label: &'static str, work: HunkWork| {
        work_button(hunk, (id, place), label, work, workbench)
    };
    match hunk.staging.as_ref().map(|place| place.side) {
        Some(Side::Staged) => line.child(button("git-unstage-hunk", "Unstage", stage_hunk)),
        Some(Side::Unstaged) => line
            .child(button("git-stage-hunk", "Stage", stage_hunk))
            .child(button("git-discard-hunk", "Discard", discard_hunk)),
        None => line,
    }
}

fn work_button(
    hunk: &ShownHunk,
    (id, place): (&'static str, &BlockPlace),
    label: &'static str,
    work: HunkWork,
    workbench: &WeakEntity<Workbench>,
) -> Button {
    let (workbench, hunk) = (workbench.clone(), hunk.clone());
    Button::new((id, place.id.0 as usize), label)
        .style(ButtonStyle::Ghost)
        .on_click(move |_, window, cx| {
            // The window may be closing.
            workbench
                .update(cx, |workbench, cx| work(workbench, &hunk, window, cx))
                .ok();
        })
}

/// Returns the buttons that go to the other places of moved lines.
fn move_buttons(
    hunk: &ShownHunk,
    side: HeadSide,
    place: &BlockPlace,
    workbench: &WeakEntity<Workbench>,
) -> Vec<Button> {
    let is_shown = |it: &&PartMove| match side {
        HeadSide::Both => true,
        HeadSide::Removed => it.end == MoveEnd::Removed,
        HeadSide::Added => it.end == MoveEnd::Added,
    };
    let moves = hunk.moves.iter().filter(is_shown).take(MAX_MOVES);
    let buttons = moves.enumerate().map(|(ix, it)| {
        let (workbench, it) = (workbench.clone(), Arc::new(it.clone()));
        let label = ui::foreign::one_line(it.label(&hunk.diff.path));
        let key = place.id.0 as usize * MAX_MOVES + ix;
        Button::new(("git-moved", key), label)
            .style(ButtonStyle::Ghost)
            .on_click(move |_, _, cx| {
                // The window may be closing.
                workbench
                    .update(cx, |workbench, cx| go_to_other_end(workbench, &it, cx))
                    .ok();
            })
    });
    buttons.collect()
}
