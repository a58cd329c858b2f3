//! What happens beside several blank lines that stand together and of which the block has fewer.
//!
//! They stay together: a change that lies at one end of them leaves them all on its other side, and
//! one that brings blank lines along, or takes them away, is read so that as many are left around it
//! as there were. What fits neither is in doubt.

use std::ops::{Range, RangeInclusive};

use crate::block::Block;
use crate::diff::Run;
use crate::file::FileText;
use crate::fold;
use crate::found::Aligned;

use super::gaps::{Gap, goes_away};
use super::{Layout, slide};

/// Blank lines of the file, together, all of them in the block but for those it leaves out.
struct Blanks<'a> {
    /// All of their rows.
    rows: Range<usize>,
    /// Those of the block, by the places between its old lines.
    old: &'a RangeInclusive<usize>,
    /// The white space in each.
    text: &'a str,
}

/// The rows that a run replaces whose neighbours are blank lines some of which are left out, as long
/// as there is no doubt.
pub(super) fn replaced(layout: Layout, run: &Run, gap: &Gap) -> Option<Range<usize>> {
    let is_alone = |other: &Run| other == run || gap.is_apart(other);
    if !layout.runs.iter().all(is_alone) {
        return None;
    }
    let blanks = Blanks::of(layout.file, gap)?;
    match (run.old.is_empty(), run.new.is_empty()) {
        (false, false) => blanks.exchanged(layout.aligned, run),
        (true, false) => blanks.inserted(layout, run),
        (false, true) => blanks.deleted(layout, run),
        (true, true) => None,
    }
}

/// The same for lines that go away and nothing else, wherever they may lie: several places give the
/// same text, or none is taken.
pub(super) fn removed(layout: Layout, run: &Run, gap: &Gap) -> Option<Range<usize>> {
    if !run.new.is_empty() || layout.runs.len() > 1 {
        return None;
    }
    let blanks = Blanks::of(layout.file, gap)?;
    let places = slide::places(layout.aligned, run);
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

impl<'a> Blanks<'a> {
    fn of(file: &'a FileText, gap: &'a Gap) -> Option<Self> {
        let Gap {
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

    /// Lines in place of others, at one end.
    fn exchanged(&self, aligned: &Aligned, run: &Run) -> Option<Range<usize>> {
        let old = &aligned.block.old[run.old.clone()];
        let new = &aligned.block.new[run.new.clone()];
        let (was, is) = match () {
            () if run.old.end == *self.old.start() => old.last().zip(new.last())?,
            () if run.old.start == *self.old.end() => old.first().zip(new.first())?,
            () => return None,
        };
        // At another depth it may be something else, and belong on the other side.
        let is_there = fold::indent(was) == fold::indent(is);
        let beyond = self.beyond(&aligned.block, run.old.start)?;
        let is_filled = new.iter().all(|line| !fold::is_blank(line));
        (is_filled && (is_there || are_deeper(std::slice::from_ref(is), beyond)))
            .then(|| super::rows_of(aligned, run))
    }

    /// The line on the other side, seen from a place.
    fn beyond<'b>(&self, block: &'b Block, from: usize) -> Option<&'b str> {
        let (start, end) = (*self.old.start(), *self.old.end());
        let ix = if from < end {
            end
        } else {
            start.checked_sub(1)?
        };
        block.old.get(ix).map(String::as_str)
    }

    /// Lines that appear, with as many blank lines of their own as there are, so that the same number
    /// stands on both sides: the block shows this on one side, and on the other those that it quotes.
    fn inserted(&self, layout: Layout, run: &Run) -> Option<Range<usize>> {
        let new = &layout.block().new[run.new.clone()];
        let (leading, trailing) = self.around(new)?;
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

    /// Lines that appear without blank lines of their own might as well come between two of those
    /// that are there, unless they belong to the lines that they stand beside: deeper than what lies
    /// beyond the blank lines, attributes of what follows, or gone from above.
    fn attached(&self, layout: Layout, new: &[String], at: usize) -> Option<Range<usize>> {
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
        // Less deep than the line above they begin something else.
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

    fn deleted(&self, layout: Layout, run: &Run) -> Option<Range<usize>> {
        let Layout { file, aligned, .. } = layout;
        let old = &aligned.block.old;
        let (leading, trailing) = self.around(&old[run.old.clone()])?;
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
        // What is left stands between the neighbours as the blank lines of the file do.
        if above + below != gone + self.rows.len() {
            return None;
        }
        let behind = gone.min(below);
        Some(first - (gone - behind)..last + 1 + behind)
    }

    /// How many of the blank lines come first and last among some lines; `None` for nothing else,
    /// and where they look otherwise.
    fn around(&self, lines: &[String]) -> Option<(usize, usize)> {
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

/// Whether all lines are indented more than another.
fn are_deeper(lines: &[String], other: &str) -> bool {
    let mut filled = lines.iter().filter(|line| !fold::is_blank(line));
    let than = fold::indent(other);
    filled.all(|line| fold::indent(line) != than && fold::indent(line).starts_with(than))
}
