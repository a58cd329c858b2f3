//! Space that keeps the rows of two texts side by side, and the rows of one that belong to rows of the other.
//!
//! Pure. Invariant: with the space, an excerpt has the same height on both sides, and equal rows are side by side.

use base::Row;
use git::staging::DiffHunk;
use text::RowSpan;

/// The rows of an excerpt on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExcerptRows {
    pub(super) before: RowSpan,
    pub(super) after: RowSpan,
}

/// The rows beside which a space lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpacePlace {
    /// Above a row.
    Above(Row),
    /// Below a row.
    Below(Row),
}

/// Space on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space {
    pub(super) place: SpacePlace,
    /// Height in rows.
    pub(super) rows: u32,
}

/// Returns the rows of the text before that belong to rows of the text after; never empty. `hunks` are those of the whole
/// file, and `row_count` is the number of rows of the text before.
pub(super) fn rows_before(hunks: &[DiffHunk], after: RowSpan, row_count: u32) -> RowSpan {
    let start = row_before(hunks, after.start, |hunk| hunk.base.start);
    let end = row_before(hunks, after.end, |hunk| hunk.base.end);
    let last = Row(row_count.saturating_sub(1));
    let start = start.min(last);
    RowSpan {
        start,
        end: end.min(Row(row_count)).max(start + 1),
    }
}

/// Maps a row; one within a hunk to the end of the hunk that `within` names.
fn row_before(hunks: &[DiffHunk], row: Row, within: fn(&DiffHunk) -> Row) -> Row {
    let above = hunks.partition_point(|hunk| hunk.work.end <= row);
    match hunks.get(above) {
        Some(hunk) if hunk.work.start < row => within(hunk),
        _ => match above.checked_sub(1).and_then(|ix| hunks.get(ix)) {
            // A pure deletion at the end of an excerpt belongs to it, and one at its start as well.
            Some(hunk) if hunk.work.is_empty() && hunk.work.start == row => within(hunk),
            Some(hunk) => hunk.base.end + (row.0 - hunk.work.end.0),
            None => row,
        },
    }
}

/// Returns the space that each side of an excerpt needs, from the top to the bottom: before, after.
pub(super) fn spaces(hunks: &[DiffHunk], rows: &ExcerptRows) -> [Vec<Space>; 2] {
    let mut spaces = [Vec::new(), Vec::new()];
    let mut heights = [rows.before.len(), rows.after.len()];
    let first = hunks.partition_point(|hunk| hunk.work.end < rows.after.start);
    let near = hunks[first..].iter();
    for hunk in near.take_while(|hunk| hunk.work.start <= rows.after.end) {
        let base = clipped(hunk.base, rows.before);
        let work = clipped(hunk.work, rows.after);
        let (Some(base), Some(work)) = (base, work) else {
            continue;
        };
        let (removed, added) = (base.len(), work.len());
        if removed < added {
            spaces[0].push(below(base.end, rows.before, added - removed));
            heights[0] += added - removed;
        } else if added < removed {
            spaces[1].push(below(work.end, rows.after, removed - added));
            heights[1] += removed - added;
        }
    }
    let [before, after] = heights;
    if before < after {
        spaces[0].push(below(rows.before.end, rows.before, after - before));
    } else if after < before {
        spaces[1].push(below(rows.after.end, rows.after, before - after));
    }
    spaces
}

/// Returns the rows of a hunk within an excerpt; `None` if they do not touch it.
fn clipped(rows: RowSpan, within: RowSpan) -> Option<RowSpan> {
    let start = rows.start.max(within.start);
    let end = rows.end.min(within.end);
    (start <= end).then_some(RowSpan { start, end })
}

/// Returns the space that begins at `row`, which may be the end of the excerpt.
fn below(row: Row, excerpt: RowSpan, rows: u32) -> Space {
    let place = if row < excerpt.end {
        SpacePlace::Above(row)
    } else {
        SpacePlace::Below(excerpt.end - 1)
    };
    Space { place, rows }
}

/// Returns the place above a row of an excerpt, or at its end.
pub(super) fn place_at(row: Row, excerpt: RowSpan) -> SpacePlace {
    below(row, excerpt, 0).place
}

#[cfg(test)]
mod tests {
    use base::Row;
    use git::merge::{EntryMode, TreePath};
    use git::staging::{DiffHunk, FileDiff, Side};
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use text::RowSpan;

    use super::{ExcerptRows, Space, SpacePlace, rows_before, spaces};

    fn rows(start: u32, end: u32) -> RowSpan {
        RowSpan {
            start: Row(start),
            end: Row(end),
        }
    }

    fn hunks(base: &str, work: &str) -> Vec<DiffHunk> {
        let content = |text: &str| Some((EntryMode::Plain, text.as_bytes().to_vec()));
        let path = TreePath::new("a");
        FileDiff::of_contents(&path, Side::Unstaged, content(base), content(work)).hunks
    }

    /// Returns the rows of a side from the top to the bottom; `None` for a row of space.
    fn column(span: RowSpan, spaces: &[Space]) -> Vec<Option<u32>> {
        let mut column = Vec::new();
        let add = |place: SpacePlace, column: &mut Vec<Option<u32>>| {
            let found = spaces.iter().filter(|space| space.place == place);
            let count: u32 = found.map(|space| space.rows).sum();
            column.extend((0..count).map(|_| None));
        };
        for row in span.start.0..span.end.0 {
            add(SpacePlace::Above(Row(row)), &mut column);
            column.push(Some(row));
            add(SpacePlace::Below(Row(row)), &mut column);
        }
        column
    }

    /// Returns both columns of an excerpt of the text after.
    fn columns(base: &str, work: &str, after: RowSpan) -> [Vec<Option<u32>>; 2] {
        let hunks = hunks(base, work);
        let count = base.split('\n').count() as u32;
        let before = rows_before(&hunks, after, count);
        let [left, right] = spaces(&hunks, &ExcerptRows { before, after });
        [column(before, &left), column(after, &right)]
    }

    #[test]
    fn added_and_removed_rows_have_space_beside_them() {
        let [left, right] = columns("a\nb\nc\n", "a\nx\ny\nb\n", rows(0, 5));
        assert_eq!(left, [Some(0), None, None, Some(1), Some(2), Some(3)]);
        assert_eq!(right, [Some(0), Some(1), Some(2), Some(3), None, Some(4)]);
    }

    #[test]
    fn a_new_and_a_deleted_file_have_equal_heights() {
        let [left, right] = columns("", "a\nb\n", rows(0, 3));
        assert_eq!(left, [None, None, Some(0)]);
        assert_eq!(right, [Some(0), Some(1), Some(2)]);
        let [left, right] = columns("a\nb\n", "", rows(0, 1));
        assert_eq!(left, [Some(0), Some(1), Some(2)]);
        assert_eq!(right, [None, None, Some(0)]);
    }

    #[test]
    fn equal_rows_of_random_texts_are_side_by_side() {
        let seed = rand::random();
        println!("seed {seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        let text = |rng: &mut StdRng| -> String {
            let lines = (0..rng.random_range(0..14)).map(|_| rng.random_range(0..4));
            lines.map(|line: u32| format!("{line}\n")).collect()
        };
        for _ in 0..2_000 {
            let (base, work) = (text(&mut rng), text(&mut rng));
            let count = work.split('\n').count() as u32;
            let [left, right] = columns(&base, &work, rows(0, count));
            assert_eq!(left.len(), right.len(), "{base:?} {work:?}");
            let (before, after): (Vec<&str>, Vec<&str>) =
                (base.split('\n').collect(), work.split('\n').collect());
            let changed = hunks(&base, &work);
            for pair in left.iter().zip(&right) {
                let (Some(one), Some(two)) = pair else {
                    continue;
                };
                let is_changed = |row: u32| {
                    let mut spans = changed.iter().map(|hunk| hunk.work);
                    spans.any(|span| span.contains(Row(row)))
                };
                if !is_changed(*two) {
                    let pair = (before[*one as usize], after[*two as usize]);
                    assert_eq!(pair.0, pair.1, "{base:?} {work:?}");
                }
            }
        }
    }
}
