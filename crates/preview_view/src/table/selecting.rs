//! The selected cell, and scrolling to the side.

use gpui_kit::{App, Context, Pixels, Window, px};

use super::TablePreview;
use super::render::{GAP, cell_unit};
use crate::actions::{
    Cancel, Down, End, Left, NarrowColumn, PageDown, PageUp, Reload, Right, Start, Up, WidenColumn,
};
use crate::event::PreviewEvent;

/// Characters by which a key changes the width of a column.
const WIDTH_STEP: f32 = 2.0;

impl TablePreview {
    /// Selects a cell, and shows it.
    pub(super) fn select(&mut self, row: u64, column: usize, cx: &mut Context<Self>) {
        let Some(content) = self.content.ready() else {
            return;
        };
        let rows = self.list.scroll.rows();
        let columns = content.columns.count();
        let column = column.min(columns.saturating_sub(1));
        self.cell = (row.min(rows.saturating_sub(1)), column);
        let unit = cell_unit(cx);
        let left = unit * content.columns.left(column, GAP);
        let width = unit * (content.columns.width(column) + GAP);
        self.list.scroll.reveal(self.cell.0);
        let room = self.room(cx);
        let x = if left < self.x {
            left
        } else if left + width > self.x + room {
            (left + width - room).min(left)
        } else {
            self.x
        };
        self.set_x(x, cx);
        cx.notify();
    }

    /// Returns the width that the columns have on the screen.
    pub(super) fn room(&self, cx: &App) -> Pixels {
        let bounds = self.list.bounds();
        bounds.map_or(px(800.0), |bounds| {
            bounds.size.width - self.number_width(cx)
        })
    }

    /// Scrolls to the side, at most until the last column is in sight.
    pub(super) fn set_x(&mut self, x: Pixels, cx: &mut Context<Self>) {
        let Some(content) = self.content.ready() else {
            return;
        };
        let columns = &content.columns;
        let all = cell_unit(cx) * columns.left(columns.count(), GAP);
        let most = (all - self.room(cx)).max(px(0.0));
        self.x = x.clamp(px(0.0), most);
    }

    fn step(&mut self, rows: i64, columns: isize, cx: &mut Context<Self>) {
        let (row, column) = self.cell;
        let row = row.saturating_add_signed(rows);
        self.select(row, column.saturating_add_signed(columns), cx);
    }

    fn page(&self) -> i64 {
        i64::try_from(self.list.scroll.page()).unwrap_or(i64::MAX)
    }

    pub(super) fn up(&mut self, _: &Up, _: &mut Window, cx: &mut Context<Self>) {
        self.step(-1, 0, cx);
    }

    pub(super) fn down(&mut self, _: &Down, _: &mut Window, cx: &mut Context<Self>) {
        self.step(1, 0, cx);
    }

    pub(super) fn left(&mut self, _: &Left, _: &mut Window, cx: &mut Context<Self>) {
        self.step(0, -1, cx);
    }

    pub(super) fn right(&mut self, _: &Right, _: &mut Window, cx: &mut Context<Self>) {
        self.step(0, 1, cx);
    }

    pub(super) fn page_up(&mut self, _: &PageUp, _: &mut Window, cx: &mut Context<Self>) {
        self.step(-self.page(), 0, cx);
    }

    pub(super) fn page_down(&mut self, _: &PageDown, _: &mut Window, cx: &mut Context<Self>) {
        self.step(self.page(), 0, cx);
    }

    pub(super) fn start(&mut self, _: &Start, _: &mut Window, cx: &mut Context<Self>) {
        self.select(0, 0, cx);
    }

    pub(super) fn end(&mut self, _: &End, _: &mut Window, cx: &mut Context<Self>) {
        self.select(u64::MAX, self.cell.1, cx);
    }

    pub(super) fn widen(&mut self, _: &WidenColumn, _: &mut Window, cx: &mut Context<Self>) {
        self.change_width(self.cell.1, WIDTH_STEP, cx);
    }

    pub(super) fn narrow(&mut self, _: &NarrowColumn, _: &mut Window, cx: &mut Context<Self>) {
        self.change_width(self.cell.1, -WIDTH_STEP, cx);
    }

    /// Changes the width of a column by a number of characters.
    pub(super) fn change_width(&mut self, column: usize, by: f32, cx: &mut Context<Self>) {
        if let Some(content) = self.content.ready_mut() {
            let width = content.columns.width(column) + by;
            content.columns.set_width(column, width);
            cx.notify();
        }
    }

    pub(super) fn reload(&mut self, _: &Reload, _: &mut Window, cx: &mut Context<Self>) {
        self.read_again(cx);
    }

    /// Reads the file again; the rows in sight stay at the top.
    pub(crate) fn read_again(&mut self, cx: &mut Context<Self>) {
        self.awaited = self.top();
        let delimiter = self
            .content
            .ready()
            .map(|content| content.reader.delimiter());
        self.open(delimiter, cx);
    }

    pub(super) fn cancel(&mut self, _: &Cancel, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(PreviewEvent::Cancelled);
    }
}
