//! Where lines that only appear or only go away may lie: they can slide over lines that look like
//! their own ends.
//!
//! Beside rows that a block leaves out it makes a difference where they lie. Nobody begins what he
//! adds or removes with a closing bracket where he need not.

use std::ops::{Range, RangeInclusive};

use crate::diff::Run;
use crate::fold;
use crate::found::Aligned;

/// Between which old lines a run may lie.
pub(super) fn reach(aligned: &Aligned, run: &Run) -> Range<usize> {
    match Slide::of(aligned, run) {
        Some(slide) => slide.moved(run, &(slide.first..=slide.last)),
        None => run.old.clone(),
    }
}

/// The same, but for places at which the lines of the run are not likely to lie.
pub(super) fn likely_reach(aligned: &Aligned, run: &Run) -> Range<usize> {
    let slide = Slide::of(aligned, run);
    let likely = slide.and_then(|slide| Some(slide.moved(run, &slide.likely()?)));
    likely.unwrap_or_else(|| reach(aligned, run))
}

/// All the places at which a run may lie that is the only one.
pub(super) fn places(aligned: &Aligned, run: &Run) -> Vec<Run> {
    let Some(slide) = Slide::of(aligned, run) else {
        return vec![run.clone()];
    };
    let places = (slide.first..=slide.last).map(|to| {
        let place = slide.moved(run, &(to..=to));
        let moved = |range: &Range<usize>| match range.is_empty() {
            true => range.clone(),
            false => to..to + range.len(),
        };
        Run {
            old: place,
            new: moved(&run.new),
        }
    });
    places.collect()
}

/// Moves runs to where they are likely to lie.
pub(super) fn settle(aligned: &Aligned, runs: &mut [Run]) {
    for ix in 0..runs.len() {
        let run = &runs[ix];
        let Some(slide) = Slide::of(aligned, run) else {
            continue;
        };
        // No further than to the next run.
        let before = ix.checked_sub(1).map_or(0, |ix| runs[ix].old.end);
        let behind = runs.get(ix + 1);
        let behind = behind.map_or(aligned.block.old.len(), |run| run.old.start);
        let likely = slide.likely();
        let Some(likely) = likely.filter(|likely| !likely.contains(&slide.part.start)) else {
            continue;
        };
        let to = match *likely.end() < slide.part.start {
            true => *likely.end(),
            false => *likely.start(),
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
            runs[ix] = Run { old, new };
        }
    }
}

/// A run that can slide, on the side that has its lines.
struct Slide<'a> {
    lines: &'a [String],
    part: Range<usize>,
    /// The first and the last line at which it may begin.
    first: usize,
    last: usize,
}

impl<'a> Slide<'a> {
    fn of(aligned: &'a Aligned, run: &Run) -> Option<Self> {
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

    /// The places at which the first line that is not blank closes nothing, if there are any.
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

    /// The old lines that a run reaches from places such as these.
    fn moved(&self, run: &Run, places: &RangeInclusive<usize>) -> Range<usize> {
        let moved = |end: usize, to: usize| (end + to).saturating_sub(self.part.start);
        moved(run.old.start, *places.start())..moved(run.old.end, *places.end())
    }
}
