//! The block above a hunk of a diff: its removed lines and its buttons.

use editor::{BlockPlace, BlockView};
use git::staging::Side;
use gpui_kit::{
    App, Context, Div, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, WeakEntity, Window, div, px,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, dp};

use super::diff::ShownHunk;
use super::{discard_hunk, stage_hunk};
use crate::workbench::Workbench;
use crate::workbench::removed_lines;

/// Height of the line with the buttons, in pixels.
const HEAD: f32 = 32.0;
/// Maximum number of removed lines shown; the rest is only counted.
const MAX_REMOVED: usize = 200;

/// Work on a hunk by a button.
type HunkWork = fn(&mut Workbench, &ShownHunk, &mut Window, &mut Context<Workbench>);

/// Returns the height, in line heights, and the view of the block above a hunk.
pub(super) fn render(
    hunk: &ShownHunk,
    workbench: WeakEntity<Workbench>,
    cx: &App,
) -> (f32, BlockView) {
    let removed = lines_of(hunk);
    let shown = removed.len().min(MAX_REMOVED + 1);
    let height = cx.theme().code_lines(HEAD) + shown as f32;
    let hunk = hunk.clone();
    let view = BlockView::new(move |place, _, cx| {
        let name = format!(
            "Change of {}, line {}: {} lines removed, {} added",
            hunk.diff.path,
            hunk.shown.work.start.0 + 1,
            hunk.shown.base.len(),
            hunk.shown.work.len()
        );
        div()
            .id(("git-hunk", place.id.0 as usize))
            .role(Role::Group)
            .aria_label(ui::foreign::one_line(name))
            .test_support()
            .size_full()
            .flex()
            .flex_col()
            .child(head(&hunk, place, &workbench, cx))
            .children(removed_lines::render(
                &removed,
                (&hunk.words, &hunk.kinds),
                MAX_REMOVED,
                place,
                cx,
            ))
            .into_any_element()
    });
    (height, view)
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

fn head(hunk: &ShownHunk, place: &BlockPlace, workbench: &WeakEntity<Workbench>, cx: &App) -> Div {
    let colors = cx.theme().colors;
    let key = place.id.0 as usize;
    let button = |id: &'static str, label: &'static str, work: HunkWork| {
        let (workbench, hunk) = (workbench.clone(), hunk.clone());
        Button::new((id, key), label)
            .style(ButtonStyle::Ghost)
            .on_click(move |_, window, cx| {
                // The window may be closing.
                workbench
                    .update(cx, |workbench, cx| work(workbench, &hunk, window, cx))
                    .ok();
            })
    };
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
        .child(Label::new(format!("+{added}")).tiny().color(colors.added))
        .child(
            Label::new(format!("\u{2212}{removed}"))
                .tiny()
                .color(colors.removed),
        )
        .child(div().flex_1());
    match hunk.diff.side {
        Side::Staged => line.child(button("git-unstage-hunk", "Unstage", stage_hunk)),
        Side::Unstaged => line
            .child(button("git-stage-hunk", "Stage", stage_hunk))
            .child(button("git-discard-hunk", "Discard", discard_hunk)),
    }
}
