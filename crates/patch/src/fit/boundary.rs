//! What happens where a change lies right beside lines that block and file do not share.
//!
//! A blank line that the model left out of the old text, beside a change: it may be meant to stay
//! or the new text may hold it. Only what comes out the same either way is accepted.

use std::ops::Range;
use std::rc::Rc;

use crate::block::Block;
use crate::diff::Run;
use crate::edit::Grain;
use crate::file::FileText;
use crate::fold;
use crate::found::Aligned;
use crate::outcome::Doubt;

use super::slide::reach;
use super::{Layout, are_blank};

/// Which rows a run replaces that touches `extra` rows; `None` if the file already is as it says.
pub(super) fn settle(
    layout: Layout,
    run: &Run,
    extra: Range<usize>,
) -> Result<Option<Range<usize>>, Doubt> {
    let Layout { file, aligned, .. } = layout;
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
        let mut rows = extra.clone().zip(new);
        let is_set_apart = run.old.is_empty()
            && leading >= extra.len()
            && trailing > 0
            && rows.all(|(row, line)| file.content(row) == line);
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
    // The line beyond them must be that of the file: brackets stand before many a blank line.
    let Block { old, new, .. } = &*aligned.block;
    let is_one = |ix: Option<usize>| {
        let line = ix.and_then(|ix| old.get(ix));
        line.is_some_and(|line| stands_once(old, line) && stands_once(new, line))
    };
    let is_behind = extra.end == first && leading == extra.len() && trailing == 0;
    if is_one_by_one && is_behind && is_one(run.old.start.checked_sub(1)) {
        return Ok(Some(extra.start..last + 1));
    }
    let is_before = extra.start == last + 1 && trailing == extra.len() && leading == 0;
    if is_one_by_one && is_before && is_one(Some(run.old.end)) {
        return Ok(Some(first..extra.end));
    }
    Err(Doubt::Boundary)
}

/// Whether blank lines come in pairs in the file or in the new text. Then one more beside another
/// may well be meant.
pub(super) fn has_double_blanks(file: &FileText, block: &Block) -> bool {
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
        let are_single = [lines[0], lines[2]]
            .iter()
            .all(|line| stands_once(&block.old, line) && stands_once(&block.new, line));
        if !is_alone || !is_there || !are_single {
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

fn stands_once(lines: &[String], line: &str) -> bool {
    lines.iter().filter(|other| *other == line).count() == 1
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
