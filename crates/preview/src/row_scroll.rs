//! Scrolling over more rows than a pixel position can count.
//!
//! A list that positions its rows in pixels loses them: 32-bit floats are exact to some 16 million. Here the position is
//! a row and a part of it.
//! Invariant: the top is never below 0 nor so far down that the view is empty while there are rows.
//! Start at `RowScroll`.

use std::ops::Range;

/// The position of a view over rows of one height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowScroll {
    /// Rows above the top of the view, with the hidden part of the first one.
    top: f64,
    /// Number of rows.
    rows: u64,
    /// Rows that fit into the view.
    visible: f64,
}

/// Smallest part of the scrollbar that the thumb covers.
const MIN_THUMB: f64 = 0.04;

impl RowScroll {
    /// Creates a position at the top of `rows` rows.
    pub fn new(rows: u64) -> Self {
        Self {
            top: 0.0,
            rows,
            visible: 1.0,
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the rows above the view, with the hidden part of the first one.
    pub fn top(&self) -> f64 {
        self.top
    }

    /// Sets the number of rows.
    pub fn set_rows(&mut self, rows: u64) {
        self.rows = rows;
        self.clamp();
    }

    /// Sets the number of rows that fit into the view, which may have a fraction.
    pub fn set_visible(&mut self, visible: f64) {
        self.visible = if visible.is_finite() {
            visible.max(1.0)
        } else {
            1.0
        };
        self.clamp();
    }

    /// Scrolls so that `row` is at the top.
    pub fn set_top(&mut self, row: f64) {
        self.top = if row.is_finite() { row } else { 0.0 };
        self.clamp();
    }

    /// Scrolls down by a number of rows; up if it is negative.
    pub fn scroll_by(&mut self, rows: f64) {
        self.set_top(self.top + rows);
    }

    /// Scrolls as little as is needed to show a row.
    pub fn reveal(&mut self, row: u64) {
        let row = row.min(self.rows.saturating_sub(1)) as f64;
        if row < self.top {
            self.set_top(row);
        } else if row + 1.0 > self.top + self.visible {
            self.set_top(row + 1.0 - self.visible);
        }
    }

    /// Returns the rows of which a part is in sight.
    pub fn shown(&self) -> Range<u64> {
        let first = self.top.floor() as u64;
        let last = (self.top + self.visible).ceil() as u64;
        first..last.min(self.rows)
    }

    /// Returns the number of whole rows of a page.
    pub fn page(&self) -> u64 {
        (self.visible.floor() as u64).saturating_sub(1).max(1)
    }

    /// Returns the start and the length of the scrollbar's thumb as parts of the bar; `None` if all rows are in sight.
    pub fn thumb(&self) -> Option<(f32, f32)> {
        let room = self.max_top();
        if room <= 0.0 {
            return None;
        }
        let length = (self.visible / self.rows as f64).clamp(MIN_THUMB, 1.0);
        let start = self.top / room * (1.0 - length);
        Some((start as f32, length as f32))
    }

    /// Scrolls so that the thumb starts at a part of the bar.
    pub fn set_thumb(&mut self, start: f32) {
        if let Some((_, length)) = self.thumb() {
            let room = f64::from(1.0 - length).max(f64::EPSILON);
            self.set_top(f64::from(start) / room * self.max_top());
        }
    }

    fn max_top(&self) -> f64 {
        (self.rows as f64 - self.visible).max(0.0)
    }

    fn clamp(&mut self) {
        self.top = self.top.clamp(0.0, self.max_top());
    }
}

#[cfg(test)]
mod tests {
    use super::RowScroll;

    #[test]
    fn rows_of_a_huge_file_are_all_reachable() {
        let rows = 6_000_000_000;
        let mut scroll = RowScroll::new(rows);
        scroll.set_visible(40.5);
        assert_eq!(scroll.shown(), 0..41);
        scroll.reveal(rows);
        assert_eq!(scroll.shown(), rows - 41..rows);
        scroll.scroll_by(-1.0);
        assert_eq!(scroll.shown(), rows - 42..rows - 1);
        scroll.reveal(3_000_000_001);
        assert_eq!(scroll.shown().start, 3_000_000_001);
        scroll.reveal(3_000_000_020);
        assert_eq!(scroll.shown().start, 3_000_000_001, "it is in sight");
    }

    #[test]
    fn the_thumb_and_the_rows_agree() {
        let mut scroll = RowScroll::new(1_000);
        scroll.set_visible(100.0);
        assert_eq!(scroll.thumb(), Some((0.0, 0.1)));
        scroll.set_thumb(0.45);
        assert!((scroll.top() - 450.0).abs() < 0.01, "{scroll:?}");
        scroll.set_thumb(7.0);
        assert!((scroll.top() - 900.0).abs() < f64::EPSILON);
        scroll.set_visible(1_000.0);
        assert_eq!((scroll.thumb(), scroll.shown()), (None, 0..1_000));
        scroll.set_rows(0);
        assert_eq!(scroll.shown(), 0..0);
        scroll.set_top(f64::NAN);
        scroll.scroll_by(f64::INFINITY);
        assert_eq!(scroll.shown(), 0..0);
    }
}
