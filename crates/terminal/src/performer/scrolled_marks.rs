//! Moves the marks of commands with rows that scroll within a part of the screen. Each method is called before the core
//! scrolls.

use alacritty_terminal::grid::Dimensions as _;
use alacritty_terminal::term::TermMode;
use unicode_width::UnicodeWidthChar as _;

use super::Performer;
use crate::lines::is_alternate;
use crate::scroll_region::{RegionScroll, ScrollDirection};

impl Performer<'_> {
    /// Returns the row of the cursor.
    fn cursor_row(&self) -> usize {
        self.term.grid().cursor.point.line.0.max(0) as usize
    }

    /// Moves the marks with all rows of the scroll region.
    pub(super) fn scroll_region_marks(&mut self, count: usize, direction: ScrollDirection) {
        let region = self.state.region.rows(self.term.screen_lines());
        self.scroll_marks(region.start, count, direction);
    }

    /// Moves the marks with the rows from the cursor to the end of the scroll region, unless the cursor is outside.
    pub(super) fn scroll_marks_below(&mut self, count: usize, direction: ScrollDirection) {
        let row = self.cursor_row();
        let region = self.state.region.rows(self.term.screen_lines());
        if region.contains(&row) {
            self.scroll_marks(row, count, direction);
        }
    }

    /// Moves the marks if a line feed at the cursor scrolls the region.
    pub(super) fn scroll_marks_at_end(&mut self) {
        let region = self.state.region.rows(self.term.screen_lines());
        if self.cursor_row() + 1 == region.end {
            self.scroll_marks(region.start, 1, ScrollDirection::Up);
        }
    }

    /// Moves the marks if a reverse line feed at the cursor scrolls the region.
    pub(super) fn scroll_marks_at_start(&mut self) {
        let region = self.state.region.rows(self.term.screen_lines());
        if self.cursor_row() == region.start {
            self.scroll_marks(region.start, 1, ScrollDirection::Down);
        }
    }

    /// Moves the marks if a character wraps into a new row that scrolls the region.
    pub(super) fn scroll_marks_of_wrap(&mut self, character: char) {
        let width = character.width().unwrap_or_default();
        let cursor = &self.term.grid().cursor;
        let is_wide_at_end = width > 1 && cursor.point.column.0 + 1 >= self.term.columns();
        let is_full = cursor.input_needs_wrap || is_wide_at_end;
        if width > 0 && is_full && self.term.mode().contains(TermMode::LINE_WRAP) {
            self.scroll_marks_at_end();
        }
    }

    /// Moves the marks with the rows from `origin` to the end of the scroll region.
    fn scroll_marks(&mut self, origin: usize, count: usize, direction: ScrollDirection) {
        if is_alternate(self.term) || self.state.log.last().is_none() {
            return;
        }
        let screen = self.term.screen_lines();
        let region = self.state.region.rows(screen);
        let count = count.min(region.len()) as u64;
        let is_into_history = direction == ScrollDirection::Up && origin == 0;
        let is_of_screen = is_into_history && region.end == screen;
        if count == 0 || is_of_screen {
            return;
        }
        let top = self.state.lines.screen_top(self.term);
        self.state.log.scroll(&RegionScroll {
            lines: top.below(origin as u64)..top.below(region.end as u64),
            count,
            direction,
            is_into_history,
        });
    }
}
