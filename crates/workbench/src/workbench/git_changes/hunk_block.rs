//! The block above a hunk of a diff: its removed lines and its buttons.

use editor::{BlockPlace, BlockView};
use git::staging::Side;
use gpui_kit::{
    AnyElement, App, Context, Div, InteractiveElement as _, IntoElement as _, ParentElement as _,
    Role, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, WeakEntity, Window,
    div, px,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, dp};

use super::diff::ShownHunk;
use super::{discard_hunk, stage_hunk};
use crate::workbench::Workbench;
use crate::workbench::changed_words::{ChangedWords, marked_line};

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
    let removed = removed_lines(hunk);
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
            .children(render_removed(&removed, &hunk.words, place, cx))
            .into_any_element()
    });
    (height, view)
}

fn removed_lines(hunk: &ShownHunk) -> Vec<String> {
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

fn render_removed(
    lines: &[String],
    words: &ChangedWords,
    place: &BlockPlace,
    cx: &App,
) -> Vec<AnyElement> {
    let theme = cx.theme();
    let row = || {
        div()
            .flex_none()
            .h(place.line_height)
            .line_height(place.line_height)
            .pl(place.gutter)
            .overflow_hidden()
            .whitespace_nowrap()
            .font(theme.code_font())
            .text_size(theme.code_size())
            .bg(theme.colors.removed_ground)
            .text_color(theme.colors.text)
    };
    let shown = lines.iter().take(MAX_REMOVED).enumerate();
    let shown = shown.map(|(ix, line)| {
        let line = marked_line(line, words.removed_in(ix), cx);
        row().child(line).into_any_element()
    });
    let mut rows: Vec<AnyElement> = shown.collect();
    if lines.len() > rows.len() {
        let more = format!("and {} more removed lines", lines.len() - rows.len());
        rows.push(
            row()
                .child(Label::new(more).small().muted())
                .into_any_element(),
        );
    }
    rows
}
