//! Whole rows: moving, copying, joining, sorting and deleting them.
//!
//! Rows that several selections touch, or that follow each other, make one group. Rows that folds join
//! into one line count as one row. A last row without a line ending borrows one from its neighbour and
//! gives it back. Start at `row_groups`.

use std::collections::HashSet;

use base::{Bias, ByteOffset, Row, Span};
use text::{EditKind, Selection, SelectionSet, Snapshot};

use crate::context::{CaretPlan, CommandContext};
use crate::draft::{EditDraft, SelectionEdit, replace_each, reversed};
use crate::motion::horizontal::first_non_blank;

/// Maximum number of rows replaced one by one; more are replaced at once.
const MAX_ROW_EDITS: usize = 10_000;

/// Consecutive rows, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowRange {
    pub(crate) first: Row,
    pub(crate) last: Row,
}

impl RowRange {
    /// Iterates over the rows, first to last.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = Row> + use<> {
        (self.first.0..self.last.0 + 1).map(Row)
    }

    /// Returns the span of the rows, including all line endings.
    pub(crate) fn span(&self, snapshot: &Snapshot) -> Span {
        Span::new(
            snapshot.row_start(self.first),
            snapshot.row_span_with_ending(self.last).end,
        )
    }

    /// Returns the span of the rows without the last line ending.
    pub(crate) fn inner_span(&self, snapshot: &Snapshot) -> Span {
        Span::new(snapshot.row_start(self.first), snapshot.row_end(self.last))
    }
}

/// Returns the rows of a selection. A selection that ends at the start of a row does not touch that
/// row.
pub(crate) fn rows_of(snapshot: &Snapshot, selection: &Selection) -> RowRange {
    let first = snapshot.point_at(selection.start()).row;
    let mut last = snapshot.point_at(selection.end()).row;
    if last > first && snapshot.row_start(last) == selection.end() {
        last -= 1;
    }
    RowRange { first, last }
}

/// Returns the rows that folds join with a row into one line of the display. Without folds, returns
/// this row alone.
pub(crate) fn line_of(ctx: &CommandContext, row: Row) -> RowRange {
    let rows = ctx.display.joined_rows(row);
    RowRange {
        first: rows.start,
        last: rows.end - 1,
    }
}

/// Returns the rows of a selection, extended by the rows that folds join with them.
pub(crate) fn lines_of(ctx: &CommandContext, selection: &Selection) -> RowRange {
    let rows = rows_of(ctx.snapshot, selection);
    RowRange {
        first: line_of(ctx, rows.first).first,
        last: line_of(ctx, rows.last).last,
    }
}

/// The folds within `span`, moved to its copy, which starts at `landing` after the edits.
fn folds_of_copy(ctx: &CommandContext, span: Span, landing: ByteOffset) -> Vec<Span> {
    let folds = ctx.display.folds_in(span).into_iter();
    folds
        .filter(|fold| span.covers(*fold))
        .map(|fold| {
            let start = landing + (fold.start - span.start);
            Span::new(start, start + fold.len())
        })
        .collect()
}

/// Returns the rows of all selections, as maximal groups of consecutive rows, in order.
pub(crate) fn row_groups(ctx: &CommandContext) -> Vec<RowRange> {
    let mut groups: Vec<RowRange> = Vec::new();
    for selection in ctx.selections.iter() {
        let range = lines_of(ctx, selection);
        match groups.last_mut() {
            Some(group) if range.first <= group.last + 1 => group.last = group.last.max(range.last),
            _ => groups.push(range),
        }
    }
    groups
}

/// Returns the groups of selected rows. If a single selection lies within one row, returns all rows
/// of the text.
pub(crate) fn selected_or_all(ctx: &CommandContext) -> Vec<RowRange> {
    let groups = row_groups(ctx);
    let is_caret_only =
        ctx.selections.len() == 1 && groups.iter().all(|group| group.first == group.last);
    if is_caret_only {
        vec![RowRange {
            first: Row(0),
            last: last_row_with_text(ctx.snapshot),
        }]
    } else {
        groups
    }
}

/// The last row, unless it is the empty one behind the last line ending.
fn last_row_with_text(snapshot: &Snapshot) -> Row {
    let last = snapshot.last_row();
    if snapshot.row_start(last) == snapshot.len() {
        last - 1
    } else {
        last
    }
}

/// Direction in which rows are moved or duplicated, or carets added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowDirection {
    Up,
    Down,
}

/// Swaps every group of selected rows with the row before or after the group. A group at the edge
/// of the text stays. Folds move together with their rows.
pub(crate) fn move_rows(ctx: &CommandContext, way: RowDirection) -> CaretPlan {
    let snapshot = ctx.snapshot;
    let mut draft = EditDraft::new();
    let mut fold = Vec::new();
    for group in row_groups(ctx) {
        let span = group.span(snapshot);
        let ending = line_ending_of(snapshot, group.last);
        if way == RowDirection::Up && group.first.0 > 0 {
            let before = line_of(ctx, group.first - 1);
            let inner = before.inner_span(snapshot);
            let before_ending = line_ending_of(snapshot, before.last);
            draft.push(before.span(snapshot), "");
            let text = snapshot.text(inner).into_owned();
            let (text, lead) = if ending.is_empty() {
                (before_ending.clone() + &text, before_ending.len())
            } else {
                (text + &before_ending, 0)
            };
            let landing = draft.push(Span::at(span.end), text);
            fold.extend(folds_of_copy(ctx, inner, landing + lead));
        } else if way == RowDirection::Down && group.last < snapshot.last_row() {
            let behind = line_of(ctx, group.last + 1);
            let inner = behind.inner_span(snapshot);
            let behind_ending = line_ending_of(snapshot, behind.last);
            let is_last = behind_ending.is_empty();
            let new_ending = if is_last { ending } else { behind_ending };
            let text = snapshot.text(inner).into_owned() + &new_ending;
            let landing = draft.push(Span::at(span.start), text);
            fold.extend(folds_of_copy(ctx, inner, landing));
            let from = if is_last {
                snapshot.row_end(group.last)
            } else {
                inner.start
            };
            draft.push(Span::new(from, behind.span(snapshot).end), "");
        }
    }
    let selections = match way {
        RowDirection::Up => {
            draft.map_selections(ctx.selections, Bias::Left, Bias::Left, Bias::Left)
        }
        RowDirection::Down => {
            draft.map_selections(ctx.selections, Bias::Right, Bias::Right, Bias::Right)
        }
    };
    CaretPlan {
        fold,
        ..draft.into_plan(selections, EditKind::Other)
    }
}

/// The characters that end a row; none for the last.
fn line_ending_of(snapshot: &Snapshot, row: Row) -> String {
    let span = Span::new(
        snapshot.row_end(row),
        snapshot.row_span_with_ending(row).end,
    );
    snapshot.text(span).into_owned()
}

/// Copies every group of selected rows. `way` decides whether the selections are on the upper or
/// the lower copy afterwards.
pub(crate) fn duplicate_rows(ctx: &CommandContext, way: RowDirection) -> CaretPlan {
    let snapshot = ctx.snapshot;
    let mut draft = EditDraft::new();
    let mut fold = Vec::new();
    for group in row_groups(ctx) {
        let span = group.span(snapshot);
        let text = snapshot.text(span).into_owned();
        let lacks_ending = line_ending_of(snapshot, group.last).is_empty();
        let ending = if lacks_ending {
            ctx.line_ending.as_str()
        } else {
            ""
        };
        let landing = match way {
            RowDirection::Down => draft.push(Span::at(span.start), text + ending),
            RowDirection::Up => {
                draft.push(Span::at(span.end), ending.to_owned() + &text) + ending.len()
            }
        };
        fold.extend(folds_of_copy(ctx, span, landing));
    }
    let bias = if way == RowDirection::Down {
        Bias::Right
    } else {
        Bias::Left
    };
    let mut selections = draft.map_selections(ctx.selections, bias, bias, bias);
    if way == RowDirection::Down {
        // An end at the start of the row behind its group stays before the next group's copy.
        selections = draft.map_selections(ctx.selections, Bias::Right, Bias::Left, Bias::Right);
    }
    CaretPlan {
        fold,
        ..draft.into_plan(selections, EditKind::Other)
    }
}

/// Inserts a copy of every selection after the selection and selects the copy. If all selections
/// are empty, copies their rows downwards.
pub(crate) fn duplicate_selections(ctx: &CommandContext) -> CaretPlan {
    if ctx.selections.iter().all(Selection::is_empty) {
        return duplicate_rows(ctx, RowDirection::Down);
    }
    let mut draft = EditDraft::new();
    let mut after = Vec::with_capacity(ctx.selections.len());
    for selection in ctx.selections.iter() {
        let text = ctx.snapshot.text(selection.span());
        let landing = draft.push(Span::at(selection.end()), text);
        let copy = Selection::new(landing, landing + selection.span().len());
        after.push(if selection.is_reversed() {
            reversed(copy)
        } else {
            copy
        });
    }
    let selections = SelectionSet::new(after, ctx.selections.primary_ix());
    draft.into_plan(selections, EditKind::Other)
}

/// Joins the rows of every selection into one row. A selection within one row joins this row with
/// the next. Replaces each line ending and the indentation after it by a single space, and removes
/// both beside brackets.
pub(crate) fn join_rows(ctx: &CommandContext) -> CaretPlan {
    let snapshot = ctx.snapshot;
    let mut draft = EditDraft::new();
    let mut joined: Option<Row> = None;
    for selection in ctx.selections.iter() {
        let range = lines_of(ctx, selection);
        let mut row = line_of(ctx, range.first).last;
        let last = range.last.max(row + 1).min(snapshot.last_row());
        while row < last {
            if joined.is_none_or(|joined| joined < row) {
                let (span, glue) = seam(ctx, row);
                draft.push(span, glue);
                joined = Some(row);
            }
            row = line_of(ctx, row + 1).last;
        }
    }
    let selections = ctx.selections.transform(|selection| {
        if selection.is_empty() {
            let row = line_of(ctx, snapshot.point_at(selection.head).row).last;
            let seam_start = seam(ctx, row).0.start;
            let is_joined = row < snapshot.last_row();
            let to = if is_joined {
                seam_start
            } else {
                selection.head
            };
            return Selection::caret(draft.map(to, Bias::Left));
        }
        let first = draft.map(selection.start(), Bias::Left);
        let mapped = Selection::new(first, draft.map(selection.end(), Bias::Left).max(first));
        if selection.is_reversed() {
            reversed(mapped)
        } else {
            mapped
        }
    });
    draft.into_plan(selections, EditKind::Other)
}

/// Returns the span between a row's text and the next one's, and the text that replaces it when
/// joining.
fn seam(ctx: &CommandContext, row: Row) -> (Span, &'static str) {
    let snapshot = ctx.snapshot;
    let end = snapshot.row_end(row);
    let blanks = snapshot
        .chars_before(end)
        .take_while(|char| *char == ' ' || *char == '\t')
        .count();
    let start = (end - blanks).max(snapshot.row_start(row));
    if row >= snapshot.last_row() {
        return (Span::at(end), "");
    }
    let next = row + 1;
    let mut next_text = first_non_blank(snapshot, next);
    if let Some(marker) = shared_comment_marker(ctx, row, next) {
        next_text += marker.len();
        let blanks = snapshot
            .chars_at(next_text)
            .take_while(|char| *char == ' ')
            .count();
        next_text = (next_text + blanks).min(snapshot.row_end(next));
    }
    let is_empty = start == snapshot.row_start(row) || next_text == snapshot.row_end(next);
    (Span::new(start, next_text), if is_empty { "" } else { " " })
}

/// The comment marker both rows start with.
fn shared_comment_marker(ctx: &CommandContext, row: Row, next: Row) -> Option<&'static str> {
    let config = ctx.language?.config();
    let starts = |row: Row, marker: &str| {
        let mut chars = ctx.snapshot.chars_at(first_non_blank(ctx.snapshot, row));
        marker.chars().all(|char| chars.next() == Some(char))
    };
    let markers = config.continued.iter().copied().chain(config.line_comment);
    let mut markers: Vec<&'static str> = markers
        .filter(|marker| {
            config
                .line_comment
                .is_some_and(|comment| marker.starts_with(comment))
        })
        .collect();
    markers.sort_by_key(|marker| std::cmp::Reverse(marker.len()));
    markers
        .into_iter()
        .find(|marker| starts(row, marker) && starts(next, marker))
}

/// Order of the rows after sorting, deduplication or reversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowOrder {
    Ascending,
    Descending,
    IgnoringCase,
    Unique,
    UniqueIgnoringCase,
    Reversed,
}

/// Reorders the selected rows, or all rows, group by group. The line endings keep their positions.
pub(crate) fn reorder_rows(ctx: &CommandContext, order: RowOrder) -> CaretPlan {
    let snapshot = ctx.snapshot;
    let mut draft = EditDraft::new();
    let mut after = Vec::new();
    for group in selected_or_all(ctx) {
        if group.first == group.last {
            continue;
        }
        let span = group.inner_span(snapshot);
        let lines = lines_in(ctx, group);
        let text = snapshot.text(span);
        let rows = texts_of(snapshot, group, &lines, &text);
        let ordered = reordered(rows.clone(), order);
        let landing = draft.push(Span::at(span.start), "");
        replace_lines(snapshot, &mut draft, &lines, (&rows, &ordered));
        let rest = Span::new(span.end, group.span(snapshot).end);
        let end = draft.map(rest.end, Bias::Left);
        after.push(Selection::new(landing, end));
    }
    let is_caret_only = ctx.selections.len() == 1 && ctx.selections.primary().is_empty();
    let selections = if is_caret_only || after.is_empty() {
        draft.map_selections(ctx.selections, Bias::Left, Bias::Left, Bias::Left)
    } else {
        SelectionSet::new(after, 0)
    };
    draft.into_plan(selections, EditKind::Other)
}

fn reordered(mut rows: Vec<&str>, order: RowOrder) -> Vec<&str> {
    match order {
        RowOrder::Ascending => rows.sort(),
        RowOrder::Descending => rows.sort_by(|first, second| second.cmp(first)),
        RowOrder::IgnoringCase => rows.sort_by_cached_key(|row| row.to_lowercase()),
        RowOrder::Reversed => rows.reverse(),
        RowOrder::Unique => {
            let mut seen = HashSet::new();
            rows.retain(|row| seen.insert(*row));
        }
        RowOrder::UniqueIgnoringCase => {
            let mut seen = HashSet::new();
            rows.retain(|row| seen.insert(row.to_lowercase()));
        }
    }
    rows
}

/// The lines that show a group of rows, each with the rows that folds join in it.
fn lines_in(ctx: &CommandContext, group: RowRange) -> Vec<RowRange> {
    let has_folds = !ctx.display.folds_in(group.span(ctx.snapshot)).is_empty();
    let mut lines = Vec::new();
    let mut next = group.first;
    while next <= group.last {
        let line = if has_folds {
            line_of(ctx, next)
        } else {
            RowRange {
                first: next,
                last: next,
            }
        };
        lines.push(line);
        next = line.last + 1;
    }
    lines
}

/// The texts of the lines of a group without their last line endings; `text` is the text of the group.
fn texts_of<'t>(
    snapshot: &Snapshot,
    group: RowRange,
    lines: &[RowRange],
    text: &'t str,
) -> Vec<&'t str> {
    if lines.len() == group.rows().len() {
        let rows = text.split('\n');
        return rows
            .map(|row| row.strip_suffix('\r').unwrap_or(row))
            .collect();
    }
    let start = snapshot.row_start(group.first);
    let spans = lines.iter().map(|line| line.inner_span(snapshot));
    spans
        .map(|line| &text[line.start - start..line.end - start])
        .collect()
}

/// Replaces lines one by one, so that equal ones are not touched, or all at once if there are too many edits.
fn replace_lines(
    snapshot: &Snapshot,
    draft: &mut EditDraft,
    lines: &[RowRange],
    (before, after): (&[&str], &[&str]),
) {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return;
    };
    if before == after {
        return;
    }
    let end = snapshot.row_end(last.last);
    if before.len() > MAX_ROW_EDITS {
        let joined = join_with_endings(snapshot, lines, after);
        draft.push(Span::new(snapshot.row_start(first.first), end), joined);
        return;
    }
    for ((line, before), after) in lines.iter().zip(before).zip(after) {
        if before != after {
            draft.push(line.inner_span(snapshot), *after);
        }
    }
    let last_kept = after.len().checked_sub(1);
    if let Some(kept) = last_kept.filter(|_| after.len() < before.len()) {
        draft.push(Span::new(snapshot.row_end(lines[kept].last), end), "");
    }
}

fn join_with_endings(snapshot: &Snapshot, lines: &[RowRange], texts: &[&str]) -> String {
    let mut joined = String::new();
    for (ix, (line, text)) in lines.iter().zip(texts).enumerate() {
        joined.push_str(text);
        if ix + 1 < texts.len() {
            joined.push_str(&line_ending_of(snapshot, line.last));
        }
    }
    joined
}

/// Deletes the rows of every selection. Carets keep their columns as far as the next row has them.
pub(crate) fn delete_rows(ctx: &CommandContext) -> CaretPlan {
    let snapshot = ctx.snapshot;
    let groups = row_groups(ctx);
    let mut draft = EditDraft::new();
    for group in &groups {
        let mut span = group.span(snapshot);
        if line_ending_of(snapshot, group.last).is_empty() && group.first.0 > 0 {
            // The last row takes the line ending before it along.
            span.start = snapshot.row_end(group.first - 1);
        }
        draft.push(span, "");
    }
    let selections = ctx.selections.transform(|selection| {
        let head = ctx.display.to_display(selection.head, Bias::Right);
        let next = rows_behind(&groups, snapshot, lines_of(ctx, selection).last);
        let target = match next {
            Some(next) => {
                let row = ctx
                    .display
                    .to_display(snapshot.row_start(next), Bias::Right)
                    .row;
                let on_row = crate::motion::vertical::at_cell(ctx, row, head.cell);
                on_row.clamp(snapshot.row_start(next), snapshot.row_end(next))
            }
            None => snapshot.len(),
        };
        Selection::caret(draft.map(target, Bias::Left))
    });
    draft.into_plan(selections, EditKind::Other)
}

/// The first row behind `row` that stays.
fn rows_behind(groups: &[RowRange], snapshot: &Snapshot, row: Row) -> Option<Row> {
    let group = groups.get(groups.partition_point(|group| group.last < row))?;
    let next = group.last + 1;
    (next <= snapshot.last_row()).then_some(next)
}

/// Swaps the graphemes before and after every caret. Rotates the texts of non-empty selections:
/// each receives the text of the previous one, and the first receives the text of the last.
pub(crate) fn transpose(ctx: &CommandContext) -> CaretPlan {
    let snapshot = ctx.snapshot;
    let wide: Vec<Span> = ctx
        .selections
        .iter()
        .filter(|selection| !selection.is_empty())
        .map(Selection::span)
        .collect();
    let mut nth_wide = 0;
    let mut unfold = Vec::new();
    let plan = replace_each(ctx, EditKind::Other, |selection| {
        if !selection.is_empty() {
            // The previous selection; for the first, the last.
            let from = (nth_wide + wide.len() - 1) % wide.len();
            nth_wide += 1;
            let text = snapshot.text(wide[from]).into_owned();
            let len = text.len();
            return SelectionEdit {
                span: selection.span(),
                text,
                anchor: 0,
                head: len,
            };
        }
        let head = selection.head;
        let row = snapshot.point_at(head).row;
        let (start, end) = (snapshot.row_start(row), snapshot.row_end(row));
        let middle = if head == end {
            snapshot.previous_grapheme(head).max(start)
        } else {
            head
        };
        if middle <= start || middle >= end {
            return SelectionEdit::caret_at(head);
        }
        let (before, behind) = (
            snapshot.previous_grapheme(middle),
            snapshot.next_grapheme(middle),
        );
        let folds = ctx.display.folds_in(Span::new(before, behind));
        if !folds.is_empty() {
            unfold.extend(folds);
            return SelectionEdit::caret_at(head);
        }
        let swapped = [
            snapshot.text(Span::new(middle, behind)),
            snapshot.text(Span::new(before, middle)),
        ]
        .concat();
        SelectionEdit::caret_behind(Span::new(before, behind), swapped)
    });
    CaretPlan { unfold, ..plan }
}

/// Returns each selection extended to the whole rows that it touches, line endings included. A
/// selection that already consists of whole rows grows by the next row.
pub(crate) fn select_rows(ctx: &CommandContext) -> SelectionSet {
    let snapshot = ctx.snapshot;
    let line_at = |offset| line_of(ctx, snapshot.point_at(offset).row);
    ctx.selections.transform(|selection| {
        let start = snapshot.row_start(line_at(selection.start()).first);
        let end = snapshot.row_start(line_at(selection.end()).last + 1);
        Selection::new(start, end)
    })
}
