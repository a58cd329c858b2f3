//! Resolves changes beside several consecutive blank lines of which the block has fewer.
//!
//! The blank lines stay together: a change at one end leaves them all on its other side, and a
//! change that adds or removes blank lines preserves their number around it. All other cases are
//! ambiguous.

use std::ops::{Range, RangeInclusive};

use crate::block::LineBlock;
use crate::diff::DiffRun;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::BlockAlignment;

use super::gaps::{RowGap, goes_away};
use super::{BlockLayout, slide};

/// Consecutive blank lines of the file, of which the block contains some.
struct BlankRun<'a> {
    /// Rows of the blank lines.
    rows: Range<usize>,
    /// Blank lines in the block, as a range of positions between old lines.
    old: &'a RangeInclusive<usize>,
    /// White space that each of them contains.
    text: &'a str,
}

/// Returns the rows that a run replaces beside partly omitted blank lines, if that is unambiguous.
pub(super) fn replaced(layout: BlockLayout, run: &DiffRun, gap: &RowGap) -> Option<Range<usize>> {
    let is_alone = |other: &DiffRun| other == run || gap.is_apart(other);
    if !layout.runs.iter().all(is_alone) {
        return None;
    }
    let blanks = BlankRun::of(layout.file, gap)?;
    match (run.old.is_empty(), run.new.is_empty()) {
        (false, false) => blanks.exchanged(layout.aligned, run),
        (true, false) => blanks.inserted(layout, run),
        (false, true) => blanks.deleted(layout, run),
        (true, true) => None,
    }
}

/// Returns the rows that a pure removal deletes. If it may lie in several places, all must give the
/// same text.
pub(super) fn removed(layout: BlockLayout, run: &DiffRun, gap: &RowGap) -> Option<Range<usize>> {
    if !run.new.is_empty() || layout.runs.len() > 1 {
        return None;
    }
    let blanks = BlankRun::of(layout.file, gap)?;
    let places = slide::positions(layout.aligned, run);
    let mut all = places.iter().filter_map(|run| blanks.deleted(layout, run));
    let first = all.next()?;
    let is_same = |rows: Range<usize>| {
        let (from, to) = (rows.start.min(first.start), rows.end.max(first.end));
        let left = |gone: &Range<usize>| {
            let rows = (from..gone.start).chain(gone.end..to);
            rows.map(|row| layout.file.content(row))
        };
        left(&rows).eq(left(&first))
    };
    all.all(is_same).then_some(first.clone())
}

impl<'a> BlankRun<'a> {
    /// Returns the blank lines around a gap. `None` unless they are all equal, and the block quotes
    /// some of them and leaves out only those of the gap.
    fn of(file: &'a FileText, gap: &'a RowGap) -> Option<Self> {
        let RowGap {
            at: old,
            rows: extra,
        } = gap;
        let text = file.content(extra.start);
        let is_blank = |row: &usize| fold::is_blank(file.content(*row));
        let above = (0..extra.start).rev().take_while(is_blank).count();
        let below = (extra.end..file.line_count()).take_while(is_blank).count();
        let rows = extra.start - above..extra.end + below;
        let quoted = old.end() - old.start();
        let are_alike = rows.clone().all(|row| file.content(row) == text);
        let is_all = quoted > 0 && quoted + extra.len() == rows.len();
        (fold::is_blank(text) && are_alike && is_all).then_some(Self { rows, old, text })
    }

    /// Handles replaced lines at one end of the blank lines.
    fn exchanged(&self, aligned: &BlockAlignment, run: &DiffRun) -> Option<Range<usize>> {
        let old = &aligned.block.old[run.old.clone()];
        let new = &aligned.block.new[run.new.clone()];
        let (was, is) = match () {
            () if run.old.end == *self.old.start() => old.last().zip(new.last())?,
            () if run.old.start == *self.old.end() => old.first().zip(new.first())?,
            () => return None,
        };
        // A line at another depth may be something else and belong on the other side.
        let is_there = fold::indent(was) == fold::indent(is);
        let beyond = self.beyond(&aligned.block, run.old.start)?;
        let is_filled = new.iter().all(|line| !fold::is_blank(line));
        (is_filled && (is_there || are_deeper(std::slice::from_ref(is), beyond)))
            .then(|| super::rows_of(aligned, run))
    }

    /// Returns the line on the other side of the blank lines, seen from a position.
    fn beyond<'b>(&self, block: &'b LineBlock, from: usize) -> Option<&'b str> {
        let (start, end) = (*self.old.start(), *self.old.end());
        let ix = if from < end {
            end
        } else {
            start.checked_sub(1)?
        };
        block.old.get(ix).map(String::as_str)
    }

    /// Handles added lines that bring as many blank lines as there are, so that both sides have the
    /// same number: the block shows this on one side, and quotes the rest on the other.
    fn inserted(&self, layout: BlockLayout, run: &DiffRun) -> Option<Range<usize>> {
        let new = &layout.block().new[run.new.clone()];
        let (leading, trailing) = self.surrounding_blanks(new)?;
        let (at, count) = (run.old.start, self.rows.len());
        if (leading, trailing) == (0, 0) {
            return self.attached(layout, new, at);
        }
        if !self.old.contains(&at) || leading + trailing != count {
            return None;
        }
        let quoted = self.old.end() - self.old.start();
        let before = at - self.old.start() + leading;
        let row = self.rows.start + trailing;
        (before == count || before == quoted).then_some(row..row)
    }

    /// Handles added lines without blank lines. They could also go between two blank lines, unless
    /// they belong to an adjacent line: deeper than the line beyond, attributes of the next line,
    /// or moved from above.
    fn attached(&self, layout: BlockLayout, new: &[String], at: usize) -> Option<Range<usize>> {
        let block = layout.block();
        let is_deeper = || {
            let beyond = self.beyond(block, at);
            beyond.is_some_and(|beyond| are_deeper(new, beyond))
        };
        let is_attribute = || {
            let last = new.last().map(|line| line.trim_start());
            let is_one = last.is_some_and(|line| line.starts_with('@') || line.starts_with("#["));
            is_one && new.iter().all(|line| !fold::is_blank(line))
        };
        let are_moved = || {
            let mut runs = layout.runs.iter();
            runs.any(|run| new.iter().all(|line| goes_away(block, run, line)))
        };
        // Lines further out than the line above begin something else.
        let is_part = || {
            let above = at.checked_sub(1).and_then(|ix| block.old.get(ix));
            let (above, first) = (above.map(|line| fold::indent(line)), new.first());
            above.zip(first).is_some_and(|(above, first)| {
                fold::is_blank(first) || fold::indent(first).starts_with(above)
            })
        };
        let row = match () {
            () if at == *self.old.start() && is_deeper() && is_part() => self.rows.start,
            () if at == *self.old.start() && are_moved() => self.rows.start,
            () if at == *self.old.end() && (is_deeper() || is_attribute()) => self.rows.end,
            () => return None,
        };
        Some(row..row)
    }

    /// Handles removed lines: returns the rows to remove, including as many blank lines as the run
    /// removes; `None` if it is unclear which those are.
    fn deleted(&self, layout: BlockLayout, run: &DiffRun) -> Option<Range<usize>> {
        let BlockLayout { file, aligned, .. } = layout;
        let old = &aligned.block.old;
        let (leading, trailing) = self.surrounding_blanks(&old[run.old.clone()])?;
        let lines = run.old.start + leading..run.old.end - trailing;
        let is_before = lines.end <= *self.old.start();
        if !is_before && lines.start < *self.old.end() {
            return None;
        }
        let (first, last) = (aligned.map[lines.start]?, aligned.map[lines.end - 1]?);
        let are_blank = |row: &usize| file.content(*row) == self.text;
        let above = (0..first).rev().take_while(are_blank).count();
        let below = (last + 1..file.line_count()).take_while(are_blank).count();
        let gone = leading + trailing;
        // The remaining blank lines must equal those of the file.
        if above + below != gone + self.rows.len() {
            return None;
        }
        let behind = gone.min(below);
        Some(first - (gone - behind)..last + 1 + behind)
    }

    /// Counts the blank lines at the start and end of some lines; `None` if all lines are blank or
    /// the blank lines differ from the file's.
    fn surrounding_blanks(&self, lines: &[String]) -> Option<(usize, usize)> {
        let is_blank = |line: &&String| fold::is_blank(line);
        let leading = lines.iter().take_while(is_blank).count();
        let trailing = lines.iter().rev().take_while(is_blank).count();
        if leading == lines.len() {
            return None;
        }
        let mut around = lines[..leading]
            .iter()
            .chain(&lines[lines.len() - trailing..]);
        around
            .all(|line| line == self.text)
            .then_some((leading, trailing))
    }
}

/// Whether all lines are indented deeper than another one.
fn are_deeper(lines: &[String], other: &str) -> bool {
    let mut filled = lines.iter().filter(|line| !fold::is_blank(line));
    let than = fold::indent(other);
    filled.all(|line| fold::indent(line) != than && fold::indent(line).starts_with(than))
}
