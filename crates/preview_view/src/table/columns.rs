//! The widths of columns.

use std::ops::Range;

use preview::TableRow;

/// Bounds of the width of a column by its texts, in characters.
const WIDTHS: (usize, usize) = (4, 40);
/// Bounds of the width that the user chooses, in characters.
const CHOSEN: (f32, f32) = (2.0, 400.0);
/// Rows from which widths are measured.
const MEASURED_ROWS: usize = 200;

/// The widths of columns, in characters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Columns {
    widths: Vec<f32>,
}

impl Columns {
    /// Returns the number of columns.
    pub(super) fn count(&self) -> usize {
        self.widths.len()
    }

    /// Measures the columns that the rows have and that were not measured yet: a width stays while the user scrolls.
    pub(super) fn measure(&mut self, first: &TableRow, rows: &[TableRow]) {
        let all = || std::iter::once(first).chain(rows);
        let count = all().map(|row| row.fields.len()).max().unwrap_or_default();
        for column in self.widths.len()..count {
            let fields = all()
                .take(MEASURED_ROWS)
                .filter_map(|row| row.fields.get(column));
            let lengths = fields.map(|field| field.chars().take(WIDTHS.1).count());
            let longest = lengths.max().unwrap_or_default().clamp(WIDTHS.0, WIDTHS.1);
            self.widths.push(longest as f32);
        }
    }

    /// Returns the width of a column in characters.
    pub(super) fn width(&self, column: usize) -> f32 {
        self.widths.get(column).copied().unwrap_or_default()
    }

    /// Sets the width of a column, within bounds.
    pub(super) fn set_width(&mut self, column: usize, width: f32) {
        if let Some(own) = self.widths.get_mut(column) {
            *own = width.clamp(CHOSEN.0, CHOSEN.1);
        }
    }

    /// Returns the distance of a column from the first one, in characters and gaps: each column has a gap.
    pub(super) fn left(&self, column: usize, gap: f32) -> f32 {
        let before = self.widths.iter().take(column);
        before.map(|width| width + gap).sum()
    }

    /// Returns the columns of which a part lies between two distances, in characters and gaps.
    pub(super) fn shown(&self, from: f32, to: f32, gap: f32) -> Range<usize> {
        let mut left = 0.0;
        let (mut start, mut end) = (None, 0);
        for (ix, width) in self.widths.iter().enumerate() {
            let right = left + width + gap;
            if right > from && start.is_none() {
                start = Some(ix);
            }
            if left < to {
                end = ix + 1;
            } else {
                break;
            }
            left = right;
        }
        start.map_or(0..0, |start| start..end.max(start))
    }
}

#[cfg(test)]
mod tests {
    use preview::TableRow;

    use super::Columns;

    fn row(fields: &[&str]) -> TableRow {
        TableRow {
            fields: fields.iter().map(|it| (*it).to_owned()).collect(),
            is_cut: false,
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_texts_within_bounds() {
        let mut columns = Columns::default();
        let long = "x".repeat(100);
        columns.measure(&row(&["a", "name"]), &[row(&["1", "somebody", &long])]);
        assert_eq!(columns.widths, [4.0, 8.0, 40.0]);
        columns.set_width(1, 20.0);
        columns.measure(&row(&["a", "name"]), &[row(&["1", "x", "y", "z"])]);
        assert_eq!(columns.widths, [4.0, 20.0, 40.0, 4.0], "known widths stay");
        columns.set_width(0, -5.0);
        columns.set_width(9, 5.0);
        assert_eq!(columns.widths, [2.0, 20.0, 40.0, 4.0]);
    }

    #[test]
    fn only_columns_in_sight_are_shown() {
        let columns = Columns {
            widths: vec![4.0; 10_000],
        };
        assert_eq!(columns.shown(0.0, 10.0, 1.0), 0..2);
        assert_eq!(columns.shown(5.0, 10.0, 1.0), 1..2);
        assert_eq!(columns.shown(4.9, 10.1, 1.0), 0..3);
        assert_eq!(columns.shown(49_999.0, 60_000.0, 1.0), 9_999..10_000);
        assert_eq!(columns.shown(60_000.0, 70_000.0, 1.0), 0..0);
        assert!((columns.left(3, 1.0) - 15.0).abs() < f32::EPSILON);
    }
}
