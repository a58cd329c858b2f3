//! Rows of the file that a block leaves out, lines of the block that the file lacks, and whether a
//! change touches them.

use std::ops::{Range, RangeInclusive};

use crate::block::LineBlock;
use crate::diff::DiffRun;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::BlockAlignment;

use super::boundary::has_double_blanks;
use super::slide::{likely_reach, reach};
use super::{BlockLayout, adjacent, are_blank, pairs};

/// Mismatches between block and file.
pub(super) struct RowGaps {
    rows: Vec<RowGap>,
    /// Ranges of old lines without a row; a range covers all equal lines if one of them lacks a
    /// row.
    missing: Vec<Range<usize>>,
}

/// Rows that no old line matches.
pub(super) struct RowGap {
    /// Old lines between which the rows may lie.
    pub(super) at: RangeInclusive<usize>,
    pub(super) rows: Range<usize>,
}

/// Mismatch that a run touches.
pub(super) enum GapTouch {
    Nothing,
    /// Rows of the file that the block leaves out.
    Rows(Range<usize>),
    /// Rows that the run unambiguously replaces.
    Clear(Range<usize>),
    /// A line of the block that the file lacks and that stays, or several gaps.
    Missing,
}

impl RowGaps {
    pub(super) fn of(file: &FileText, aligned: &BlockAlignment) -> Self {
        let mut gaps = Self {
            rows: Vec::new(),
            missing: Vec::new(),
        };
        let mut row = aligned.rows.start;
        // Index after the last old line that matches a row.
        let mut from = 0;
        for (ix, at) in aligned.map.iter().enumerate() {
            let Some(at) = *at else {
                gaps.missing.push(alike(&aligned.block.old, ix));
                continue;
            };
            if at > row {
                let rows = row..at;
                let at = slack(file, aligned, from..ix, &rows);
                gaps.rows.push(RowGap { at, rows });
            }
            row = at + 1;
            from = ix + 1;
        }
        gaps
    }

    /// Whether the block leaves out any row between its first and last one.
    pub(super) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether one of the runs may lie beside rows left out.
    pub(super) fn are_touched(&self, aligned: &BlockAlignment, runs: &[DiffRun]) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|gap| runs.iter().any(|run| gap.is_touched(aligned, run)))
    }

    /// Whether lines are added just above the line in front of a bracket (or of another line
    /// without letters and digits), while the block leaves out rows between that line and the
    /// bracket. Those rows may be meant to stay there, or to move up in front of the addition.
    pub(super) fn may_move_up(&self, layout: BlockLayout) -> bool {
        self.rows.iter().any(|RowGap { at, .. }| {
            let behind = layout.block().old.get(*at.end());
            let closes = behind.is_some_and(|line| !fold::has_alphanumeric(line));
            let is_before = |run: &DiffRun| run.old.is_empty() && run.old.start + 1 == *at.start();
            closes && layout.runs.iter().any(is_before)
        })
    }

    /// Drops gaps between lines that the new text keeps adjacent, if it contains them in exactly
    /// one place: the rows stay between them.
    pub(super) fn without_kept(mut self, layout: BlockLayout) -> Self {
        let LineBlock { old, new, .. } = layout.block();
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

    pub(super) fn touching(&self, layout: BlockLayout, run: &DiffRun) -> GapTouch {
        if self.rows.is_empty() && self.missing.is_empty() {
            return GapTouch::Nothing;
        }
        let all = reach(layout.aligned, run);
        let is_near = |lines: &Range<usize>| lines.start <= all.end && all.start <= lines.end;
        if self.missing.iter().any(is_near) {
            return GapTouch::Missing;
        }
        let near: Vec<&RowGap> = self
            .rows
            .iter()
            .filter(|gap| gap.is_touched(layout.aligned, run))
            .filter(|gap| !stays_apart(layout, run, gap))
            .collect();
        match near.as_slice() {
            [] => GapTouch::Nothing,
            [gap] => {
                let rows = pairs::replaced(layout, run, gap);
                let rows = rows.or_else(|| adjacent::replaced(layout, run, gap));
                match rows.or_else(|| pairs::removed(layout, run, gap)) {
                    Some(rows) => GapTouch::Clear(rows),
                    None => GapTouch::Rows(gap.rows.clone()),
                }
            }
            // Blank lines on both sides stay, unless nothing is left between them.
            [before, behind] if !run.new.is_empty() => {
                let sides = [before, behind].map(|gap| adjacent::replaced(layout, run, gap));
                match sides {
                    [Some(rows), Some(_)] => GapTouch::Clear(rows),
                    _ => GapTouch::Missing,
                }
            }
            _ => GapTouch::Missing,
        }
    }

    /// Whether a line moves from one side of a gap to the other, so that the rows between may be
    /// meant to stay on either side. Each run comes with the rows that it replaces.
    pub(super) fn are_crossed(&self, block: &LineBlock, runs: &[(&DiffRun, Range<usize>)]) -> bool {
        self.rows.iter().any(|RowGap { rows: gap, .. }| {
            let before = runs.iter().filter(|(_, rows)| rows.end <= gap.start);
            before.clone().any(|(before, _)| {
                let mut behind = runs.iter().filter(|(_, rows)| rows.start >= gap.end);
                behind
                    .any(|(behind, _)| moves(block, before, behind) || moves(block, behind, before))
            })
        })
    }
}

impl RowGap {
    /// Whether a run does not touch the lines around the gap.
    pub(super) fn is_apart(&self, run: &DiffRun) -> bool {
        run.old.end < *self.at.start() || run.old.start > *self.at.end()
    }

    /// Whether a run may lie at the gap.
    pub(super) fn is_touched(&self, aligned: &BlockAlignment, run: &DiffRun) -> bool {
        let reach = likely_reach(aligned, run);
        *self.at.start() <= reach.end && reach.start <= *self.at.end()
    }
}

/// Whether the runs only add blank lines.
pub(super) fn adds_blanks_alone(block: &LineBlock, runs: &[DiffRun]) -> bool {
    let mut runs = runs.iter();
    runs.all(|run| run.old.is_empty() && are_blank(&block.new[run.new.clone()]))
}

/// Whether a line removed by one run is added by the other.
fn moves(block: &LineBlock, from: &DiffRun, to: &DiffRun) -> bool {
    let new = &block.new[to.new.clone()];
    new.iter().any(|line| goes_away(block, from, line))
}

/// Whether a run removes a line that occurs once in the old and once in the new text. Lines such as
/// brackets are ignored.
pub(super) fn goes_away(block: &LineBlock, run: &DiffRun, line: &str) -> bool {
    let is_it = |other: &&String| fold::is_same(other, line);
    let is_one = |lines: &[String]| lines.iter().filter(is_it).count() == 1;
    let is_gone = block.old[run.old.clone()].iter().any(|other| is_it(&other));
    fold::has_alphanumeric(line) && is_gone && is_one(&block.old) && is_one(&block.new)
}

/// Returns the run of equal lines around a line.
fn alike(lines: &[String], ix: usize) -> Range<usize> {
    let is_same = |line: &&String| **line == lines[ix];
    let before = lines[..ix].iter().rev().take_while(is_same).count();
    let after = lines[ix..].iter().take_while(is_same).count();
    ix - before..ix + after
}

/// Returns the old lines between which unmatched rows may lie: more than one position if the rows
/// equal adjacent lines.
fn slack(
    file: &FileText,
    aligned: &BlockAlignment,
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

/// Whether lines added beside an unmatched blank row stay clear of it: they would touch it only
/// after sliding, and would then produce two consecutive blank lines, which the file does not have.
fn stays_apart(layout: BlockLayout, run: &DiffRun, gap: &RowGap) -> bool {
    let (file, block) = (layout.file, layout.block());
    let RowGap { at, rows } = gap;
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
