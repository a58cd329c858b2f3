//! Marks, the jump list and the change list of a text, and their way through edits.
//!
//! Start at `Marks`; `PosMap` maps positions.

use std::collections::BTreeMap;

use base::{Bias, ByteOffset, Row, Span};
use text::Change;

use crate::lines::{Lines, Pos};

/// Longest jump list and change list.
const MAX_ENTRIES: usize = 100;

/// Columns within which a change of the same line makes no new entry.
const NEAR: usize = 79;

/// Positions of a text that follow its edits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// `a` to `z`.
    pub(crate) named: BTreeMap<char, Pos>,
    /// The place before the last jump, `'`.
    pub(crate) previous: Pos,
    /// The start of the last changed or yanked text, `[`.
    pub(crate) start: Option<Pos>,
    /// Its end, `]`.
    pub(crate) end: Option<Pos>,
    /// The last change, `.`.
    pub(crate) change: Option<Pos>,
    /// The end of the last insertion, `^`.
    pub(crate) insertion: Option<Pos>,
    pub(crate) jumps: JumpList,
    pub(crate) changes: ChangeList,
}

impl Marks {
    /// Maps all positions through a change. Marks in deleted lines are gone.
    pub(crate) fn follow(&mut self, map: &PosMap) {
        self.named.retain(|_, pos| match map.anchored(*pos) {
            Some(mapped) => {
                *pos = mapped;
                true
            }
            None => false,
        });
        if !map.moves_lines() {
            return;
        }
        self.previous = map.nearest(self.previous);
        for pos in [
            &mut self.start,
            &mut self.end,
            &mut self.change,
            &mut self.insertion,
        ] {
            *pos = pos.map(|pos| map.nearest(pos));
        }
        let listed = self
            .jumps
            .entries
            .iter_mut()
            .chain(&mut self.changes.entries);
        for pos in listed {
            *pos = map.nearest(*pos);
        }
    }
}

/// The places before jumps of a view, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct JumpList {
    entries: Vec<Pos>,
    /// The entry at which the caret is; the length behind the newest.
    at: usize,
}

impl JumpList {
    /// Adds a place.
    pub(crate) fn push(&mut self, pos: Pos) {
        if self.entries.len() == MAX_ENTRIES {
            self.entries.remove(0);
        }
        self.entries.push(pos);
        self.at = self.entries.len();
    }

    /// Goes to an older place for a negative count, or to a newer one. Returns the place, and
    /// whether `from` was added, or the number of steps behind the end of the list.
    pub(crate) fn travel(&mut self, from: Pos, count: i64) -> Result<(Pos, bool), u32> {
        self.clean(from);
        let target = self.at as i64 + count;
        if target < 0 {
            return Err(target.unsigned_abs() as u32);
        }
        if target >= self.entries.len() as i64 {
            let last = self.entries.len().saturating_sub(1) as i64;
            return Err((target - last).clamp(1, i64::from(u32::MAX)) as u32);
        }
        let adds = self.at == self.entries.len();
        let mut target = target;
        if adds {
            let length = self.entries.len();
            self.push(from);
            // A full list lost its oldest entry.
            target -= (length + 1 - self.entries.len()) as i64;
        }
        if target < 0 {
            return Err(1);
        }
        self.at = target as usize;
        Ok((self.entries[self.at], adds))
    }

    /// Removes all but the newest entry of each line, and an entry for the line of the caret at
    /// the end.
    fn clean(&mut self, from: Pos) {
        let mut kept: Vec<Pos> = Vec::with_capacity(self.entries.len());
        let mut at = None;
        for (ix, pos) in self.entries.iter().enumerate() {
            if self.at == ix {
                at = Some(kept.len());
            }
            let is_repeated = self.entries[ix + 1..]
                .iter()
                .any(|later| later.row == pos.row);
            if !is_repeated {
                kept.push(*pos);
            }
        }
        self.at = at.unwrap_or(kept.len());
        if self.at == kept.len() && kept.last().is_some_and(|last| last.row == from.row) {
            kept.pop();
            self.at = kept.len();
        }
        self.entries = kept;
    }

    /// The places with their distance from the caret, oldest first, for `:jumps`.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (i64, Pos)> + '_ {
        let entries = self.entries.iter().enumerate();
        entries.map(|(ix, pos)| (self.at as i64 - ix as i64, *pos))
    }
}

/// The places of changes, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeList {
    entries: Vec<Pos>,
    at: usize,
}

impl ChangeList {
    /// Adds the place of a change. `is_new` says that an undo step began with it; otherwise it
    /// replaces the last place.
    pub(crate) fn note(&mut self, pos: Pos, is_new: bool) {
        let is_far = self.entries.last().is_none_or(|last| {
            last.row != pos.row || last.col + NEAR < pos.col || pos.col + NEAR < last.col
        });
        if is_far && (is_new || self.entries.is_empty()) {
            if self.entries.len() == MAX_ENTRIES {
                self.entries.remove(0);
            }
            self.entries.push(pos);
        } else if let Some(last) = self.entries.last_mut() {
            *last = pos;
        }
        self.at = self.entries.len();
    }

    /// Goes to an older change for a negative count, or to a newer one. Returns `None` at the end
    /// of the list.
    pub(crate) fn travel(&mut self, count: i64) -> Option<Pos> {
        let last = self.entries.len().checked_sub(1)?;
        let target = self.at as i64 + count;
        if target < 0 && self.at == 0 || target > last as i64 && self.at == last {
            return None;
        }
        self.at = target.clamp(0, last as i64) as usize;
        Some(self.entries[self.at])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The places with their distance from the caret, oldest first, for `:changes`.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (i64, Pos)> + '_ {
        let entries = self.entries.iter().enumerate();
        entries.map(|(ix, pos)| (self.at as i64 - ix as i64, *pos))
    }
}

/// Maps positions through a change.
pub(crate) struct PosMap<'a> {
    before: &'a Lines,
    after: &'a Lines,
    change: &'a Change,
    moves_lines: bool,
}

impl<'a> PosMap<'a> {
    pub(crate) fn new(before: &'a Lines, after: &'a Lines, change: &'a Change) -> Self {
        let crosses = |lines: &Lines, span: Span| {
            let text = lines.text();
            !span.is_empty() && text.point_at(span.start).row != text.point_at(span.end).row
        };
        let moves_lines = change
            .splices
            .iter()
            .any(|splice| crosses(before, splice.old) || crosses(after, splice.new));
        Self {
            before,
            after,
            change,
            moves_lines,
        }
    }

    /// Whether the change breaks, joins, adds or removes lines.
    pub(crate) fn moves_lines(&self) -> bool {
        self.moves_lines
    }

    /// The new place of a position that follows its text; `None` if its whole line was deleted.
    pub(crate) fn anchored(&self, pos: Pos) -> Option<Pos> {
        if self.moves_lines && self.is_deleted(pos.row) {
            return None;
        }
        Some(self.mapped(pos))
    }

    /// The new place of a position that follows lines but not edits within its line. In a deleted
    /// line it goes to the line in its place.
    pub(crate) fn nearest(&self, pos: Pos) -> Pos {
        if !self.moves_lines {
            return pos;
        }
        let text = self.before.text();
        let start = text.row_start(Row(pos.row));
        if pos.row >= self.before.count() {
            let grown = i64::from(self.after.count()) - i64::from(self.before.count());
            return Pos::new((i64::from(pos.row) + grown).max(0) as u32, pos.col);
        }
        if self.is_deleted(pos.row) {
            return self.in_place_of(start, pos);
        }
        let end = text.row_end(Row(pos.row));
        let touches = |splice: &text::Splice| splice.old.start <= end && splice.old.end > start;
        if !self.change.splices.iter().any(touches) {
            let bias = self.start_bias(pos.row);
            let row = self.after.pos(self.change.map(start, bias)).row;
            return Pos::new(row, pos.col);
        }
        self.mapped(pos)
    }

    /// The place of a position in a deleted line: the line that took its place, or the place where
    /// characters were deleted.
    fn in_place_of(&self, start: ByteOffset, pos: Pos) -> Pos {
        let text = self.before.text();
        let splices = &self.change.splices;
        let Some(splice) = splices.iter().find(|splice| splice.old.end > start) else {
            return self.mapped(pos);
        };
        let row = text.point_at(splice.old.start).row;
        let is_whole = splice.old.start == text.row_start(row);
        let is_tail = splice.old.end == text.len() && splice.old.start == text.row_end(row);
        let at = self.after.text().point_at(splice.new.start).row.0;
        if is_whole || is_tail {
            return Pos::new(at + u32::from(is_tail && !is_whole), pos.col);
        }
        self.after.pos(splice.new.start)
    }

    /// The new place of a position that follows its text, behind what was inserted there.
    pub(crate) fn moved(&self, pos: Pos) -> Pos {
        self.after
            .pos(self.change.map(self.offset(pos), Bias::Right))
    }

    /// The new place of a position that follows its text, before what was inserted there.
    pub(crate) fn held(&self, pos: Pos) -> Pos {
        self.after
            .pos(self.change.map(self.offset(pos), Bias::Left))
    }

    fn mapped(&self, pos: Pos) -> Pos {
        let bias = if pos.col == 0 {
            self.start_bias(pos.row)
        } else {
            Bias::Left
        };
        self.after.pos(self.change.map(self.offset(pos), bias))
    }

    /// The side to which the start of a line moves: behind lines inserted before it, but not
    /// behind those inserted after an empty last line without an ending.
    fn start_bias(&self, row: u32) -> Bias {
        let text = self.before.text();
        let span = text.row_span(Row(row));
        let inserted = self
            .change
            .splices
            .iter()
            .find(|splice| splice.old == Span::at(span.start));
        let Some(inserted) = inserted.filter(|_| span.end == text.len()) else {
            return Bias::Right;
        };
        let first = self.after.text().chars_at(inserted.new.start).next();
        if matches!(first, Some('\n' | '\r')) {
            Bias::Left
        } else {
            Bias::Right
        }
    }

    fn offset(&self, pos: Pos) -> ByteOffset {
        let start = self.before.text().row_start(Row(pos.row));
        (start + pos.col).min(self.before.text().row_end(Row(pos.row)))
    }

    fn is_deleted(&self, row: u32) -> bool {
        let text = self.before.text();
        let line = text.row_span(Row(row));
        let whole = text.row_span_with_ending(Row(row));
        let is_last = whole.end == line.end;
        self.change.splices.iter().any(|splice| {
            let covers = splice.old.covers(whole) && !splice.old.is_empty();
            let takes_ending = !is_last || splice.old.start < line.start;
            covers && takes_ending && self.joins_nothing(splice.new, splice.old, line.start)
        })
    }

    /// Whether a replacement leaves nothing of a line: it is empty, or replaces other lines.
    fn joins_nothing(&self, new: Span, old: Span, start: ByteOffset) -> bool {
        new.is_empty() || old.start < start
    }
}

#[cfg(test)]
mod tests;
