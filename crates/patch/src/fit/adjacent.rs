//! Decides about blank lines that the block leaves out, directly beside removed lines.
//!
//! The hunk does not mention them, so they stay; the changed lines determine on which side of them
//! new lines go. Ambiguous cases are refused: moved lines may take a blank line along, and a new
//! line that has nothing in common with the old one may belong on the other side.

use std::ops::Range;

use crate::diff::DiffRun;
use crate::fold;

use super::gaps::RowGap;
use super::slide::likely_reach;
use super::{BlockLayout, rows_of};

/// Maximum excess of another new line's similarity to the old line beside the blank one, if no more
/// lines are added than removed.
const SLACK: f32 = 0.2;
/// Minimum lead in similarity over all other new lines, if more lines are added, or a blank one
/// that may be the one left out.
const MARGIN: f32 = 0.3;
/// Minimum similarity of related lines.
const ALIKE: f32 = 0.1;

/// Returns the rows that a run replaces beside a gap of blank lines, if that is unambiguous.
pub(super) fn replaced(layout: BlockLayout, run: &DiffRun, gap: &RowGap) -> Option<Range<usize>> {
    let BlockLayout { file, aligned, .. } = layout;
    let at = *gap.at.start();
    let are_blank = gap
        .rows
        .clone()
        .all(|row| fold::is_blank(file.content(row)));
    let mut others = layout.runs.iter().filter(|other| *other != run);
    let is_alone = !others.any(|other| gap.is_touched(aligned, other));
    let is_at_one_place = at == *gap.at.end() && are_blank && is_alone;
    if !is_at_one_place || moves(layout, run) {
        return None;
    }
    let reach = likely_reach(aligned, run);
    let is_before = at <= reach.start;
    if !is_before && at < reach.end {
        return None;
    }
    let stays = if run.new.is_empty() {
        leaves_one_gap(layout, run, is_before)
    } else {
        RunEdge::of(layout, run, is_before)?.is_followed()
    };
    stays.then(|| rows_of(aligned, run))
}

/// Whether a removed line is added again, here or elsewhere.
fn moves(layout: BlockLayout, run: &DiffRun) -> bool {
    let block = layout.block();
    let old = &block.old[run.old.clone()];
    let mut new = layout
        .runs
        .iter()
        .flat_map(|run| &block.new[run.new.clone()]);
    let is_back = |line: &String| {
        fold::has_alphanumeric(line) && old.iter().any(|other| fold::is_same(other, line))
    };
    new.any(is_back)
}

/// Whether removing the lines leaves no two blank lines together. Otherwise one blank line may be
/// meant to go with them, even in a file that has such pairs.
fn leaves_one_gap(layout: BlockLayout, run: &DiffRun, is_before: bool) -> bool {
    let old = &layout.block().old;
    let beyond = if is_before {
        old.get(run.old.end)
    } else {
        run.old.start.checked_sub(1).and_then(|ix| old.get(ix))
    };
    let says_something = !old[run.old.clone()].iter().all(|line| fold::is_blank(line));
    says_something && !beyond.is_some_and(|line| fold::is_blank(line))
}

/// Lines of a run next to the blank ones, and their replacement.
struct RunEdge {
    /// Number of removed lines.
    gone: usize,
    /// Number of added lines, and of non-blank ones among them.
    added: usize,
    filled: usize,
    /// Similarity of the old line and the new line beside the gap.
    likeness: f32,
    /// Highest similarity of any other new line to the old line.
    next: f32,
    /// Similarity of the new line to the line on the other side of the gap.
    pull: f32,
    /// Whether the new line has the indentation of the old one.
    is_level: bool,
}

impl RunEdge {
    /// Returns `None` if blank lines are removed or a blank line is at the very edge, since it may
    /// be one of those left out.
    fn of(layout: BlockLayout, run: &DiffRun, is_before: bool) -> Option<Self> {
        let block = layout.block();
        let (gone, added) = (&block.old[run.old.clone()], &block.new[run.new.clone()]);
        let edges = if is_before {
            [gone.first()?, added.first()?]
        } else {
            [gone.last()?, added.last()?]
        };
        let is_blank = |line: &&String| fold::is_blank(line);
        if gone.iter().any(|line| fold::is_blank(line)) || edges.iter().any(is_blank) {
            return None;
        }
        let other = if is_before {
            run.old.start.checked_sub(1)
        } else {
            Some(run.old.end)
        };
        let other = other.and_then(|ix| block.old.get(ix));
        if has_bracket_alone(layout, run, is_before) {
            return None;
        }
        let (old, new) = (nearest(gone, is_before), nearest(added, is_before));
        let (old, new) = (&gone[old], run.new.start + new);
        let line = &block.new[new];
        let all = layout.runs.iter().flat_map(|run| run.new.clone());
        let others = all.filter(|ix| *ix != new);
        let filled = added.iter().filter(|line| !fold::is_blank(line));
        Some(Self {
            gone: gone.len(),
            added: added.len(),
            filled: filled.count(),
            likeness: likeness(old, line),
            next: others
                .map(|ix| likeness(old, &block.new[ix]))
                .fold(0.0, f32::max),
            pull: other.map_or(0.0, |other| likeness(other, line)),
            is_level: fold::indent(old) == fold::indent(line),
        })
    }

    /// Whether the new line replaces the old one.
    fn is_followed(&self) -> bool {
        if self.added > self.gone || self.added > self.filled {
            return self.likeness > self.next + MARGIN && self.likeness > self.pull;
        }
        // An unrelated line at another depth may be something else.
        if !self.is_level && self.likeness < ALIKE {
            return false;
        }
        let has_same_count = self.added == self.gone;
        let is_told = has_same_count || self.likeness.max(self.next) >= ALIKE;
        let is_own = is_told && self.likeness >= self.pull;
        (self.added == 1 || is_own) && self.next <= self.likeness + SLACK
    }
}

/// Whether only brackets lie between the gap and another change that removes blank lines: brackets
/// and blank lines are easily confused there.
fn has_bracket_alone(layout: BlockLayout, run: &DiffRun, is_before: bool) -> bool {
    let mut runs = layout.runs.iter();
    let (other, between) = if is_before {
        let other = runs.rev().find(|other| other.old.end < run.old.start);
        (other, other.map(|other| other.old.end..run.old.start))
    } else {
        let other = runs.find(|other| other.old.start > run.old.end);
        (other, other.map(|other| run.old.end..other.old.start))
    };
    other.zip(between).is_some_and(|(other, between)| {
        let old = &layout.block().old;
        let loses_blank = old[other.old.clone()]
            .iter()
            .any(|line| fold::is_blank(line));
        loses_blank && !old[between].iter().any(|line| fold::has_alphanumeric(line))
    })
}

/// Returns the line nearest to an end that contains letters or digits, or else the outermost line.
fn nearest(lines: &[String], is_first: bool) -> usize {
    let is_telling = |ix: &usize| fold::has_alphanumeric(&lines[*ix]);
    let end = lines.len() - 1;
    if is_first {
        (0..=end).find(is_telling).unwrap_or(0)
    } else {
        (0..=end).rev().find(is_telling).unwrap_or(end)
    }
}

/// Returns the similarity of two lines, from 0 to 1: the share of letters in common words.
fn likeness(a: &str, b: &str) -> f32 {
    let words = |line| -> Vec<&str> {
        let words = str::split(line, |sign: char| !sign.is_alphanumeric() && sign != '_');
        words.filter(|word| !word.is_empty()).collect()
    };
    let (a, mut b) = (words(a), words(b));
    let length: usize = a.iter().chain(&b).map(|word| word.len()).sum();
    let mut common = 0;
    for word in a {
        if let Some(ix) = b.iter().position(|other| *other == word) {
            common += 2 * word.len();
            b.swap_remove(ix);
        }
    }
    common as f32 / length.max(1) as f32
}
