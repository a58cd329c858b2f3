//! The view as its element sees it: fonts and colours, size, and everything in view.

use std::rc::Rc;

use gpui_kit::{Context, Window};
use host::process::TerminalSize;
use terminal::{CellSpan, CommandState, CursorState, ScrollState, SelectedCells};

use super::mouse::TerminalDrag;
use super::{TerminalView, ViewContents};
use crate::frame::{Geometry, Palette, RowCache};
use crate::program::read_emulator;

impl TerminalView {
    /// Counts a layout.
    pub(crate) fn count_layout(&mut self) {
        self.layouts += 1;
    }

    /// Returns fonts and colours, resolved again if theme, settings, screen or the program's colours changed.
    pub(crate) fn current_palette(&mut self, window: &Window, cx: &Context<Self>) -> Rc<Palette> {
        let colors = &self.contents.snapshot.colors;
        let known = self.palette.as_ref();
        let known = known.filter(|palette| palette.is_current(colors, window, cx));
        if let Some(palette) = known {
            return palette.clone();
        }
        let palette = Rc::new(Palette::new(colors, window, cx));
        self.rows.clear();
        self.palette = Some(palette.clone());
        palette
    }

    /// Changes the size of the grid at once; the program learns it when the size has settled.
    pub(crate) fn resize(&mut self, size: TerminalSize, cx: &mut Context<Self>) {
        if self.size == size {
            return;
        }
        self.size = size;
        self.contents.is_stale = true;
        if let Some(program) = self.program() {
            program.resize_grid(size);
            self.resize.put_off(cx);
        }
    }

    /// Tells the emulator the size of a cell, which programs can query, if it does not know it.
    pub(crate) fn set_cell_size(&mut self, palette: &Palette) {
        let pixels = |length: gpui_kit::Pixels| (f32::from(length) * palette.scale).round() as u16;
        let cell = (pixels(palette.advance), pixels(palette.line_height));
        let Some(program) = self.program().filter(|_| self.cell_pixels != Some(cell)) else {
            return;
        };
        read_emulator(&**program, |emulator| {
            emulator.set_cell_pixels(cell.0, cell.1);
        });
        self.cell_pixels = Some(cell);
    }

    /// Returns the size of the grid.
    pub(crate) fn grid(&self) -> TerminalSize {
        self.size
    }

    /// Returns what shaping needs.
    pub(crate) fn parts_to_shape(&mut self) -> (&ViewContents, &mut RowCache) {
        (&self.contents, &mut self.rows)
    }

    /// Keeps the geometry of a frame. Marks of commands are placed by it in the next one.
    pub(crate) fn set_geometry(
        &mut self,
        geometry: Geometry,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let is_moved = self.geometry.as_ref().is_none_or(|known| {
            known.bounds != geometry.bounds
                || known.size != geometry.size
                || known.line_height != geometry.line_height
        });
        self.geometry = Some(geometry);
        let has_marks = !self.contents.commands.is_empty() || self.contents.sticky.is_some();
        if is_moved && has_marks {
            cx.on_next_frame(window, |_, _, cx| cx.notify());
        }
    }

    /// Returns the parts of cells that are in view: row of the view, first column and number of cells.
    pub(crate) fn parts_in_view(&self, cells: SelectedCells) -> Vec<(u16, u16, u16)> {
        let snapshot = &self.contents.snapshot;
        let CellSpan { start, last } = cells.span;
        let end = snapshot.size.columns.saturating_sub(1);
        let mut parts = Vec::new();
        for row in 0..snapshot.size.rows {
            let line = snapshot.first_line.below(u64::from(row));
            if line < start.line || line > last.line {
                continue;
            }
            let is_whole = |edge| !cells.is_block && line != edge;
            let from = if is_whole(start.line) {
                0
            } else {
                start.column
            };
            let to = if is_whole(last.line) {
                end
            } else {
                last.column.min(end)
            };
            if from <= to {
                parts.push((row, from, to - from + 1));
            }
        }
        parts
    }

    /// Returns the matches of the search in view.
    pub(crate) fn matches(&self) -> &[CellSpan] {
        &self.contents.matches
    }

    /// Returns the match that was last reached.
    pub(crate) fn current_match(&self) -> Option<CellSpan> {
        self.search.current
    }

    /// Returns the selected cells.
    pub(crate) fn selection(&self) -> Option<SelectedCells> {
        self.contents.snapshot.selection
    }

    /// Returns the cells of the link under the pointer.
    pub(crate) fn hovered_spans(&self) -> &[CellSpan] {
        self.link.spans()
    }

    /// Returns the cursor with its row of the view; `None` if it is out of view or the program ended.
    pub(crate) fn visible_cursor(&self) -> Option<(u16, CursorState)> {
        if !self.is_copying() {
            self.running_program()?;
        }
        let cursor = self.contents.snapshot.cursor?;
        Some((cursor.row, cursor))
    }

    /// Returns whether keys go to the terminal.
    pub(crate) fn has_focus(&self, window: &Window) -> bool {
        self.focus.is_focused(window) && window.is_window_active()
    }

    /// Returns whether a blinking cursor is shown now.
    pub(crate) fn is_cursor_lit(&self) -> bool {
        self.blink.is_shown
    }

    /// Returns the part of the scrollback in view.
    pub(crate) fn scroll_state(&self) -> ScrollState {
        self.contents.snapshot.scroll
    }

    /// Returns the marks beside the scrollbar.
    pub(crate) fn overview(&self) -> &[(u32, CommandState)] {
        &self.contents.overview
    }

    /// Returns whether the scrollbar is hovered or dragged.
    pub(crate) fn is_scrollbar_active(&self) -> bool {
        let is_dragged = matches!(self.mouse.drag, Some(TerminalDrag::Scrollbar(_)));
        is_dragged || self.mouse.is_over_scrollbar
    }

    /// Returns the rows in view as text, for screen readers.
    pub(crate) fn visible_text(&self) -> Vec<String> {
        let rows = self.contents.snapshot.rows.iter();
        rows.map(|row| row.text() + "\n").collect()
    }
}
