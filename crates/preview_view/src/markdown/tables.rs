//! Rows of a table. Each is a block of its own; all rows of a table share the widths of its columns.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, Context, FontWeight, InteractiveElement as _, IntoElement as _, ParentElement as _,
    Role, StatefulInteractiveElement as _, Styled as _, div, px, relative,
};
use preview::{CellAlignment, InlineText, TableColumns};
use ui::{ActiveTheme as _, dp};

use super::MarkdownPreview;

/// Width of a character, in design pixels, by which a table is as wide as its texts.
const UNIT: f32 = 8.0;
/// Space beside the text of a cell, in characters.
const SPACE: f32 = 3.0;

impl MarkdownPreview {
    pub(super) fn render_table_row(
        &self,
        ix: usize,
        columns: &TableColumns,
        cells: &[InlineText],
        is_head: bool,
        cx: &Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let width = |column: usize| {
            columns
                .widths
                .get(column)
                .map_or(0.0, |it| *it as f32 + SPACE)
        };
        let all: f32 = (0..cells.len()).map(width).sum();
        let cells = cells.iter().enumerate().map(|(column, cell)| {
            let alignment = columns.alignments.get(column).copied().unwrap_or_default();
            let text = self.render_inline(("table-cell", ix * CELLS + column), cell, cx);
            div()
                .flex()
                .flex_none()
                .w(relative(width(column) / all.max(1.0)))
                .min_w_0()
                .px(dp(8.0))
                .py(dp(4.0))
                .border_r_1()
                .border_color(colors.border)
                .map(|this| match alignment {
                    CellAlignment::Left => this,
                    CellAlignment::Center => this.justify_center(),
                    CellAlignment::Right => this.justify_end(),
                })
                .child(div().min_w_0().child(text))
        });
        let cells: Vec<_> = cells.collect();
        div()
            .id(("table-row", ix))
            .role(Role::Row)
            .aria_label("Row of a table")
            .flex()
            .w(px(all * UNIT * cx.theme().scale()))
            .max_w_full()
            .border_l_1()
            .border_b_1()
            .border_color(colors.border)
            .when(is_head, |this| {
                this.border_t_1()
                    .bg(colors.sunken)
                    .font_weight(FontWeight::SEMIBOLD)
            })
            .children(cells)
            .into_any_element()
    }
}

/// Numbers of cells that a row has for its elements.
const CELLS: usize = 128;
