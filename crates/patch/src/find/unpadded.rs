//! Matches line by line, allowing unchanged lines without the leading space of the patch format.

use std::rc::Rc;

use crate::block::LineBlock;
use crate::diff::diff_lines;
use crate::file::FileText;
use crate::hunk_match::{BlockAlignment, HunkMatch};
use crate::outcome::{HunkDifference, MatchStrategy};

/// Returns the positions where the block matches this way.
pub(super) fn find(file: &FileText, block: &Rc<LineBlock>) -> Vec<HunkMatch> {
    let kept = kept_lines(block);
    let count = block.old.len();
    let Some(last) = file.line_count().checked_sub(count).filter(|_| count > 0) else {
        return Vec::new();
    };
    let is_padded = |ix: usize, row: usize| {
        let rest = file.content(row).strip_prefix(' ');
        !block.old[ix].is_empty() && rest == Some(block.old[ix].as_str())
    };
    let stands = |ix: usize, row: usize| {
        file.content(row) == block.old[ix] || (kept[ix].is_some() && is_padded(ix, row))
    };
    let rows = (0..=last).filter(|row| (0..count).all(|ix| stands(ix, row + ix)));
    rows.map(|row| {
        let mut padded = LineBlock::clone(block);
        for (ix, new) in kept.iter().enumerate() {
            let line = file.content(row + ix);
            padded.old[ix] = line.to_owned();
            if let Some(new) = new {
                padded.new[*new] = line.to_owned();
            }
        }
        let aligned = BlockAlignment::contiguous(&Rc::new(padded), row);
        let mut found = HunkMatch::from_alignment(MatchStrategy::Normalised, aligned);
        found.differences.push(HunkDifference::Indentation);
        found
    })
    .collect()
}

/// Returns the new line that each unchanged old line corresponds to.
fn kept_lines(block: &LineBlock) -> Vec<Option<usize>> {
    let mut kept = vec![None; block.old.len()];
    let (mut old, mut new) = (0, 0);
    let runs = diff_lines(&block.old, &block.new);
    let ends = runs.iter().map(|run| (run.old.clone(), run.new.clone()));
    let end = (block.old.len(), block.new.len());
    for (gone, come) in ends.chain([(end.0..end.0, end.1..end.1)]) {
        for (old, new) in (old..gone.start).zip(new..come.start) {
            kept[old] = Some(new);
        }
        (old, new) = (gone.end, come.end);
    }
    kept
}
