//! What happens where a change lies right beside lines that block and file do not share.
//!
//! A blank line that the model left out of the old text, beside a change: it may be meant to stay
//! or the new text may hold it. Only what comes out the same either way is accepted.

use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

use crate::block::Block;
use crate::diff::Run;
use crate::edit::Grain;
use crate::file::FileText;
use crate::fold;
use crate::found::Aligned;
use crate::outcome::Doubt;

use super::are_blank;

/// Where block and file do not run side by side.
pub(super) struct Gaps {
    /// Rows that no old line stands on, and between which old lines they may lie.
    rows: Vec<(RangeInclusive<usize>, Range<usize>)>,
    /// Old lines that stand on no row, or any of several alike of which one stands on none.
    missing: Vec<Range<usize>>,
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
                gaps.missing.push(alike(&aligned.block.old, ix));
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

    pub(super) fn touching(&self, file: &FileText, aligned: &Aligned, run: &Run) -> Touch {
        if self.rows.is_empty() && self.missing.is_empty() {
            return Touch::Nothing;
        }
        let reach = reach(aligned, run);
        let is_near = |lines: &Range<usize>| lines.start <= reach.end && reach.start <= lines.end;
        if self.missing.iter().any(is_near) {
            return Touch::Missing;
        }
        let mut near = self
            .rows
            .iter()
            .filter(|(at, _)| *at.start() <= reach.end && reach.start <= *at.end())
            .filter(|(at, rows)| !stays_apart(file, aligned, run, at, rows));
        match (near.next(), near.next()) {
            (None, _) => Touch::Nothing,
            (Some((_, rows)), None) => Touch::Rows(rows.clone()),
            (Some(_), Some(_)) => Touch::Missing,
        }
    }
}

/// The run of equal lines that a line belongs to.
fn alike(lines: &[String], ix: usize) -> Range<usize> {
    let is_same = |line: &&String| **line == lines[ix];
    let before = lines[..ix].iter().rev().take_while(is_same).count();
    let after = lines[ix..].iter().take_while(is_same).count();
    ix - before..ix + after
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

/// Whether a change that touches rows left out stays clear of them all the same: where it replaces
/// lines at one end of several blank lines; or where lines that appear touch a blank row only if they slide,
/// and would then stand beside a second blank line, in a file that has none such.
fn stays_apart(
    file: &FileText,
    aligned: &Aligned,
    run: &Run,
    at: &RangeInclusive<usize>,
    rows: &Range<usize>,
) -> bool {
    let (new, place) = (&aligned.block.new, run.old.start);
    let is_blank_row = rows.len() == 1 && fold::is_blank(file.content(rows.start));
    let is_pair =
        at.start() < at.end() && rows.clone().all(|row| fold::is_blank(file.content(row)));
    let reach = reach(aligned, run);
    if is_pair && (reach.end == *at.start() || reach.start == *at.end()) {
        // One of several blank lines together is left out. They stay together beside lines that
        // are replaced; lines that appear might have come between them.
        let is_filled = new[run.new.clone()]
            .iter()
            .all(|line| !fold::is_blank(line));
        return !run.old.is_empty() && !run.new.is_empty() && is_filled;
    }
    if !run.old.is_empty() || !is_blank_row || has_double_blanks(file, &aligned.block) {
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
    let are_blank = extra.clone().all(|row| fold::is_blank(file.content(row)));
    if run.old.is_empty() && are_the_same && !(are_blank && has_double_blanks(file, &aligned.block))
    {
        return Ok(None);
    }
    if !are_blank || has_double_blanks(file, &aligned.block) {
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

/// Whether blank lines come in pairs in the file or in the new text. Then one more beside another
/// may well be meant.
fn has_double_blanks(file: &FileText, block: &Block) -> bool {
    let is_blank = |row: usize| fold::is_blank(file.content(row));
    let mut pairs = block.new.windows(2);
    pairs.any(are_blank) || (1..file.line_count()).any(|row| is_blank(row - 1) && is_blank(row))
}

/// The block with the blank lines of the file that its old text leaves out, where the new text has
/// them between the very lines that they stand between in the file. `None` where it does not.
pub(super) fn with_blanks_of_file(file: &FileText, aligned: &Aligned) -> Option<Aligned> {
    let block = &aligned.block;
    let rows: Vec<usize> = aligned.map.iter().copied().collect::<Option<_>>()?;
    let is_exact = rows
        .iter()
        .zip(&block.old)
        .all(|(row, old)| file.content(*row) == old);
    if !is_exact || rows.len() == aligned.rows.len() || has_double_blanks(file, &aligned.block) {
        return None;
    }
    let extra = aligned
        .rows
        .clone()
        .filter(|row| rows.binary_search(row).is_err());
    for row in extra {
        let around = row.checked_sub(1)?..row + 2;
        let lines: Vec<&str> = around.map(|row| file.content(row)).collect();
        let is_alone =
            fold::is_blank(lines[1]) && !fold::is_blank(lines[0]) && !fold::is_blank(lines[2]);
        let is_there = block.new.windows(3).any(|window| *window == lines);
        // Lines such as a closing bracket stand beside many a blank line.
        let once = |line: &str| block.new.iter().filter(|new| *new == line).count() == 1;
        if !is_alone || !is_there || !once(lines[0]) || !once(lines[2]) {
            return None;
        }
    }
    let whole = Block {
        old: aligned
            .rows
            .clone()
            .map(|row| file.content(row).to_owned())
            .collect(),
        ..Block::clone(block)
    };
    Some(Aligned::contiguous(&Rc::new(whole), aligned.rows.start))
}

/// Whether the old text stands there letter by letter.
fn is_exact(file: &FileText, aligned: &Aligned) -> bool {
    let mut lines = aligned.map.iter().zip(&aligned.block.old);
    let is_same =
        |(row, old): (&Option<usize>, &String)| row.is_some_and(|row| file.content(row) == old);
    aligned.map.len() == aligned.rows.len() && lines.all(is_same)
}

/// How many blank lines come first.
fn leading<'a>(lines: impl Iterator<Item = &'a String>) -> usize {
    lines.take_while(|line| fold::is_blank(line)).count()
}

/// Takes out blank lines that the new text has at its very start or end and the file has there too,
/// just outside the place: the model left them out of the old text. Where blank lines are all that
/// the hunk adds they are meant, and stay.
pub(super) fn shed_blank_edges(
    file: &FileText,
    aligned: &Aligned,
    runs: &mut Vec<Run>,
) -> Result<(), Doubt> {
    let block = &aligned.block;
    let adds_blanks_alone = match runs.as_slice() {
        [run] => run.old.is_empty() && are_blank(&block.new[run.new.clone()]),
        _ => false,
    };
    // Text that goes away within its line leaves a blank line behind.
    let leaves_blank = block.grain == Grain::Text && are_blank(&block.new);
    if adds_blanks_alone || leaves_blank || block.old.is_empty() {
        return Ok(());
    }
    let is_blank = |row: &usize| fold::is_blank(file.content(*row));
    for edge in [Edge::Start, Edge::End] {
        let (old, new, outside) = match edge {
            Edge::Start => (
                leading(block.old.iter()),
                leading(block.new.iter()),
                (0..aligned.rows.start).rev().take_while(is_blank).count(),
            ),
            Edge::End => (
                leading(block.old.iter().rev()),
                leading(block.new.iter().rev()),
                (aligned.rows.end..file.line_count())
                    .take_while(is_blank)
                    .count(),
            ),
        };
        // Who quotes blank lines there as they are has seen them.
        let is_seen = old > 0 && is_exact(file, aligned);
        if new <= old || outside == 0 || is_seen || !adds_blanks_at(block, runs, edge) {
            continue;
        }
        let run = match edge {
            Edge::Start => runs.first(),
            Edge::End => runs.last(),
        };
        let is_apart = run.is_some_and(|run| {
            let reach = reach(aligned, run);
            let is_there = match edge {
                Edge::Start => reach.start == 0,
                Edge::End => reach.end == block.old.len(),
            };
            let is_blank = are_blank(&block.new[run.new.clone()]);
            run.old.is_empty() && is_there && is_blank && run.new.len() == new - old
        });
        if !is_apart || outside < new - old || has_double_blanks(file, &aligned.block) {
            return Err(Doubt::BlankEdge);
        }
        match edge {
            Edge::Start => drop(runs.remove(0)),
            Edge::End => drop(runs.pop()),
        }
    }
    Ok(())
}

/// Whether blank lines at an edge of the new text were added there. They were not where lines of
/// the old text beyond them go away, and they stay along with the line that follows.
fn adds_blanks_at(block: &Block, runs: &[Run], edge: Edge) -> bool {
    let filled = |lines: &[String]| {
        let is_filled = |ix: &usize| !fold::is_blank(&lines[*ix]);
        match edge {
            Edge::Start => (0..lines.len()).find(is_filled),
            Edge::End => (0..lines.len()).rev().find(is_filled),
        }
    };
    match (filled(&block.old), filled(&block.new)) {
        (Some(old), Some(new)) if block.old[old] == block.new[new] => true,
        (_, Some(first)) => {
            let mut until = match edge {
                Edge::Start => 0..first + 1,
                Edge::End => first..block.new.len(),
            };
            until.any(|ix| runs.iter().any(|run| run.new.contains(&ix)))
        }
        (_, None) => runs.iter().any(|run| !run.new.is_empty()),
    }
}

#[derive(Clone, Copy)]
enum Edge {
    Start,
    End,
}
