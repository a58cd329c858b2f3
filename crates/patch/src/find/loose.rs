//! Line by line, apart from white space around lines and the look of punctuation.

use std::rc::Rc;

use crate::block::Block;
use crate::file::FileText;
use crate::fold;
use crate::found::{Aligned, Match};
use crate::indent::Readings;
use crate::outcome::Rung;

/// The places with the same indentation, or else those where it differs uniformly.
pub(super) fn find(file: &FileText, block: &Rc<Block>) -> Vec<Match> {
    let keys: Vec<u64> = block.old.iter().map(|line| fold::key(line)).collect();
    let rarest = (0..keys.len()).min_by_key(|ix| file.rows_with(keys[*ix]).len());
    let Some(pivot) = rarest.filter(|_| block.old.iter().any(|line| !fold::is_blank(line))) else {
        return Vec::new();
    };
    let file_keys = file.keys();
    let mut found = Vec::new();
    for (_, row) in file.rows_with(keys[pivot]) {
        let Some(start) = (*row as usize).checked_sub(pivot) else {
            continue;
        };
        if file_keys.get(start..start + keys.len()) == Some(&keys) {
            found.extend(at(file, block, start));
        }
    }
    let best = found.iter().map(|found| found.rung).min();
    found.retain(|found| Some(found.rung) == best);
    // Closing brackets stand at every depth, so that at another one they are other brackets.
    if best == Some(Rung::Reindented) && !block.old.iter().any(|line| fold::is_telling(line)) {
        found.clear();
    }
    found
}

/// The block at `row`, if it fits there.
pub(super) fn at(file: &FileText, block: &Rc<Block>, row: usize) -> Option<Match> {
    let pairs =
        || (block.old.iter().zip(row..)).map(|(old, row)| (old.as_str(), file.content(row)));
    if !pairs().all(|(old, row)| fold::is_same(old, row)) {
        return None;
    }
    if is_further_out(file, block, row) {
        return None;
    }
    let filled = pairs().filter(|(old, _)| !fold::is_blank(old));
    let indents: Vec<_> = filled
        .map(|(old, row)| (fold::indent(old), fold::indent(row)))
        .collect();
    let rung = match Readings::of(&indents)?.is_same() {
        true => Rung::Normalised,
        false => Rung::Reindented,
    };
    Some(Match::lines(rung, Aligned::contiguous(block, row)))
}

/// Whether a blank line at an end of the block is not on its row as it is, but on the next one beyond.
fn is_further_out(file: &FileText, block: &Block, row: usize) -> bool {
    let is_beyond = |line: Option<&String>, row: usize, beyond: Option<usize>| {
        line.filter(|line| fold::is_blank(line) && *line != file.content(row))
            .zip(beyond)
            .is_some_and(|(line, beyond)| !line.is_empty() && file.content(beyond) == line)
    };
    let last = row + block.old.len().saturating_sub(1);
    is_beyond(block.old.first(), row, row.checked_sub(1))
        || is_beyond(block.old.last(), last, Some(last + 1))
}
