//! Applies edits: touched lines are wrapped at once within a bound, the rest is reused or left to
//! the background.

use std::sync::atomic::AtomicBool;

use base::{Work, count_work};
use sum_tree::SumTree;

use super::lines::{LineWindow, WrapOutput, broken_lines, wrap_lines};
use super::{
    AtColumn, DisplayRowEdit, LineReplacement, WrapItem, WrapOptions, WrapSummary, WrapTree,
    WrapTreeBuilder, plain,
};
use crate::limits::{ROW_BYTES, SYNC_BYTES};
use crate::shown_text::{LineEdit, ShownText};

/// Rows before an edit that may wrap differently because of it: the one that the edited word might
/// fit in, and one for safety.
const ROWS_BEFORE: u32 = 2;

/// More lines than this are never wrapped one by one.
const SINGLE_LINES: usize = 4;

/// An unchanged end of a line in the previous tree.
#[derive(Clone, Copy)]
struct LineTail {
    line: u32,
    /// Unchanged bytes at the end.
    suffix: usize,
    /// All bytes of the line before.
    old_len: usize,
}

impl WrapTree {
    /// Applies edits of lines and returns the changed rows. `shown` is the text after the edits.
    /// Wraps new lines up to a bound, and marks the others as stale. If `options` is `None`, only
    /// line feeds of inlays break lines into rows.
    pub(crate) fn edit(
        &mut self,
        edits: &[LineEdit],
        shown: &ShownText,
        options: Option<WrapOptions>,
    ) -> Vec<DisplayRowEdit> {
        let mut budget = SYNC_BYTES;
        let mut is_same = Vec::with_capacity(edits.len());
        let mut replacements = Vec::new();
        for edit in edits {
            let items = match options {
                None if edit.has_breaks => broken_lines(shown, edit.new.clone(), self.generation),
                None => plain(edit.new.len() as u32, self.generation),
                Some(options) => self.rewrap(edit, shown, options, &mut budget),
            };
            // Most edits leave a line that has one row with one row: nothing to do.
            let stays = edit.old.len() == 1
                && matches!(items.first(), Some(WrapItem::Plain { lines: 1, generation })
                    if *generation == self.generation)
                && edit.new.len() == 1
                && self.is_plain(edit.old.start);
            is_same.push(stays);
            if !stays {
                replacements.push(LineReplacement {
                    old_lines: edit.old.clone(),
                    items,
                });
            }
        }
        let mut replaced = self.replace(replacements).into_iter();
        let mut shift = 0;
        let mut rows = Vec::with_capacity(edits.len());
        for (edit, is_same) in edits.iter().zip(is_same) {
            if !is_same && let Some(row_edit) = replaced.next() {
                shift = i64::from(row_edit.new_rows.end) - i64::from(row_edit.old_rows.end);
                rows.push(row_edit);
            } else if is_same {
                let row = self.first_row(edit.new.start);
                let old_row = u32::try_from(i64::from(row) - shift).unwrap_or(row);
                rows.push(DisplayRowEdit {
                    lines: edit.new.clone(),
                    old_rows: old_row..old_row + 1,
                    new_rows: row..row + 1,
                });
            }
        }
        rows
    }

    /// Breaks lines into rows at the line feeds of inlays, without wrapping, and returns the
    /// changed rows. `lines` must be sorted.
    pub(crate) fn break_lines(&mut self, lines: &[u32], shown: &ShownText) -> Vec<DisplayRowEdit> {
        let replacements = lines.iter().map(|line| LineReplacement {
            old_lines: *line..line + 1,
            items: broken_lines(shown, *line..line + 1, self.generation),
        });
        self.replace(replacements.collect())
    }

    /// Returns whether a line has one row and needs no check.
    fn is_plain(&self, line: u32) -> bool {
        let target = AtColumn(line, 0);
        let (_, _, item) = self
            .items
            .find::<WrapSummary, _>((), &target, sum_tree::Bias::Right);
        matches!(item, Some(WrapItem::Plain { generation, .. }) if *generation == self.generation)
    }

    /// The rows of the new lines of an edit.
    fn rewrap(
        &self,
        edit: &LineEdit,
        shown: &ShownText,
        options: WrapOptions,
        budget: &mut usize,
    ) -> SumTree<WrapItem> {
        let bytes = shown.line_span(edit.new.end - 1).shown.end
            - shown.line_span(edit.new.start).shown.start;
        if let Some(rest) = budget.checked_sub(bytes) {
            *budget = rest;
            let never = AtomicBool::new(false);
            let lines = edit.new.clone();
            if let Some(items) = wrap_lines(shown, lines, options, self.generation, &never) {
                return items;
            }
        }
        if edit.new.len() > SINGLE_LINES {
            return plain(edit.new.len() as u32, 0);
        }
        let mut builder = WrapTreeBuilder {
            items: SumTree::new(()),
        };
        count_work(Work::Entries, edit.new.len());
        for line in edit.new.clone() {
            // Rows beside a break are indented in their own way: they are not reused.
            let (is_first, is_last) = (line == edit.new.start, line + 1 == edit.new.end);
            let head = (is_first && !edit.has_breaks).then_some((edit.old.start, edit.prefix));
            let tail = (is_last && !edit.has_breaks).then_some(LineTail {
                line: edit.old.end - 1,
                suffix: edit.suffix,
                old_len: edit.old_len,
            });
            let items = self.rewrap_line(line, shown, options, (head, tail), budget);
            builder.append(items.unwrap_or_else(|| plain(1, 0)));
        }
        builder.items
    }

    /// The rows of one long line, those before and behind the edit reused. `None` when there is
    /// more to wrap than the budget allows.
    fn rewrap_line(
        &self,
        line: u32,
        shown: &ShownText,
        options: WrapOptions,
        reuse: (Option<(u32, usize)>, Option<LineTail>),
        budget: &mut usize,
    ) -> Option<SumTree<WrapItem>> {
        let span = shown.line_span(line).shown;
        let mut window = LineWindow::new(shown, span.clone(), 2 * ROW_BYTES);
        let mut next_indent = options.first_indent(window.at(span.start));
        let indent = next_indent.hanging;
        let head = reuse.0.filter(|(old, _)| self.has_rows(*old, indent));
        let tail = reuse.1.filter(|tail| self.has_rows(tail.line, indent));

        if head.is_none() && tail.is_none() && span.len() > *budget {
            return None;
        }
        let mut column = 0;
        let mut builder = WrapTreeBuilder {
            items: SumTree::new(()),
        };
        if let Some((old_line, prefix)) = head {
            column = self.column_before(old_line, prefix.min(span.len()));
            builder.append(self.rows_between(old_line, 0, column));
        }
        if column > 0 {
            next_indent.row = indent;
        }
        let mut out = WrapOutput::new(options, self.generation);
        loop {
            if column > 0
                && let Some(tail) = tail
                && let Some(old_column) = tail.old_column(column, span.len())
                && self.is_row_start(tail.line, old_column)
            {
                out.end_rows(false);
                builder.append(out.finish());
                builder.append(self.rows_between(tail.line, old_column, usize::MAX));
                return Some(builder.items);
            }
            let text = window.at(span.start + column);
            let Some(len) = options.row_len(text, next_indent.row) else {
                if column == 0 {
                    return Some(plain(1, self.generation));
                }
                out.push_row(span.len() - column, next_indent.row, true);
                builder.append(out.finish());
                return Some(builder.items);
            };
            let Some(rest) = budget.checked_sub(len) else {
                *budget = 0;
                let old_column = tail?.old_column(column, span.len())?;
                out.end_rows(false);
                builder.append(out.finish());
                let stale_rows = self.join(tail?.line, old_column, indent);
                builder.append(stale_rows);
                return Some(builder.items);
            };
            *budget = rest;
            // The item says how those behind the first row are indented.
            let shown_indent = if column == 0 { indent } else { next_indent.row };
            out.push_row(len, shown_indent, false);
            next_indent = options.next_indent(next_indent, &text[..len], &text[len..]);
            column += len;
        }
    }

    /// Whether a line has several rows with that indent.
    fn has_rows(&self, line: u32, expected: u32) -> bool {
        let target = AtColumn(line, 0);
        let (_, _, item) = self
            .items
            .find::<WrapSummary, _>((), &target, sum_tree::Bias::Right);
        matches!(item, Some(WrapItem::Rows { indent, .. }) if *indent == expected)
    }

    /// Returns the start of the last row that an edit at `column` cannot affect.
    fn column_before(&self, line: u32, column: usize) -> usize {
        let first = self.first_row(line);
        let row = self.row_at(line, column);
        let kept = row.saturating_sub(ROWS_BEFORE).max(first);
        self.row(kept).columns.map_or(0, |columns| columns.start)
    }

    /// Whether a row other than the first of its line starts at `column`, in bytes of the line.
    fn is_row_start(&self, line: u32, column: usize) -> bool {
        let row = self.row(self.row_at(line, column));
        column > 0 && row.line == line && row.columns.is_some_and(|columns| columns.start == column)
    }

    /// The rows of a line from one row start up to another, or to its end.
    fn rows_between(&self, line: u32, from: usize, to: usize) -> SumTree<WrapItem> {
        let mut cursor = self.items.cursor::<WrapSummary>(());
        cursor.seek(&AtColumn(line, from), sum_tree::Bias::Right);
        let mut rows = SumTree::new(());
        if from < to
            && cursor.start().bytes < from
            && let Some(item) = cursor.item()
        {
            let start = cursor.start().bytes;
            rows.extend(part_of(item, from - start, to.saturating_sub(start)), ());
            if cursor.end().lines > line || cursor.end().bytes >= to {
                return rows;
            }
            cursor.next();
        }
        let end = match to {
            usize::MAX => AtColumn(line + 1, 0),
            _ => AtColumn(line, to),
        };
        rows.append(cursor.slice(&end, sum_tree::Bias::Right), ());
        if to != usize::MAX
            && cursor.start().lines == line
            && cursor.start().bytes < to
            && let Some(item) = cursor.item()
        {
            rows.extend(part_of(item, 0, to - cursor.start().bytes), ());
        }
        rows
    }

    /// A row that leads from the middle of an old row to its end, to be wrapped again later, and
    /// the rows that follow it.
    fn join(&self, line: u32, column: usize, indent: u32) -> SumTree<WrapItem> {
        let row = self.row(self.row_at(line, column));
        let end = row.columns.map_or(column, |columns| columns.end);
        let mut rows = SumTree::from_item(
            WrapItem::Rows {
                lens: [u32::try_from(end - column).unwrap_or(u32::MAX)]
                    .as_slice()
                    .into(),
                indent,
                ends_line: row.is_last,
                generation: 0,
            },
            (),
        );
        if !row.is_last {
            rows.append(self.rows_between(line, end, usize::MAX), ());
        }
        rows
    }
}

impl LineTail {
    /// Maps a column of the new line to the old line, if it lies in the unchanged end.
    fn old_column(&self, column: usize, new_len: usize) -> Option<usize> {
        let behind = new_len.checked_sub(column)?;
        (behind <= self.suffix).then(|| self.old_len - behind)
    }
}

/// The rows of an item between two row starts, in bytes from the item's start.
fn part_of(item: &WrapItem, from: usize, to: usize) -> Option<WrapItem> {
    let WrapItem::Rows {
        lens,
        indent,
        ends_line,
        generation,
    } = item
    else {
        return None;
    };
    let mut at = 0;
    let mut kept = Vec::new();
    let mut reaches_end = false;
    for (ix, len) in lens.iter().enumerate() {
        if at >= from && at < to {
            kept.push(*len);
            reaches_end = ix + 1 == lens.len();
        }
        at += *len as usize;
    }
    (!kept.is_empty()).then(|| WrapItem::Rows {
        lens: kept.into(),
        indent: *indent,
        ends_line: *ends_line && reaches_end,
        generation: *generation,
    })
}
