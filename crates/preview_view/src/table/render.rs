//! Rendering of a table: the names of the columns, and the cells in sight.

use std::ops::Range;

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, App, AppContext as _, Context, DragMoveEvent, Empty, EntityId,
    InteractiveElement as _, IntoElement, KeyContext, MouseButton, MouseDownEvent,
    ParentElement as _, Pixels, Render, Role, SharedString, StatefulInteractiveElement as _,
    Styled as _, TestSupportExt as _, Window, div, px,
};
use preview::TableRow;
use ui::foreign::one_line;
use ui::{ActiveTheme as _, Icon, Menu, MenuExt as _, dp, row_height};

use super::TablePreview;
use crate::actions::{
    Copy, CopyRecord, NarrowColumn, NextDelimiter, OpenText, ToggleHeader, WidenColumn,
};
use crate::loading::render_absent;
use crate::row_list::render_rows;

/// The gap of a column, in characters: the space at both sides of its text.
pub(super) const GAP: f32 = 2.0;
/// Width of a character of the interface, in design pixels, as columns count it.
const UNIT: f32 = 7.0;
/// Maximum number of characters of a cell that are drawn.
const MAX_SHOWN: usize = 400;
/// Width of the border of a column that can be dragged, in design pixels.
const GRIP: f32 = 6.0;

/// The border of a column that is being dragged.
struct DraggedColumn {
    view: EntityId,
    column: usize,
    /// Distance of the pointer from the left edge of the column when the drag began, less its width, in pixels.
    left: Pixels,
}

/// Returns the width of a character of a column.
pub(super) fn cell_unit(cx: &App) -> Pixels {
    px(UNIT * cx.theme().scale())
}

/// Returns the text of a cell on one line.
fn cell_text(field: &str) -> SharedString {
    let text: String = field.chars().take(MAX_SHOWN).collect();
    one_line(text)
}

impl TablePreview {
    /// Returns the width of the numbers of rows.
    pub(super) fn number_width(&self, cx: &App) -> Pixels {
        let digits = self.list.scroll.rows().max(1).ilog10() + 1;
        let digits = digits as f32;
        cell_unit(cx) * (digits + 2.0)
    }

    /// Returns the columns in sight.
    fn shown_columns(&self, cx: &App) -> Range<usize> {
        let Some(content) = self.content.ready() else {
            return 0..0;
        };
        let unit = cell_unit(cx);
        let from = self.x / unit;
        let to = (self.x + self.room(cx)) / unit;
        content.columns.shown(from, to, GAP)
    }

    /// Returns the place of a column in the row: left edge and width.
    fn place(&self, column: usize, cx: &App) -> (Pixels, Pixels) {
        let Some(content) = self.content.ready() else {
            return (px(0.0), px(0.0));
        };
        let unit = cell_unit(cx);
        let left = unit * content.columns.left(column, GAP) - self.x;
        (left, unit * (content.columns.width(column) + GAP))
    }

    pub(super) fn render_cells(&self, row: u64, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let number = preview::grouped(row + 1);
        let shown = self.row(row);
        let cells = self.shown_columns(cx).filter_map(|column| {
            let field = shown?.fields.get(column)?;
            Some(self.render_cell(row, column, field, cx))
        });
        let cells: Vec<AnyElement> = cells.collect();
        let is_cut = shown.is_some_and(|row| row.is_cut);
        div()
            .id(("table-row", row))
            .role(Role::Row)
            .aria_label(row_name(row, shown))
            .flex()
            .size_full()
            .border_b_1()
            .border_color(colors.border)
            .child(
                div()
                    .flex_none()
                    .w(self.number_width(cx))
                    .pr(dp(8.0))
                    .flex()
                    .justify_end()
                    .items_center()
                    .text_size(dp(11.0))
                    .text_color(if is_cut {
                        colors.warning
                    } else {
                        colors.line_number
                    })
                    .child(number),
            )
            .child(
                div()
                    .relative()
                    .flex_1()
                    .h_full()
                    .overflow_hidden()
                    .children(cells),
            )
            .into_any_element()
    }

    fn render_cell(&self, row: u64, column: usize, field: &str, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let (left, width) = self.place(column, cx);
        let is_selected = self.cell == (row, column);
        let is_number = field.parse::<f64>().is_ok();
        let unit = cell_unit(cx);
        div()
            .absolute()
            .top_0()
            .bottom_0()
            .left(left)
            .w(width)
            .px(unit)
            .flex()
            .items_center()
            .when(is_number, |this| this.justify_end())
            .border_r_1()
            .border_color(colors.border)
            .when(is_selected, |this| this.bg(colors.selection))
            .on_mouse_down(
                MouseButton::Left,
                cx.listener(move |this, _: &MouseDownEvent, window, cx| {
                    this.focus.focus(window, cx);
                    this.select(row, column, cx);
                }),
            )
            .child(div().min_w_0().truncate().child(cell_text(field)))
            .into_any_element()
    }

    /// Renders the names of the columns, or their numbers.
    fn render_header(&self, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let names = self.content.ready().map(|content| &content.first);
        let names = names.filter(|_| self.has_header);
        let cells = self.shown_columns(cx).map(|column| {
            let name = names.and_then(|names| names.fields.get(column));
            let name = match name {
                Some(name) => cell_text(name),
                None => (column + 1).to_string().into(),
            };
            self.render_name(column, name, cx)
        });
        let cells: Vec<AnyElement> = cells.collect();
        div()
            .id("table-header")
            .role(Role::Row)
            .aria_label("Names of the columns")
            .flex()
            .flex_none()
            .w_full()
            .h(row_height(true, cx))
            .bg(colors.sunken)
            .border_b_1()
            .border_color(colors.border_strong)
            .child(div().flex_none().w(self.number_width(cx)))
            .child(
                div()
                    .relative()
                    .flex_1()
                    .h_full()
                    .overflow_hidden()
                    .children(cells),
            )
            .into_any_element()
    }

    fn render_name(&self, column: usize, name: SharedString, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let (left, width) = self.place(column, cx);
        let dragged = DraggedColumn {
            view: cx.entity_id(),
            column,
            left,
        };
        let grip = div()
            .id(("table-grip", column))
            .absolute()
            .top_0()
            .bottom_0()
            .right_0()
            .w(dp(GRIP))
            .cursor_col_resize()
            .on_drag(dragged, |_, _, _, cx| cx.new(|_| Empty));
        div()
            .id(("table-name", column))
            .role(Role::ColumnHeader)
            .aria_label(name.clone())
            .absolute()
            .top_0()
            .bottom_0()
            .left(left)
            .w(width)
            .px(cell_unit(cx))
            .flex()
            .items_center()
            .border_r_1()
            .border_color(colors.border_strong)
            .font_weight(gpui_kit::FontWeight::SEMIBOLD)
            .child(div().min_w_0().truncate().child(name))
            .child(grip)
            .into_any_element()
    }

    /// Follows the border of a column that is dragged.
    fn drag_column(&mut self, event: &DragMoveEvent<DraggedColumn>, cx: &mut Context<Self>) {
        let dragged = event.drag(cx);
        if dragged.view != cx.entity_id() {
            return;
        }
        let (column, left) = (dragged.column, dragged.left);
        let at = event.event.position.x - event.bounds.origin.x - self.number_width(cx);
        let width = (at - left) / cell_unit(cx) - GAP;
        if let Some(content) = self.content.ready_mut() {
            content.columns.set_width(column, width);
            cx.notify();
        }
    }

    fn key_context(&self) -> KeyContext {
        let mut context = KeyContext::default();
        context.add("Preview");
        context.add("table");
        context
    }

    fn menu(&self) -> Menu {
        Menu::new()
            .focus(self.focus.clone())
            .action("Copy cell", Box::new(Copy))
            .action("Copy row", Box::new(CopyRecord))
            .separator()
            .toggle(
                "First row names the columns",
                Box::new(ToggleHeader),
                self.has_header,
            )
            .action("Next delimiter", Box::new(NextDelimiter))
            .action("Wider column", Box::new(WidenColumn))
            .action("Narrower column", Box::new(NarrowColumn))
            .separator()
            .action("Open as text", Box::new(OpenText))
    }
}

/// Maximum length of a field in the accessible name of its row, in chars.
const MAX_NAMED: usize = 60;

/// Returns the name of a row for those who do not see it.
fn row_name(row: u64, shown: Option<&TableRow>) -> SharedString {
    let fields = shown.iter().flat_map(|row| row.fields.iter().take(20));
    let fields = fields.map(|field| field.chars().take(MAX_NAMED).collect::<String>());
    let fields: Vec<String> = fields.collect();
    one_line(format!("Row {}: {}", row + 1, fields.join(", ")))
}

impl Render for TablePreview {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let name = self.source.path.printable_name();
        let absent = render_absent(&self.content, &name, Icon::FileSheet);
        let (header, rows) = match absent {
            Some(absent) => (None, absent),
            None => {
                let height = row_height(true, cx);
                let rows = render_rows(self, height, window, cx);
                (Some(self.render_header(cx)), rows)
            }
        };
        let colors = cx.theme().colors;
        let this = cx.weak_entity();
        div()
            .id("table-preview")
            .role(Role::Table)
            .test_support()
            .aria_label(format!("Table {name}"))
            .key_context(self.key_context())
            .track_focus(&self.focus)
            .on_action(cx.listener(Self::up))
            .on_action(cx.listener(Self::down))
            .on_action(cx.listener(Self::left))
            .on_action(cx.listener(Self::right))
            .on_action(cx.listener(Self::page_up))
            .on_action(cx.listener(Self::page_down))
            .on_action(cx.listener(Self::start))
            .on_action(cx.listener(Self::end))
            .on_action(cx.listener(Self::widen))
            .on_action(cx.listener(Self::narrow))
            .on_action(cx.listener(Self::copy))
            .on_action(cx.listener(Self::copy_record))
            .on_action(cx.listener(Self::toggle_header))
            .on_action(cx.listener(Self::next_delimiter))
            .on_action(cx.listener(Self::reload))
            .on_action(cx.listener(Self::cancel))
            .on_drag_move(
                cx.listener(|this, event: &DragMoveEvent<DraggedColumn>, _, cx| {
                    this.drag_column(event, cx);
                }),
            )
            .flex()
            .flex_col()
            .size_full()
            .bg(colors.surface)
            .text_color(colors.text)
            .text_size(dp(12.0))
            .children(header)
            .child(
                div()
                    .id("table-rows")
                    .flex()
                    .flex_col()
                    .flex_1()
                    .min_h_0()
                    .child(rows)
                    .menu_on_right_click(move |_, cx| match this.upgrade() {
                        Some(view) => view.read(cx).menu(),
                        None => Menu::new(),
                    }),
            )
    }
}
