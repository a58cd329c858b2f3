//! Matches line by line, ignoring surrounding white space and typographic punctuation.
//!
//! Every position with matching lines counts, even if its indentation does not differ uniformly:
//! similarity alone does not decide between two positions.

use std::rc::Rc;

use crate::block::LineBlock;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::{BlockAlignment, HunkMatch};
use crate::indent::IndentMappings;
use crate::outcome::{Ambiguity, MatchStrategy};

/// Returns all positions, if the block can be applied at one of them.
pub(super) fn find(file: &FileText, block: &Rc<LineBlock>) -> Vec<HunkMatch> {
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
    // Closing brackets occur at every depth; at another depth they are different brackets.
    if !block.old.iter().any(|line| fold::has_alphanumeric(line)) {
        found.retain(|found| found.strategy == MatchStrategy::Normalised);
    }
    if can_land { found } else { Vec::new() }
}

/// Returns an ambiguous match at `row` if its lines match with uneven indentation.
fn unclear(file: &FileText, block: &Rc<LineBlock>, row: usize) -> Option<HunkMatch> {
    let mut pairs = block.old.iter().zip(row..);
    let is_there = pairs.all(|(old, row)| fold::is_same(old, file.content(row)));
    let aligned = BlockAlignment::contiguous(block, row);
    (is_there && !is_further_out(file, block, row))
        .then(|| HunkMatch::unclear(MatchStrategy::Reindented, aligned, Ambiguity::Indentation))
}

/// Matches the block at `row`, if it fits there.
pub(super) fn at(file: &FileText, block: &Rc<LineBlock>, row: usize) -> Option<HunkMatch> {
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
    let strategy = if IndentMappings::of(&indents)?.is_same() {
        MatchStrategy::Normalised
    } else {
        MatchStrategy::Reindented
    };
    Some(HunkMatch::from_alignment(
        strategy,
        BlockAlignment::contiguous(block, row),
    ))
}

/// Whether a blank line at an end of the block differs from its row but equals the next row
/// outside.
fn is_further_out(file: &FileText, block: &LineBlock, row: usize) -> bool {
    let is_beyond = |line: Option<&String>, row: usize, beyond: Option<usize>| {
        line.filter(|line| fold::is_blank(line) && *line != file.content(row))
            .zip(beyond)
            .is_some_and(|(line, beyond)| !line.is_empty() && file.content(beyond) == line)
    };
    let last = row + block.old.len().saturating_sub(1);
    is_beyond(block.old.first(), row, row.checked_sub(1))
        || is_beyond(block.old.last(), last, Some(last + 1))
}
