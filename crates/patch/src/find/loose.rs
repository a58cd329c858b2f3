//! Line by line, apart from white space around lines and the look of punctuation.
//!
//! Every place counts at which the lines stand so, also where their indentation fits no uniform change:
//! which of two such places is meant is not told by how alike they look.

use std::rc::Rc;

use crate::block::Block;
use crate::file::FileText;
use crate::fold;
use crate::found::{Aligned, Match};
use crate::indent::Readings;
use crate::outcome::{Doubt, Rung};

/// All the places, if the block can land at one of them.
pub(super) fn find(file: &FileText, block: &Rc<Block>) -> Vec<Match> {
    let keys: Vec<u64> = block.old.iter().map(|line| fold::key(line)).collect();
    let rarest = (0..keys.len()).min_by_key(|ix| file.rows_with(keys[*ix]).len());
    let Some(pivot) = rarest.filter(|_| block.old.iter().any(|line| !fold::is_blank(line))) else {
        return Vec::new();
    };
    let file_keys = file.keys();
    let (mut found, mut can_land) = (Vec::new(), false);
    for (_, row) in file.rows_with(keys[pivot]) {
        let Some(start) = (*row as usize).checked_sub(pivot) else {
            continue;
        };
        if file_keys.get(start..start + keys.len()) == Some(&keys) {
            let fits = at(file, block, start);
            can_land |= fits.is_some();
            found.extend(fits.or_else(|| unclear(file, block, start)));
        }
    }
    // Closing brackets stand at every depth, so that at another one they are other brackets.
    if !block.old.iter().any(|line| fold::is_telling(line)) {
        found.retain(|found| found.rung == Rung::Normalised);
    }
    match can_land {
        true => found,
        false => Vec::new(),
    }
}

/// The block at `row` where its lines stand in another, uneven indentation.
fn unclear(file: &FileText, block: &Rc<Block>, row: usize) -> Option<Match> {
    let mut pairs = block.old.iter().zip(row..);
    let is_there = pairs.all(|(old, row)| fold::is_same(old, file.content(row)));
    let aligned = Aligned::contiguous(block, row);
    (is_there && !is_further_out(file, block, row))
        .then(|| Match::unclear(Rung::Reindented, aligned, Doubt::Indentation))
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
