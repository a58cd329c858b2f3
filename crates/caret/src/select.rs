//! Creates selections: adds carets, splits, collapses, and selects with the pointer.
//!
//! Start at `between`.

use base::{Bias, ByteOffset, Span};
use text::{Selection, SelectionSet};

use crate::command::SelectionUnit;
use crate::context::CommandContext;
use crate::motion::on_border;
use crate::motion::vertical::at_cell;
use crate::rows::{RowDirection, line_of, rows_of};
use crate::words::WordScanner;

/// Selects from one offset to another by whole units, with the caret at `to`. Replaces every
/// selection, or only the newest if `keep_others` is set.
pub(crate) fn between(
    ctx: &CommandContext,
    from: ByteOffset,
    to: ByteOffset,
    unit: SelectionUnit,
    keep_others: bool,
) -> SelectionSet {
    let (from, to) = (on_border(ctx.snapshot, from), on_border(ctx.snapshot, to));
    let (first, last) = (unit_at(ctx, from, unit), unit_at(ctx, to, unit));
    let selection = if to < from {
        Selection::new(first.end, last.start)
    } else {
        Selection::new(first.start, last.end)
    };
    if !keep_others {
        return SelectionSet::single(selection);
    }
    let newest = ctx.selections.primary_ix();
    let others = ctx
        .selections
        .iter()
        .enumerate()
        .filter(|(ix, _)| *ix != newest);
    let mut all: Vec<Selection> = others.map(|(_, other)| *other).collect();
    // The one that is being made wins over those it runs into.
    all.retain(|other| !other.span().overlaps(selection.span()));
    all.push(selection);
    let primary = all.len() - 1;
    SelectionSet::new(all, primary)
}

fn unit_at(ctx: &CommandContext, offset: ByteOffset, unit: SelectionUnit) -> Span {
    match unit {
        SelectionUnit::Character => Span::at(offset),
        SelectionUnit::Word => WordScanner::of(ctx).run_around(offset),
        SelectionUnit::Row => line_of(ctx, ctx.snapshot.point_at(offset).row).span(ctx.snapshot),
    }
}

/// Adds a caret at an offset. If one of several selections already contains this offset, removes
/// that selection instead.
pub(crate) fn toggle_caret(ctx: &CommandContext, offset: ByteOffset) -> SelectionSet {
    let offset = on_border(ctx.snapshot, offset);
    let is_there = |selection: &Selection| selection.start() <= offset && offset <= selection.end();
    let mut all: Vec<Selection> = ctx.selections.iter().copied().collect();
    if all.len() > 1 && all.iter().any(is_there) {
        all.retain(|selection| !is_there(selection));
        if !all.is_empty() {
            let primary = all.len() - 1;
            return SelectionSet::new(all, primary);
        }
        return ctx.selections.clone();
    }
    all.push(Selection::caret(offset));
    let primary = all.len() - 1;
    SelectionSet::new(all, primary)
}

/// Adds, for every selection, another selection over the same columns in the display row above or
/// below.
pub(crate) fn add_carets(ctx: &CommandContext, way: RowDirection) -> SelectionSet {
    let last = ctx.display.last_row();
    let mut all: Vec<Selection> = ctx.selections.iter().copied().collect();
    let mut added: Vec<Selection> = Vec::new();
    for selection in ctx.selections.iter() {
        let head = ctx.display.to_display(selection.head, Bias::Right);
        let anchor = ctx.display.to_display(selection.anchor, Bias::Right);
        let row = match way {
            RowDirection::Up if head.row.0 > 0 => head.row - 1,
            RowDirection::Down if head.row < last => head.row + 1,
            _ => continue,
        };
        let goal = selection.goal.unwrap_or(head.cell);
        let offset = at_cell(ctx, row, goal);
        // A selection over several rows is followed by a caret.
        let anchor = if anchor.row == head.row && !selection.is_empty() {
            at_cell(ctx, row, anchor.cell)
        } else {
            offset
        };
        added.push(Selection {
            anchor,
            head: offset,
            goal: Some(goal),
        });
    }
    added.retain(|new| !touches(ctx.selections, new));
    let newest = match way {
        RowDirection::Up => added.first().copied(),
        RowDirection::Down => added.last().copied(),
    };
    all.extend(&added);
    let primary = newest.and_then(|newest| all.iter().rposition(|selection| *selection == newest));
    SelectionSet::new(all, primary.unwrap_or(ctx.selections.primary_ix()))
}

/// Whether a new selection would merge with one that is there.
fn touches(selections: &SelectionSet, new: &Selection) -> bool {
    let sorted = selections.as_slice();
    let ix = sorted.partition_point(|selection| selection.end() < new.start());
    sorted
        .get(ix)
        .is_some_and(|selection| selection.start() <= new.end())
}

/// Splits every selection into one per row, without line endings.
pub(crate) fn split_into_rows(ctx: &CommandContext) -> SelectionSet {
    let snapshot = ctx.snapshot;
    let mut split = Vec::new();
    for selection in ctx.selections.iter() {
        for row in rows_of(snapshot, selection).rows() {
            let start = snapshot.row_start(row).max(selection.start());
            let end = snapshot.row_end(row).min(selection.end()).max(start);
            split.push(Selection::new(start, end));
        }
    }
    let primary = split.len() - 1;
    SelectionSet::new(split, primary)
}

/// Returns a caret at the end of every row that a selection touches, in place of the selections.
pub(crate) fn at_row_ends(ctx: &CommandContext) -> SelectionSet {
    let rows = ctx
        .selections
        .iter()
        .flat_map(|selection| rows_of(ctx.snapshot, selection).rows());
    let carets: Vec<Selection> = rows
        .map(|row| Selection::caret(ctx.snapshot.row_end(row)))
        .collect();
    let primary = carets.len() - 1;
    SelectionSet::new(carets, primary)
}

/// Keeps only the newest selection. If there is only one selection, reduces this selection to its
/// caret.
pub(crate) fn collapse(ctx: &CommandContext) -> SelectionSet {
    let newest = *ctx.selections.primary();
    if ctx.selections.len() > 1 {
        SelectionSet::single(newest)
    } else {
        SelectionSet::single(Selection::caret(newest.head))
    }
}

/// Selects the whole text.
pub(crate) fn all(ctx: &CommandContext) -> SelectionSet {
    SelectionSet::single(Selection::new(ByteOffset(0), ctx.snapshot.len()))
}

/// Selects the word at every caret, or the run of other characters if there is no word. Non-empty
/// selections stay unchanged.
pub(crate) fn words_at_carets(ctx: &CommandContext) -> SelectionSet {
    let words = WordScanner::of(ctx);
    ctx.selections.transform(|selection| {
        if selection.is_empty() {
            let span = words.run_around(selection.head);
            Selection::new(span.start, span.end)
        } else {
            *selection
        }
    })
}
