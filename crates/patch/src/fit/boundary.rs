//! Resolves changes directly beside lines that the block and the file do not share.
//!
//! A blank line that the model left out of the old text beside a change may be meant to stay, or
//! the new text may contain it. Only unambiguous cases are accepted.

use std::ops::Range;
use std::rc::Rc;

use crate::block::LineBlock;
use crate::diff::DiffRun;
use crate::edit::Grain;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::BlockAlignment;
use crate::outcome::Ambiguity;

use super::slide::reach;
use super::{BlockLayout, are_blank};

/// Returns the rows that a run replaces if it touches `extra` rows; `None` if the file already
/// contains its result.
pub(super) fn resolve_rows(
    layout: BlockLayout,
    run: &DiffRun,
    extra: Range<usize>,
) -> Result<Option<Range<usize>>, Ambiguity> {
    let BlockLayout { file, aligned, .. } = layout;
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
        return Err(Ambiguity::Boundary);
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
        // An insertion with blank lines on both sides.
        let mut rows = extra.clone().zip(new);
        let is_set_apart = run.old.is_empty()
            && leading >= extra.len()
            && trailing > 0
            && rows.all(|(row, line)| file.content(row) == line);
        return if is_set_apart && leading < new.len() {
            Ok(Some(extra))
        } else {
            Err(Ambiguity::Boundary)
        };
    }
    if leading == new.len() {
        return Err(Ambiguity::Boundary);
    }
    // Lines replaced one by one, with adjacent blank lines in the new text only.
    let middle = &new[leading..new.len() - trailing];
    let has_blank = middle.iter().any(|line| fold::is_blank(line));
    let (first, last) = (gone[0], gone[gone.len() - 1]);
    let is_one_by_one = middle.len() == gone.len() && !has_blank && last - first + 1 == gone.len();
    // The line beyond must be unique, since brackets precede many blank lines.
    let LineBlock { old, new, .. } = &*aligned.block;
    let is_one = |ix: Option<usize>| {
        let line = ix.and_then(|ix| old.get(ix));
        line.is_some_and(|line| occurs_once(old, line) && occurs_once(new, line))
    };
    let is_behind = extra.end == first && leading == extra.len() && trailing == 0;
    if is_one_by_one && is_behind && is_one(run.old.start.checked_sub(1)) {
        return Ok(Some(extra.start..last + 1));
    }
    let is_before = extra.start == last + 1 && trailing == extra.len() && leading == 0;
    if is_one_by_one && is_before && is_one(Some(run.old.end)) {
        return Ok(Some(first..extra.end));
    }
    Err(Ambiguity::Boundary)
}

/// Whether the file or the new text contains consecutive blank lines. An additional one may then be
/// meant.
pub(super) fn has_double_blanks(file: &FileText, block: &LineBlock) -> bool {
    let is_blank = |row: usize| fold::is_blank(file.content(row));
    let mut pairs = block.new.windows(2);
    pairs.any(are_blank) || (1..file.line_count()).any(|row| is_blank(row - 1) && is_blank(row))
}

/// Adds the blank lines of the file that the old text leaves out, if the new text has them between
/// the same lines as the file. `None` otherwise.
pub(super) fn with_blanks_of_file(
    file: &FileText,
    aligned: &BlockAlignment,
) -> Option<BlockAlignment> {
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
        // Lines such as a closing bracket occur beside many blank lines.
        let are_single = [lines[0], lines[2]]
            .iter()
            .all(|line| occurs_once(&block.old, line) && occurs_once(&block.new, line));
        if !is_alone || !is_there || !are_single {
            return None;
        }
    }
    let whole = LineBlock {
        old: aligned
            .rows
            .clone()
            .map(|row| file.content(row).to_owned())
            .collect(),
        ..LineBlock::clone(block)
    };
    Some(BlockAlignment::contiguous(
        &Rc::new(whole),
        aligned.rows.start,
    ))
}

fn occurs_once(lines: &[String], line: &str) -> bool {
    lines.iter().filter(|other| *other == line).count() == 1
}

/// Whether the old text matches the file exactly.
fn is_exact(file: &FileText, aligned: &BlockAlignment) -> bool {
    let mut lines = aligned.map.iter().zip(&aligned.block.old);
    let is_same =
        |(row, old): (&Option<usize>, &String)| row.is_some_and(|row| file.content(row) == old);
    aligned.map.len() == aligned.rows.len() && lines.all(is_same)
}

/// Returns the number of leading blank lines.
fn leading<'a>(lines: impl Iterator<Item = &'a String>) -> usize {
    lines.take_while(|line| fold::is_blank(line)).count()
}

/// Drops blank lines at the very start or end of the new text that the file already has just
/// outside the match: the model left them out of the old text. A hunk that adds only blank lines
/// keeps them.
pub(super) fn shed_blank_edges(
    file: &FileText,
    aligned: &BlockAlignment,
    runs: &mut Vec<DiffRun>,
) -> Result<(), Ambiguity> {
    let block = &aligned.block;
    let adds_blanks_alone = match runs.as_slice() {
        [run] => run.old.is_empty() && are_blank(&block.new[run.new.clone()]),
        _ => false,
    };
    // Text removed within its line leaves a blank line.
    let leaves_blank = block.grain == Grain::Text && are_blank(&block.new);
    if adds_blanks_alone || leaves_blank || block.old.is_empty() {
        return Ok(());
    }
    let is_blank = |row: &usize| fold::is_blank(file.content(*row));
    for edge in [BlockEdge::Start, BlockEdge::End] {
        let (old, new, outside) = match edge {
            BlockEdge::Start => (
                leading(block.old.iter()),
                leading(block.new.iter()),
                (0..aligned.rows.start).rev().take_while(is_blank).count(),
            ),
            BlockEdge::End => (
                leading(block.old.iter().rev()),
                leading(block.new.iter().rev()),
                (aligned.rows.end..file.line_count())
                    .take_while(is_blank)
                    .count(),
            ),
        };
        // An exact quote of the blank lines shows that the model has seen them.
        let is_seen = old > 0 && is_exact(file, aligned);
        if new <= old || outside == 0 || is_seen || !adds_blanks_at(block, runs, edge) {
            continue;
        }
        let run = match edge {
            BlockEdge::Start => runs.first(),
            BlockEdge::End => runs.last(),
        };
        let is_apart = run.is_some_and(|run| {
            let reach = reach(aligned, run);
            let is_there = match edge {
                BlockEdge::Start => reach.start == 0,
                BlockEdge::End => reach.end == block.old.len(),
            };
            let is_blank = are_blank(&block.new[run.new.clone()]);
            run.old.is_empty() && is_there && is_blank && run.new.len() == new - old
        });
        if !is_apart || outside < new - old || has_double_blanks(file, &aligned.block) {
            return Err(Ambiguity::BlankEdge);
        }
        match edge {
            BlockEdge::Start => drop(runs.remove(0)),
            BlockEdge::End => drop(runs.pop()),
        }
    }
    Ok(())
}

/// Whether blank lines at an edge of the new text were added. They were not if old lines beyond
/// them are removed and they stay with the following line.
fn adds_blanks_at(block: &LineBlock, runs: &[DiffRun], edge: BlockEdge) -> bool {
    let filled = |lines: &[String]| {
        let is_filled = |ix: &usize| !fold::is_blank(&lines[*ix]);
        match edge {
            BlockEdge::Start => (0..lines.len()).find(is_filled),
            BlockEdge::End => (0..lines.len()).rev().find(is_filled),
        }
    };
    match (filled(&block.old), filled(&block.new)) {
        (Some(old), Some(new)) if block.old[old] == block.new[new] => true,
        (_, Some(first)) => {
            let mut until = match edge {
                BlockEdge::Start => 0..first + 1,
                BlockEdge::End => first..block.new.len(),
            };
            until.any(|ix| runs.iter().any(|run| run.new.contains(&ix)))
        }
        (_, None) => runs.iter().any(|run| !run.new.is_empty()),
    }
}

#[derive(Clone, Copy)]
enum BlockEdge {
    Start,
    End,
}
