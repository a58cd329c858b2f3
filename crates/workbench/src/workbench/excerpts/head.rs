//! Headers of excerpts: the file name, and a divider between two excerpts of the same file.

use base::Row;
use display::{BlockSpec, Placement};
use editor::{BlockPlace, BlockView, DocumentModel, Excerpts};
use gpui_kit::{
    AnyElement, App, Entity, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    SharedString, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, WeakEntity,
    div, px,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Elide, Label, dp};

use crate::open_options::{GoToPosition, OpenOptions};
use crate::workbench::Workbench;

/// Height of a file header, in pixels.
const FILE: f32 = 36.0;
/// Height of the divider, in pixels.
const RULE: f32 = 16.0;

/// Content of a file header.
#[derive(Clone)]
pub(super) struct ExcerptFile {
    pub(super) name: SharedString,
    pub(super) folder: SharedString,
    pub(super) source: Entity<DocumentModel>,
    pub(super) workbench: WeakEntity<Workbench>,
}

/// Returns a block above a row, with its height in line heights.
pub(super) fn header_block(row: Row, height: f32) -> BlockSpec {
    BlockSpec {
        row,
        placement: Placement::Above,
        height,
        priority: 0,
    }
}

/// Returns the height and the view of a file header.
pub(super) fn file(
    file: ExcerptFile,
    excerpts: &Entity<Excerpts>,
    index: usize,
    cx: &App,
) -> (f32, BlockView) {
    let excerpts = excerpts.downgrade();
    let view = BlockView::new(move |place, _, cx| {
        let rows = excerpts
            .upgrade()
            .and_then(|excerpts| excerpts.read(cx).excerpt(index, cx));
        let first = rows.map_or(Row(0), |(_, rows)| rows.start);
        file.render(place, first, cx)
    });
    (cx.theme().code_lines(FILE), view)
}

/// Returns the height and the view of a divider.
pub(super) fn rule(cx: &App) -> (f32, BlockView) {
    let view = BlockView::new(|place, _, cx| {
        let line = div().h(px(1.0)).w_full().bg(cx.theme().colors.border);
        div()
            .size_full()
            .flex()
            .items_center()
            .pl(place.gutter)
            .child(line)
            .into_any_element()
    });
    (cx.theme().code_lines(RULE), view)
}

impl ExcerptFile {
    fn render(&self, place: &BlockPlace, row: Row, cx: &mut App) -> AnyElement {
        let colors = cx.theme().colors;
        let is_dirty = self.source.read(cx).document().is_dirty();
        let dot = is_dirty.then(|| {
            div()
                .flex_none()
                .size(dp(8.0))
                .rounded_full()
                .bg(colors.accent)
        });
        let path = self.source.read(cx).path().cloned();
        let name = format!("{}, line {}", self.name, row.0 + 1);
        div()
            .size_full()
            .flex()
            .flex_col()
            .justify_end()
            .child(
                div()
                    .id(("excerpt-file", place.id.0 as usize))
                    .role(Role::Group)
                    .aria_label(name)
                    .test_support()
                    .flex()
                    .items_center()
                    .gap(dp(8.0))
                    .w_full()
                    .h(px(30.0 * cx.theme().fonts.zoom))
                    .pl(dp(12.0))
                    .pr(dp(16.0))
                    .bg(colors.raised)
                    .border_y_1()
                    .border_color(colors.border)
                    .child(ui::file_icon(&self.name, cx))
                    .child(Label::new(self.name.clone()).strong())
                    .child(
                        div().flex_1().min_w_0().child(
                            Label::new(self.folder.clone())
                                .small()
                                .muted()
                                .elide(Elide::Middle(72)),
                        ),
                    )
                    .children(dot)
                    .children(path.map(|path| {
                        let workbench = self.workbench.clone();
                        let position = GoToPosition::InRow {
                            row,
                            start: 0,
                            end: 0,
                        };
                        Button::new(("excerpt-open", place.id.0 as usize), "Open")
                            .style(ButtonStyle::Ghost)
                            .on_click(move |_, window, cx| {
                                let (path, how) =
                                    (path.clone(), OpenOptions::lasting().at(Some(position)));
                                // The window may be closing.
                                workbench
                                    .update(cx, |workbench, cx| {
                                        workbench.open_path(path, how, window, cx);
                                    })
                                    .ok();
                            })
                    })),
            )
            .into_any_element()
    }
}
