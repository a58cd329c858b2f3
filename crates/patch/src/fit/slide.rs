//! Computes where an insertion or removal may lie: it can slide over lines equal to its own ends.
//!
//! Beside rows that a block leaves out the exact position matters. Edits rarely begin with a
//! closing bracket if they can avoid it.

use std::ops::{Range, RangeInclusive};

use crate::diff::DiffRun;
use crate::fold;
use crate::hunk_match::BlockAlignment;

/// Returns the old lines between which a run may lie.
pub(super) fn reach(aligned: &BlockAlignment, run: &DiffRun) -> Range<usize> {
    match Slide::of(aligned, run) {
        Some(slide) => slide.moved(run, &(slide.first..=slide.last)),
        None => run.old.clone(),
    }
}

/// Like `reach`, without unlikely positions.
pub(super) fn likely_reach(aligned: &BlockAlignment, run: &DiffRun) -> Range<usize> {
    let slide = Slide::of(aligned, run);
    let likely = slide.and_then(|slide| Some(slide.moved(run, &slide.likely()?)));
    likely.unwrap_or_else(|| reach(aligned, run))
}

/// Returns all positions of a run that is the only one.
pub(super) fn positions(aligned: &BlockAlignment, run: &DiffRun) -> Vec<DiffRun> {
    let Some(slide) = Slide::of(aligned, run) else {
        return vec![run.clone()];
    };
    let places = (slide.first..=slide.last).map(|to| {
        let place = slide.moved(run, &(to..=to));
        let moved = |range: &Range<usize>| {
            if range.is_empty() {
                range.clone()
            } else {
                to..to + range.len()
            }
        };
        DiffRun {
            old: place,
            new: moved(&run.new),
        }
    });
    places.collect()
}

/// Moves runs to their likely positions.
pub(super) fn slide_runs(aligned: &BlockAlignment, runs: &mut [DiffRun]) {
    for ix in 0..runs.len() {
        let run = &runs[ix];
        let Some(slide) = Slide::of(aligned, run) else {
            continue;
        };
        // Stays between the neighbouring runs.
        let before = ix.checked_sub(1).map_or(0, |ix| runs[ix].old.end);
        let behind = runs.get(ix + 1);
        let behind = behind.map_or(aligned.block.old.len(), |run| run.old.start);
        let likely = slide.likely();
        let Some(likely) = likely.filter(|likely| !likely.contains(&slide.part.start)) else {
            continue;
        };
        let to = if *likely.end() < slide.part.start {
            *likely.end()
        } else {
            *likely.start()
        };
        let by = to as isize - slide.part.start as isize;
        let moved = |range: &Range<usize>| {
            let start = range.start.checked_add_signed(by)?;
            Some(start..start + range.len())
        };
        let Some((old, new)) = moved(&run.old).zip(moved(&run.new)) else {
            continue;
        };
        if old.start >= before && old.end <= behind {
            runs[ix] = DiffRun { old, new };
        }
    }
}

/// A run that can slide, on the side that contains its lines.
struct Slide<'a> {
    lines: &'a [String],
    part: Range<usize>,
    /// First and last line at which it may begin.
    first: usize,
    last: usize,
}

impl<'a> Slide<'a> {
    /// Computes how far a run can slide; `None` if it replaces lines, rather than only adding or
    /// only removing some.
    fn of(aligned: &'a BlockAlignment, run: &DiffRun) -> Option<Self> {
        let (lines, part) = match (run.old.is_empty(), run.new.is_empty()) {
            (true, false) => (&aligned.block.new, run.new.clone()),
            (false, true) => (&aligned.block.old, run.old.clone()),
            _ => return None,
        };
        let up = (1..=part.start)
            .take_while(|by| lines[part.start - by] == lines[part.end - by])
            .count();
        let down = (0..lines.len() - part.end)
            .take_while(|by| lines[part.start + by] == lines[part.end + by])
            .count();
        Some(Self {
            lines,
            first: part.start - up,
            last: part.start + down,
            part,
        })
    }

    /// Returns the positions whose first non-blank line does not begin with a closing bracket, if
    /// any.
    fn likely(&self) -> Option<RangeInclusive<usize>> {
        let begins = |from: &usize| {
            let mut lines = self.lines[*from..from + self.part.len()].iter();
            let first = lines.find(|line| !fold::is_blank(line));
            first.is_none_or(|line| !line.trim_start().starts_with([')', ']', '}']))
        };
        let mut likely = (self.first..=self.last).filter(begins);
        let first = likely.next()?;
        Some(first..=likely.next_back().unwrap_or(first))
    }

    /// Returns the old lines that a run covers at the given positions.
    fn moved(&self, run: &DiffRun, places: &RangeInclusive<usize>) -> Range<usize> {
        let moved = |end: usize, to: usize| (end + to).saturating_sub(self.part.start);
        moved(run.old.start, *places.start())..moved(run.old.end, *places.end())
    }
}
