//! Geometry of a terminal: rows, cells and the scrollbar, and the mapping from pixels back to cells.

use gpui_kit::{Bounds, Pixels, Point, point, px, size};
use host::process::TerminalSize;
use terminal::{CellHalf, ScrollState};

use super::palette::Palette;

/// Width of the column for marks of commands, in pixels at zoom 1.
pub(crate) const GUTTER: f32 = 16.0;

/// Width of the scrollbar, in pixels at zoom 1.
const SCROLLBAR: f32 = 10.0;

/// Smallest height of the scrollbar's handle.
const SHORTEST_HANDLE: f32 = 24.0;

/// The part of a terminal under the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HitArea {
    Cells,
    Scrollbar,
}

/// Positions and sizes of the parts of a terminal in one layout.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// The whole terminal.
    pub(crate) bounds: Bounds<Pixels>,
    /// The cells.
    pub(crate) cells: Bounds<Pixels>,
    pub(crate) scrollbar: Bounds<Pixels>,
    pub(crate) advance: Pixels,
    pub(crate) line_height: Pixels,
    pub(crate) size: TerminalSize,
}

/// Returns the number of cells that fit into an area; at least 2 columns and 1 row.
pub(crate) fn grid_size(bounds: Bounds<Pixels>, palette: &Palette, zoom: f32) -> TerminalSize {
    let width = f32::from(bounds.size.width) - (GUTTER + SCROLLBAR) * zoom;
    let count = |room: f32, step: Pixels, least: u16| {
        let count = (room / f32::from(step)).floor();
        // A float converts to the nearest value of the range.
        (count as u16).max(least)
    };
    TerminalSize {
        rows: count(f32::from(bounds.size.height), palette.line_height, 1),
        columns: count(width, palette.advance, 2),
    }
}

impl Geometry {
    /// Places a grid in an area. Rows touch the lower edge, so that the last one does not move while the area grows.
    pub(crate) fn new(
        bounds: Bounds<Pixels>,
        grid: TerminalSize,
        palette: &Palette,
        zoom: f32,
    ) -> Self {
        let height = palette.line_height * f32::from(grid.rows);
        let spare = (bounds.size.height - height).max(px(0.0));
        let snap = |value: Pixels| px((f32::from(value) * palette.scale).round() / palette.scale);
        let origin = point(
            snap(bounds.left() + px(GUTTER * zoom)),
            snap(bounds.top() + spare),
        );
        let width = palette.advance * f32::from(grid.columns);
        let bar = px(SCROLLBAR * zoom);
        Self {
            bounds,
            cells: Bounds::new(origin, size(width, height)),
            scrollbar: Bounds::new(
                point(bounds.right() - bar, bounds.top()),
                size(bar, bounds.size.height),
            ),
            advance: palette.advance,
            line_height: palette.line_height,
            size: grid,
        }
    }

    /// Returns the left edge of a column.
    pub(crate) fn x_of(&self, column: u16) -> Pixels {
        self.cells.left() + self.advance * f32::from(column)
    }

    /// Returns the top of a row of the view.
    pub(crate) fn y_of(&self, row: u16) -> Pixels {
        self.cells.top() + self.line_height * f32::from(row)
    }

    /// Returns the bounds of some cells of a row.
    pub(crate) fn cells_at(&self, row: u16, column: u16, count: u16) -> Bounds<Pixels> {
        Bounds::new(
            point(self.x_of(column), self.y_of(row)),
            size(self.advance * f32::from(count), self.line_height),
        )
    }

    /// Returns the row and column nearest to a position, and the half of the cell.
    pub(crate) fn cell_at(&self, position: Point<Pixels>) -> (u16, u16, CellHalf) {
        let x = f32::from(position.x - self.cells.left()) / f32::from(self.advance);
        let y = f32::from(position.y - self.cells.top()) / f32::from(self.line_height);
        let last_column = self.size.columns.saturating_sub(1);
        let last_row = self.size.rows.saturating_sub(1);
        let half = if x < 0.0 {
            CellHalf::Left
        } else if x >= f32::from(self.size.columns) || x.fract() >= 0.5 {
            CellHalf::Right
        } else {
            CellHalf::Left
        };
        // A float converts to the nearest value of the range.
        ((y as u16).min(last_row), (x as u16).min(last_column), half)
    }

    /// Returns the part at a position.
    pub(crate) fn area_at(&self, position: Point<Pixels>) -> HitArea {
        if self.scrollbar.contains(&position) {
            HitArea::Scrollbar
        } else {
            HitArea::Cells
        }
    }

    /// Returns the handle of the scrollbar; `None` if there is nothing to scroll.
    pub(crate) fn handle(&self, scroll: ScrollState) -> Option<Bounds<Pixels>> {
        if scroll.history == 0 {
            return None;
        }
        let (total, shown) = (self.total_lines(scroll), f32::from(self.size.rows));
        let bar = f32::from(self.scrollbar.size.height);
        let height = (bar * shown / total).max(SHORTEST_HANDLE).min(bar);
        let above = (scroll.history - scroll.offset.min(scroll.history)) as f32;
        let top = (bar - height) * above / scroll.history as f32;
        Some(Bounds::new(
            point(self.scrollbar.left(), self.scrollbar.top() + px(top)),
            size(self.scrollbar.size.width, px(height)),
        ))
    }

    /// Returns the scroll offset that puts the top of the handle at a position.
    pub(crate) fn offset_for_handle(&self, top: Pixels, scroll: ScrollState) -> u32 {
        let Some(handle) = self.handle(scroll) else {
            return 0;
        };
        let room = f32::from(self.scrollbar.size.height - handle.size.height).max(1.0);
        let part = (f32::from(top - self.scrollbar.top()) / room).clamp(0.0, 1.0);
        scroll.history - (part * scroll.history as f32).round() as u32
    }

    /// Returns the place of a mark beside a line, counted from the oldest one, in the scrollbar.
    pub(crate) fn mark_at(&self, line: u32, scroll: ScrollState) -> Pixels {
        let part = line as f32 / self.total_lines(scroll);
        self.scrollbar.top() + px(f32::from(self.scrollbar.size.height) * part)
    }

    fn total_lines(&self, scroll: ScrollState) -> f32 {
        scroll.history as f32 + f32::from(self.size.rows)
    }
}
