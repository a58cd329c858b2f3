//! What happens where a change lies right beside lines that block and file do not share.
//!
//! A blank line that the model left out of the old text, beside a change: it may be meant to stay
//! or the new text may hold it. Only what comes out the same either way is accepted.

use std::ops::{Range, RangeInclusive};

use crate::diff::Run;
use crate::file::FileText;
use crate::fold;
use crate::found::Aligned;
use crate::outcome::Doubt;

use super::are_blank;

/// Where block and file do not run side by side.
pub(super) struct Gaps {
    /// Rows that no old line stands on, and between which old lines they may lie.
    rows: Vec<(RangeInclusive<usize>, Range<usize>)>,
    /// Old lines that stand on no row.
    missing: Vec<usize>,
}

/// What of the kind a run touches.
pub(super) enum Touch {
    Nothing,
    /// Rows of the file that the block leaves out.
    Rows(Range<usize>),
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
                gaps.missing.push(ix);
                continue;
            };
            if at > row {
                gaps.rows
                    .push((slack(file, aligned, from, ix, row..at), row..at));
            }
            row = at + 1;
            from = ix + 1;
        }
        gaps
    }

    pub(super) fn touching(&self, aligned: &Aligned, run: &Run) -> Touch {
        if self.rows.is_empty() && self.missing.is_empty() {
            return Touch::Nothing;
        }
        let reach = reach(aligned, run);
        let is_gone = |ix: &usize| run.old.contains(ix);
        let is_near = |ix: &usize| *ix < reach.end && *ix + 1 >= reach.start;
        if self
            .missing
            .iter()
            .any(|ix| !is_gone(ix) && (is_near(ix) || *ix == reach.end))
        {
            return Touch::Missing;
        }
        let mut near = self
            .rows
            .iter()
            .filter(|(at, _)| *at.start() <= reach.end && reach.start <= *at.end());
        match (near.next(), near.next()) {
            (None, _) => Touch::Nothing,
            (Some((_, rows)), None) => Touch::Rows(rows.clone()),
            (Some(_), Some(_)) => Touch::Missing,
        }
    }
}

/// Between which old lines rows may lie that are left out: they may look like lines beside them.
fn slack(
    file: &FileText,
    aligned: &Aligned,
    from: usize,
    to: usize,
    rows: Range<usize>,
) -> RangeInclusive<usize> {
    let same = |a: usize, b: usize| file.content(a) == file.content(b);
    let up = (1..=from.min(rows.start - aligned.rows.start))
        .take_while(|by| same(rows.start - by, rows.end - by))
        .count();
    let down = (0..(aligned.map.len() - to).min(aligned.rows.end - rows.end))
        .take_while(|by| same(rows.start + by, rows.end + by))
        .count();
    from - up..=to + down
}

/// Between which old lines a run may lie: one that only adds or only removes can slide over lines
/// that look like its own ends.
fn reach(aligned: &Aligned, run: &Run) -> Range<usize> {
    let (lines, part) = match (run.old.is_empty(), run.new.is_empty()) {
        (true, false) => (&aligned.block.new, run.new.clone()),
        (false, true) => (&aligned.block.old, run.old.clone()),
        _ => return run.old.clone(),
    };
    let up = (1..=part.start)
        .take_while(|by| lines[part.start - by] == lines[part.end - by])
        .count();
    let down = (0..lines.len() - part.end)
        .take_while(|by| lines[part.start + by] == lines[part.end + by])
        .count();
    run.old.start.saturating_sub(up)..run.old.end + down
}

/// Which rows a run replaces that touches `extra` rows; `None` if the file already is as it says.
pub(super) fn settle(
    file: &FileText,
    aligned: &Aligned,
    run: &Run,
    extra: Range<usize>,
) -> Result<Option<Range<usize>>, Doubt> {
    let new = &aligned.block.new[run.new.clone()];
    let are_the_same = new.len() == extra.len()
        && extra
            .clone()
            .zip(new)
            .all(|(row, line)| file.content(row) == line);
    if run.old.is_empty() && are_the_same {
        return Ok(None);
    }
    if !extra.clone().all(|row| fold::is_blank(file.content(row))) || is_beside_blank(file, &extra)
    {
        return Err(Doubt::Boundary);
    }
    let leading = new.iter().take_while(|line| fold::is_blank(line)).count();
    let trailing = new
        .iter()
        .rev()
        .take_while(|line| fold::is_blank(line))
        .count();
    let gone: Vec<usize> = aligned.map[run.old.clone()]
        .iter()
        .flatten()
        .copied()
        .collect();
    if gone.is_empty() {
        // Something set apart by blank lines on both sides.
        let is_set_apart = run.old.is_empty() && leading >= extra.len() && trailing > 0;
        return match is_set_apart && leading < new.len() {
            true => Ok(Some(extra)),
            false => Err(Doubt::Boundary),
        };
    }
    if leading == new.len() {
        return Err(Doubt::Boundary);
    }
    // Lines replaced one by one, with the blank lines beside them in the new text alone.
    let middle = &new[leading..new.len() - trailing];
    let has_blank = middle.iter().any(|line| fold::is_blank(line));
    let (first, last) = (gone[0], gone[gone.len() - 1]);
    let is_one_by_one = middle.len() == gone.len() && !has_blank && last - first + 1 == gone.len();
    if is_one_by_one && extra.end == first && leading == extra.len() && trailing == 0 {
        return Ok(Some(extra.start..last + 1));
    }
    if is_one_by_one && extra.start == last + 1 && trailing == extra.len() && leading == 0 {
        return Ok(Some(first..extra.end));
    }
    Err(Doubt::Boundary)
}

/// Whether further blank lines lie next to these rows, so that which of them are meant is open.
fn is_beside_blank(file: &FileText, rows: &Range<usize>) -> bool {
    let is_blank = |row: usize| row < file.line_count() && fold::is_blank(file.content(row));
    rows.start.checked_sub(1).is_some_and(is_blank) || is_blank(rows.end)
}

/// Takes out blank lines that the new text has at its very start or end and the file has there too,
/// just outside the place: the model left them out of the old text. Where they are all the hunk
/// adds they are meant, and stay.
pub(super) fn shed_blank_edges(
    file: &FileText,
    aligned: &Aligned,
    runs: &mut Vec<Run>,
) -> Result<(), Doubt> {
    let block = &aligned.block;
    let is_edge = |run: &Run, at_start: bool| {
        let reach = reach(aligned, run);
        let is_there = match at_start {
            true => reach.start == 0,
            false => reach.end == block.old.len(),
        };
        run.old.is_empty() && is_there && are_blank(&block.new[run.new.clone()])
    };
    let blank_rows = |at_start: bool| {
        let is_blank = |row: &usize| fold::is_blank(file.content(*row));
        match at_start {
            true => (0..aligned.rows.start).rev().take_while(is_blank).count(),
            false => (aligned.rows.end..file.line_count())
                .take_while(is_blank)
                .count(),
        }
    };
    let has_others = runs
        .iter()
        .any(|run| !is_edge(run, true) && !is_edge(run, false));
    if !has_others || block.old.is_empty() {
        return Ok(());
    }
    for at_start in [true, false] {
        let run = if at_start { runs.first() } else { runs.last() };
        let Some(run) = run.filter(|run| is_edge(run, at_start)) else {
            continue;
        };
        match blank_rows(at_start) {
            0 => {}
            count if count < run.new.len() => return Err(Doubt::BlankEdge),
            _ if at_start => drop(runs.remove(0)),
            _ => drop(runs.pop()),
        }
    }
    Ok(())
}
