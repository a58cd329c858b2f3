//! The wrap layer: splits lines into rows.
//!
//! Lines with one row, and lines not wrapped yet, are stored as runs; for the others, the byte
//! length of each row. Everything is stamped with the generation of the options it was wrapped
//! with: older items wait for the background and are used as they are until then.
//! Invariant: a line's rows cover its shown bytes without gaps, each row at least one byte.
//! Start at `WrapTree`; `edit` applies edits, `breaks` determines row ends.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use sum_tree::{ContextLessSummary, Cursor, Item, SeekTarget, SumTree};

pub(crate) use breaks::WrapOptions;
pub(crate) use lines::wrap_lines;

mod breaks;
mod edit;
mod lines;

/// The display rows of all lines, stored as the number of bytes of each row. Cheap to clone.
#[derive(Clone)]
pub(crate) struct WrapTree {
    items: SumTree<WrapItem>,
    /// Generation of the current options; older items are stale.
    generation: u32,
}

/// One display row as a part of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrapRow {
    pub(crate) line: u32,
    /// Bytes of the line; `None` for all of it.
    pub(crate) columns: Option<Range<usize>>,
    pub(crate) indent: u32,
    pub(crate) is_last: bool,
}

/// A run of display rows that was replaced by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DisplayRowEdit {
    /// The lines in the new numbering.
    pub(crate) lines: Range<u32>,
    pub(crate) old_rows: Range<u32>,
    pub(crate) new_rows: Range<u32>,
}

/// Lines to replace, and their new items.
pub(crate) struct LineReplacement {
    pub(crate) old_lines: Range<u32>,
    pub(crate) items: SumTree<WrapItem>,
}

/// An item of the tree: a run of lines that are not wrapped, or rows of one wrapped line.
#[derive(Clone, Debug)]
pub(crate) enum WrapItem {
    /// Lines of one row each.
    Plain { lines: u32, generation: u32 },
    /// Some rows of one line.
    Rows {
        /// Shown bytes of each row.
        lens: Arc<[u32]>,
        /// Cells before every row but the line's first.
        indent: u32,
        ends_line: bool,
        generation: u32,
    },
}

/// Totals over a run of items, by which the tree is searched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrapSummary {
    pub(crate) lines: u32,
    /// Shown bytes behind the last line end.
    pub(crate) bytes: usize,
    pub(crate) rows: u32,
    /// The smallest generation; the largest number when there is none.
    oldest: u32,
}

impl ContextLessSummary for WrapSummary {
    fn zero() -> Self {
        Self {
            lines: 0,
            bytes: 0,
            rows: 0,
            oldest: u32::MAX,
        }
    }

    fn add_summary(&mut self, next: &Self) {
        if next.lines > 0 {
            self.bytes = next.bytes;
        } else {
            self.bytes += next.bytes;
        }
        self.lines += next.lines;
        self.rows += next.rows;
        self.oldest = self.oldest.min(next.oldest);
    }
}

impl Item for WrapItem {
    type Summary = WrapSummary;

    fn summary(&self, (): ()) -> WrapSummary {
        match self {
            WrapItem::Plain { lines, generation } => WrapSummary {
                lines: *lines,
                bytes: 0,
                rows: *lines,
                oldest: *generation,
            },
            WrapItem::Rows {
                lens,
                ends_line,
                generation,
                ..
            } => WrapSummary {
                lines: u32::from(*ends_line),
                bytes: if *ends_line { 0 } else { bytes_of(lens) },
                rows: lens.len() as u32,
                oldest: *generation,
            },
        }
    }
}

/// Returns the total bytes of rows, given the byte length of each.
fn bytes_of(lens: &[u32]) -> usize {
    lens.iter().map(|len| *len as usize).sum()
}

/// A seek target: the number of a line, and the offset of a byte in this line.
pub(crate) struct AtColumn(pub(crate) u32, pub(crate) usize);

impl SeekTarget<'_, WrapSummary, WrapSummary> for AtColumn {
    fn cmp(&self, place: &WrapSummary, (): ()) -> Ordering {
        (self.0, self.1).cmp(&(place.lines, place.bytes))
    }
}

/// Seeks a row by its number.
struct AtRow(u32);

impl SeekTarget<'_, WrapSummary, WrapSummary> for AtRow {
    fn cmp(&self, place: &WrapSummary, (): ()) -> Ordering {
        self.0.cmp(&place.rows)
    }
}

impl WrapTree {
    /// Creates a tree in which every line has one row. If `is_known` is true, this is final.
    /// Otherwise all lines are stale.
    pub(crate) fn new(lines: u32, is_known: bool) -> Self {
        let generation = 1;
        let stamp = if is_known { generation } else { 0 };
        Self {
            items: plain(lines, stamp),
            generation,
        }
    }

    /// Returns the number of display rows.
    pub(crate) fn row_count(&self) -> u32 {
        self.items.summary().rows
    }

    /// Returns the number of lines.
    pub(crate) fn line_count(&self) -> u32 {
        self.items.summary().lines
    }

    /// Returns the generation of the options, which `grow_stale` increases.
    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns a display row by its number. For a number past the end, returns the last row.
    pub(crate) fn row(&self, row: u32) -> WrapRow {
        let row = row.min(self.row_count().saturating_sub(1));
        let (start, _, item) =
            self.items
                .find::<WrapSummary, _>((), &AtRow(row), sum_tree::Bias::Right);
        match item {
            Some(WrapItem::Rows {
                lens,
                indent,
                ends_line,
                ..
            }) => {
                let ix = (row - start.rows) as usize;
                let from = start.bytes + bytes_of(&lens[..ix]);
                WrapRow {
                    line: start.lines,
                    columns: Some(from..from + lens[ix] as usize),
                    indent: if from == 0 { 0 } else { *indent },
                    is_last: *ends_line && ix + 1 == lens.len(),
                }
            }
            Some(WrapItem::Plain { .. }) | None => WrapRow {
                line: start.lines + (row - start.rows),
                columns: None,
                indent: 0,
                is_last: true,
            },
        }
    }

    /// Returns the display row that shows a byte of a line. At the border of two rows, returns the
    /// second row.
    pub(crate) fn row_at(&self, line: u32, column: usize) -> u32 {
        let target = AtColumn(line, column);
        let (start, _, item) =
            self.items
                .find::<WrapSummary, _>((), &target, sum_tree::Bias::Right);
        match item {
            Some(WrapItem::Rows { lens, .. }) => {
                let mut end = start.bytes;
                let passed = lens[..lens.len() - 1].iter().take_while(|len| {
                    end += **len as usize;
                    end <= column
                });
                start.rows + passed.count() as u32
            }
            Some(WrapItem::Plain { .. }) => start.rows + (line - start.lines),
            None => self.row_count().saturating_sub(1),
        }
    }

    /// Returns the display row that begins a line. For a line past the last one, returns the number
    /// of rows.
    pub(crate) fn first_row(&self, line: u32) -> u32 {
        if line >= self.line_count() {
            return self.row_count();
        }
        self.row_at(line, 0)
    }

    /// Marks all rows as stale. They stay as they are until they are wrapped again.
    pub(crate) fn grow_stale(&mut self) {
        self.generation += 1;
    }

    /// Makes one row of every line, as its final state, and returns the change of rows.
    pub(crate) fn unwrap_all(&mut self) -> DisplayRowEdit {
        self.generation += 1;
        let (lines, old_rows) = (self.line_count(), self.row_count());
        self.items = plain(lines, self.generation);
        DisplayRowEdit {
            lines: 0..lines,
            old_rows: 0..old_rows,
            new_rows: 0..lines,
        }
    }

    /// Returns whether a line is wrapped with the current options.
    #[cfg(test)]
    pub(crate) fn is_fresh(&self, line: u32) -> bool {
        self.stale_lines(line, usize::MAX)
            .is_none_or(|stale| stale.start > line)
    }

    /// Returns the first run of stale lines at or after `from`, looking at at most `max_items`
    /// items. Returns `None` if all these lines are fresh.
    pub(crate) fn stale_lines(&self, from: u32, max_items: usize) -> Option<Range<u32>> {
        if self.items.summary().oldest >= self.generation {
            return None;
        }
        let mut cursor = self.items.cursor::<WrapSummary>(());
        cursor.seek(&AtColumn(from, 0), sum_tree::Bias::Right);
        let generation = self.generation;
        if cursor
            .item_summary()
            .is_some_and(|item| item.oldest >= generation)
        {
            cursor.search_forward(|summary| summary.oldest < generation);
        }
        cursor.item()?;
        let start = cursor.start().lines.max(from);
        let mut end = start;
        let mut count = 0;
        while let Some(summary) = cursor.item_summary()
            && summary.oldest < generation
            && count < max_items
        {
            end = cursor.end().lines;
            count += 1;
            cursor.next();
        }
        // The last item may not be the end of its line.
        let is_open = cursor.start().bytes > 0;
        Some(
            start
                ..(end + u32::from(is_open))
                    .max(start + 1)
                    .min(self.line_count()),
        )
    }

    /// Replaces lines by new items and returns the changed rows. `replacements` must be sorted and
    /// disjoint.
    pub(crate) fn replace(&mut self, replacements: Vec<LineReplacement>) -> Vec<DisplayRowEdit> {
        if replacements.is_empty() {
            return Vec::new();
        }
        let old = std::mem::replace(&mut self.items, SumTree::new(()));
        let mut builder = WrapTreeBuilder {
            items: SumTree::new(()),
        };
        let mut edits = Vec::new();
        let mut copied = 0;
        let mut cursor = old.cursor::<WrapSummary>(());
        cursor.next();
        for replacement in replacements {
            let Range { start, end } = replacement.old_lines;
            builder.copy_lines(&mut cursor, copied..start);
            let first_row = row_at_line(&cursor, start);
            cursor.seek_forward(&AtColumn(end, 0), sum_tree::Bias::Right);
            let old_rows = first_row..row_at_line(&cursor, end);
            let before = *builder.items.summary();
            builder.append(replacement.items);
            let after = *builder.items.summary();
            edits.push(DisplayRowEdit {
                lines: before.lines..after.lines,
                old_rows,
                new_rows: before.rows..after.rows,
            });
            copied = end;
        }
        builder.copy_lines(&mut cursor, copied..old.summary().lines);
        self.items = builder.items;
        edits
    }
}

/// Returns the items for a run of lines of one row each. `generation` is the generation of the
/// options with which the lines were wrapped.
pub(crate) fn plain(lines: u32, generation: u32) -> SumTree<WrapItem> {
    if lines == 0 {
        return SumTree::new(());
    }
    SumTree::from_item(WrapItem::Plain { lines, generation }, ())
}

/// Returns the first row of a line, with the cursor at the line's item or end.
fn row_at_line(cursor: &Cursor<'_, '_, WrapItem, WrapSummary>, line: u32) -> u32 {
    let start = cursor.start();
    start.rows + (line - start.lines)
}

/// Appends items, joining runs.
struct WrapTreeBuilder {
    items: SumTree<WrapItem>,
}

impl WrapTreeBuilder {
    fn push_plain(&mut self, more: u32, stamp: u32) {
        if more == 0 {
            return;
        }
        let joins = matches!(
            self.items.last(),
            Some(WrapItem::Plain { generation, .. }) if *generation == stamp
        );
        if !joins {
            let item = WrapItem::Plain {
                lines: more,
                generation: stamp,
            };
            return self.items.push(item, ());
        }
        self.items.update_last(
            |item| {
                if let WrapItem::Plain { lines, .. } = item {
                    *lines += more;
                }
            },
            (),
        );
    }

    fn append(&mut self, run: SumTree<WrapItem>) {
        let Some(WrapItem::Plain { lines, generation }) = run.first() else {
            return self.items.append(run, ());
        };
        self.push_plain(*lines, *generation);
        let mut cursor = run.cursor::<WrapSummary>(());
        cursor.next();
        cursor.next();
        let tail = cursor.suffix();
        self.items.append(tail, ());
    }

    /// Copies lines from the cursor on, and moves the cursor after them.
    fn copy_lines(
        &mut self,
        cursor: &mut Cursor<'_, '_, WrapItem, WrapSummary>,
        lines: Range<u32>,
    ) {
        if lines.is_empty() {
            return;
        }
        if let Some(WrapItem::Plain { generation, .. }) = cursor.item() {
            let item_end = cursor.end().lines;
            self.push_plain(item_end.min(lines.end) - lines.start, *generation);
            if item_end > lines.end {
                return;
            }
            cursor.next();
        }
        let run = cursor.slice(&AtColumn(lines.end, 0), sum_tree::Bias::Right);
        self.append(run);
        if let Some(WrapItem::Plain { generation, .. }) = cursor.item() {
            let start = cursor.start().lines;
            self.push_plain(lines.end.saturating_sub(start), *generation);
        }
    }
}
