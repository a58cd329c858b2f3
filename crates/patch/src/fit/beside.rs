//! What happens to blank lines that neither side of a block has, right beside lines that go away.
//!
//! Nothing is said about them, so they stay, and the lines of the file that change tell on which
//! side of them new lines go. In doubt is what may have come about in another way: where lines move
//! they may take a blank line along, and where the new line at the blank one has nothing of the old
//! one there, it may stand on its other side, with the change behind it.

use std::ops::Range;

use crate::diff::Run;
use crate::fold;

use super::gaps::Gap;
use super::slide::likely_reach;
use super::{Layout, rows_of};

/// How much more another new line may be like the old line beside the blank one, where no more lines
/// appear than go away.
const SLACK: f32 = 0.2;
/// By how much the new line there must be more like it than all others, where more lines appear, or
/// a blank one, which may be that left out.
const MARGIN: f32 = 0.3;
/// Lines less alike have nothing in common.
const ALIKE: f32 = 0.1;

/// The rows that a run replaces beside a gap of blank lines, as long as there is no doubt.
pub(super) fn replaced(layout: Layout, run: &Run, gap: &Gap) -> Option<Range<usize>> {
    let Layout { file, aligned, .. } = layout;
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
        Edge::of(layout, run, is_before)?.is_followed()
    };
    stays.then(|| rows_of(aligned, run))
}

/// Whether a line goes away that appears again, here or elsewhere.
fn moves(layout: Layout, run: &Run) -> bool {
    let block = layout.block();
    let old = &block.old[run.old.clone()];
    let mut new = layout
        .runs
        .iter()
        .flat_map(|run| &block.new[run.new.clone()]);
    let is_back = |line: &String| {
        fold::is_telling(line) && old.iter().any(|other| fold::is_same(other, line))
    };
    new.any(is_back)
}

/// Whether lines that go away leave no two blank lines together. Where they would, they may have
/// taken one of them along, also in a file that has such pairs.
fn leaves_one_gap(layout: Layout, run: &Run, is_before: bool) -> bool {
    let old = &layout.block().old;
    let beyond = if is_before {
        old.get(run.old.end)
    } else {
        run.old.start.checked_sub(1).and_then(|ix| old.get(ix))
    };
    let says_something = !old[run.old.clone()].iter().all(|line| fold::is_blank(line));
    says_something && !beyond.is_some_and(|line| fold::is_blank(line))
}

/// The lines of a run beside the blank ones, and what they become.
struct Edge {
    /// How many lines go away.
    gone: usize,
    /// How many appear, blank ones included and not.
    added: usize,
    filled: usize,
    /// How much the new line there is like the old one.
    likeness: f32,
    /// The same for the new line that is most like it among all others.
    next: f32,
    /// How much the new line is like the line on the other side of the blank ones.
    pull: f32,
    /// Whether the new line is indented as the old one is.
    is_level: bool,
}

impl Edge {
    /// `None` where blank lines go away, or where one stands at the very edge: it may be one of
    /// those left out.
    fn of(layout: Layout, run: &Run, is_before: bool) -> Option<Self> {
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

    /// Whether the new line takes the place of the old one.
    fn is_followed(&self) -> bool {
        if self.added > self.gone || self.added > self.filled {
            return self.likeness > self.next + MARGIN && self.likeness > self.pull;
        }
        // At another depth a line that has nothing of the old one may be something else.
        if !self.is_level && self.likeness < ALIKE {
            return false;
        }
        let has_same_count = self.added == self.gone;
        let is_told = has_same_count || self.likeness.max(self.next) >= ALIKE;
        let is_own = is_told && self.likeness >= self.pull;
        (self.added == 1 || is_own) && self.next <= self.likeness + SLACK
    }
}

/// Whether nothing but brackets stands on the other side of the blank lines, up to a change that
/// takes blank lines away: there one bracket is soon taken for another, and one blank line as well.
fn has_bracket_alone(layout: Layout, run: &Run, is_before: bool) -> bool {
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
        loses_blank && !old[between].iter().any(|line| fold::is_telling(line))
    })
}

/// The line nearest to an end that says something, or the very last there.
fn nearest(lines: &[String], is_first: bool) -> usize {
    let is_telling = |ix: &usize| fold::is_telling(&lines[*ix]);
    let end = lines.len() - 1;
    if is_first {
        (0..=end).find(is_telling).unwrap_or(0)
    } else {
        (0..=end).rev().find(is_telling).unwrap_or(end)
    }
}

/// How much two lines have in common, from 0 to 1: the share of letters in words that both have.
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
