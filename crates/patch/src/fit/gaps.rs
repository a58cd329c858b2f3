//! The rows of the file that a block leaves out, the lines of it that the file does not have, and what
//! of the kind a change touches.

use std::ops::{Range, RangeInclusive};

use crate::block::Block;
use crate::diff::Run;
use crate::file::FileText;
use crate::fold;
use crate::found::Aligned;

use super::boundary::has_double_blanks;
use super::slide::{likely_reach, reach};
use super::{Layout, are_blank, beside, pairs};

/// Where block and file do not run side by side.
pub(super) struct Gaps {
    rows: Vec<Gap>,
    /// Old lines that stand on no row, or any of several alike of which one stands on none.
    missing: Vec<Range<usize>>,
}

/// Rows that no old line stands on.
pub(super) struct Gap {
    /// Between which old lines they may lie.
    pub(super) at: RangeInclusive<usize>,
    pub(super) rows: Range<usize>,
}

/// What of the kind a run touches.
pub(super) enum Touch {
    Nothing,
    /// Rows of the file that the block leaves out.
    Rows(Range<usize>),
    /// Some that leave no doubt which rows the run replaces.
    Clear(Range<usize>),
    /// A line of the block that the file does not have, and that stays; or several gaps.
    Missing,
}

impl Gaps {
    pub(super) fn of(file: &FileText, aligned: &Aligned) -> Self {
        let mut gaps = Self {
            rows: Vec::new(),
            missing: Vec::new(),
        };
        let mut row = aligned.rows.start;
        // One behind the last old line that stands on a row.
        let mut from = 0;
        for (ix, at) in aligned.map.iter().enumerate() {
            let Some(at) = *at else {
                gaps.missing.push(alike(&aligned.block.old, ix));
                continue;
            };
            if at > row {
                let rows = row..at;
                let at = slack(file, aligned, from..ix, &rows);
                gaps.rows.push(Gap { at, rows });
            }
            row = at + 1;
            from = ix + 1;
        }
        gaps
    }

    pub(super) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether one of the runs may lie beside rows left out.
    pub(super) fn are_touched(&self, aligned: &Aligned, runs: &[Run]) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|gap| runs.iter().any(|run| gap.is_touched(aligned, run)))
    }

    /// Whether lines appear just before the last one in front of a bracket, and a blank line between
    /// these two is left out: it may be meant to come in front of both.
    pub(super) fn may_move_up(&self, layout: Layout) -> bool {
        self.rows.iter().any(|Gap { at, .. }| {
            let behind = layout.block().old.get(*at.end());
            let closes = behind.is_some_and(|line| !fold::is_telling(line));
            let is_before = |run: &Run| run.old.is_empty() && run.old.start + 1 == *at.start();
            closes && layout.runs.iter().any(is_before)
        })
    }

    /// Forgets the rows between lines that the new text keeps side by side, if it has them so in one
    /// place alone: they stay between them.
    pub(super) fn without_kept(mut self, layout: Layout) -> Self {
        let Block { old, new, .. } = layout.block();
        self.rows.retain(|gap| {
            let mut runs = layout.runs.iter();
            let is_kept = !runs.any(|run| gap.is_touched(layout.aligned, run));
            let first = gap.at.start().checked_sub(1);
            let around = first.and_then(|first| old.get(first..=*gap.at.end()));
            let stands_once = |lines: &[String], part: &[String]| {
                let windows = lines.windows(part.len());
                windows.filter(|window| *window == part).count() == 1
            };
            let is_one =
                around.is_some_and(|part| stands_once(old, part) && stands_once(new, part));
            !(is_kept && is_one)
        });
        self
    }

    pub(super) fn touching(&self, layout: Layout, run: &Run) -> Touch {
        if self.rows.is_empty() && self.missing.is_empty() {
            return Touch::Nothing;
        }
        let all = reach(layout.aligned, run);
        let is_near = |lines: &Range<usize>| lines.start <= all.end && all.start <= lines.end;
        if self.missing.iter().any(is_near) {
            return Touch::Missing;
        }
        let near: Vec<&Gap> = self
            .rows
            .iter()
            .filter(|gap| gap.is_touched(layout.aligned, run))
            .filter(|gap| !stays_apart(layout, run, gap))
            .collect();
        match near.as_slice() {
            [] => Touch::Nothing,
            [gap] => {
                let rows = pairs::replaced(layout, run, gap);
                let rows = rows.or_else(|| beside::replaced(layout, run, gap));
                match rows.or_else(|| pairs::removed(layout, run, gap)) {
                    Some(rows) => Touch::Clear(rows),
                    None => Touch::Rows(gap.rows.clone()),
                }
            }
            // Blank lines on both sides stay there, unless nothing is left between them.
            [before, behind] if !run.new.is_empty() => {
                let sides = [before, behind].map(|gap| beside::replaced(layout, run, gap));
                match sides {
                    [Some(rows), Some(_)] => Touch::Clear(rows),
                    _ => Touch::Missing,
                }
            }
            _ => Touch::Missing,
        }
    }

    /// Whether a line moves from one side of rows left out to the other, so that the lines between
    /// may be meant to stay on either side of them. Beside each run, the rows that it replaces.
    pub(super) fn are_crossed(&self, block: &Block, runs: &[(&Run, Range<usize>)]) -> bool {
        self.rows.iter().any(|Gap { rows: gap, .. }| {
            let before = runs.iter().filter(|(_, rows)| rows.end <= gap.start);
            before.clone().any(|(before, _)| {
                let mut behind = runs.iter().filter(|(_, rows)| rows.start >= gap.end);
                behind
                    .any(|(behind, _)| moves(block, before, behind) || moves(block, behind, before))
            })
        })
    }
}

impl Gap {
    /// Whether a run leaves the lines alone between and beside which the rows lie.
    pub(super) fn is_apart(&self, run: &Run) -> bool {
        run.old.end < *self.at.start() || run.old.start > *self.at.end()
    }

    /// Whether a run may lie there.
    pub(super) fn is_touched(&self, aligned: &Aligned, run: &Run) -> bool {
        let reach = likely_reach(aligned, run);
        *self.at.start() <= reach.end && reach.start <= *self.at.end()
    }
}

/// Whether nothing but blank lines is new, and nothing goes away.
pub(super) fn adds_blanks_alone(block: &Block, runs: &[Run]) -> bool {
    let mut runs = runs.iter();
    runs.all(|run| run.old.is_empty() && are_blank(&block.new[run.new.clone()]))
}

/// Whether a line that one run takes away comes back in the other.
fn moves(block: &Block, from: &Run, to: &Run) -> bool {
    let new = &block.new[to.new.clone()];
    new.iter().any(|line| goes_away(block, from, line))
}

/// Whether a run takes a line away that the old text and the new one have once each. Brackets and the
/// like come and go everywhere.
pub(super) fn goes_away(block: &Block, run: &Run, line: &str) -> bool {
    let is_it = |other: &&String| fold::is_same(other, line);
    let is_one = |lines: &[String]| lines.iter().filter(is_it).count() == 1;
    let is_gone = block.old[run.old.clone()].iter().any(|other| is_it(&other));
    fold::is_telling(line) && is_gone && is_one(&block.old) && is_one(&block.new)
}

/// The run of equal lines that a line belongs to.
fn alike(lines: &[String], ix: usize) -> Range<usize> {
    let is_same = |line: &&String| **line == lines[ix];
    let before = lines[..ix].iter().rev().take_while(is_same).count();
    let after = lines[ix..].iter().take_while(is_same).count();
    ix - before..ix + after
}

/// Between which old lines rows may lie that are left out: those that they lie between, or more where
/// they look like lines beside them.
fn slack(
    file: &FileText,
    aligned: &Aligned,
    between: Range<usize>,
    rows: &Range<usize>,
) -> RangeInclusive<usize> {
    let Range {
        start: from,
        end: to,
    } = between;
    let same = |a: usize, b: usize| file.content(a) == file.content(b);
    let up = (1..=from.min(rows.start - aligned.rows.start))
        .take_while(|by| same(rows.start - by, rows.end - by))
        .count();
    let down = (0..(aligned.map.len() - to).min(aligned.rows.end - rows.end))
        .take_while(|by| same(rows.start + by, rows.end + by))
        .count();
    from - up..=to + down
}

/// Whether lines that appear beside a blank row left out stay clear of it all the same: they touch it
/// only if they slide, and would then stand beside a second blank line, in a file that has none such.
fn stays_apart(layout: Layout, run: &Run, gap: &Gap) -> bool {
    let (file, block) = (layout.file, layout.block());
    let Gap { at, rows } = gap;
    let (new, place) = (&block.new, run.old.start);
    let is_blank_row = rows.len() == 1 && fold::is_blank(file.content(rows.start));
    if !run.old.is_empty() || !is_blank_row || has_double_blanks(file, block) {
        return false;
    }
    let beside = if *at.end() < place {
        run.new.end.checked_sub(1 + place - at.end())
    } else if *at.start() > place {
        Some(run.new.start + at.start() - place)
    } else {
        None
    };
    beside
        .and_then(|ix| new.get(ix))
        .is_some_and(|line| fold::is_blank(line))
}
