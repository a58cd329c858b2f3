//! Matches line by line, allowing typos in a few lines.
//!
//! A misspelt word occurs nowhere in the file, so no other lines can be meant, however similar.

use std::rc::Rc;

use crate::block::LineBlock;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::{BlockAlignment, HunkMatch};
use crate::indent::IndentMappings;
use crate::outcome::{Ambiguity, HunkDifference, MatchStrategy};

use super::align::{TypoFinder, max_typos};

/// Returns the positions of the block.
pub(super) fn find(file: &FileText, block: &Rc<LineBlock>) -> Vec<HunkMatch> {
    let keys: Vec<u64> = block.old.iter().map(|line| fold::key(line)).collect();
    let filled = block.old.iter().filter(|line| !fold::is_blank(line));
    let most = max_typos(filled.count());
    if block.final_feed.is_some() || keys.len() <= most {
        return Vec::new();
    }
    // At least one of these lines is spelt right. Lines that occur nowhere are misspelt.
    let mut pivots: Vec<usize> = (0..keys.len()).collect();
    pivots.sort_by_key(|ix| file.rows_with(keys[*ix]).len());
    pivots.truncate(most + 1);
    let starts = pivots.iter().flat_map(|pivot| {
        let rows = file.rows_with(keys[*pivot]).iter();
        rows.filter_map(|(_, row)| (*row as usize).checked_sub(*pivot))
    });
    let mut starts: Vec<usize> = starts
        .filter(|start| {
            let rows = file.keys().get(*start..*start + keys.len());
            rows.is_some_and(|rows| {
                let differing = rows.iter().zip(&keys).filter(|(row, key)| row != key);
                differing.take(most + 1).count() <= most
            })
        })
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let slips = TypoFinder::of(file);
    let places = starts.into_iter();
    let places: Vec<(HunkMatch, MatchClarity)> = places
        .filter_map(|start| at(file, block, &slips, start))
        .collect();
    // A position at which the block cannot be applied still makes the match ambiguous.
    if places
        .iter()
        .any(|(_, landing)| *landing == MatchClarity::Sound)
    {
        places.into_iter().map(|(found, _)| found).collect()
    } else {
        Vec::new()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchClarity {
    Sound,
    Unclear,
}

/// Matches the block at `start`.
fn at(
    file: &FileText,
    block: &Rc<LineBlock>,
    slips: &TypoFinder,
    start: usize,
) -> Option<(HunkMatch, MatchClarity)> {
    let mut aligned = BlockAlignment::contiguous(block, start);
    for (ix, old) in block.old.iter().enumerate() {
        let row = file.content(start + ix);
        if !fold::is_same(old, row) {
            slips.distance(old, row)?;
            aligned.typos.push(ix);
        }
    }
    let pairs = block.old.iter().zip(start..);
    let pairs = pairs.filter(|(old, _)| !fold::is_blank(old));
    let indents: Vec<_> = pairs
        .map(|(old, row)| (fold::indent(old), fold::indent(file.content(row))))
        .collect();
    // Without typos, an earlier strategy has already rejected this position.
    if aligned.typos.is_empty() || IndentMappings::of(&indents).is_none() {
        let unclear = HunkMatch::unclear(MatchStrategy::Aligned, aligned, Ambiguity::Indentation);
        return Some((unclear, MatchClarity::Unclear));
    }
    let mut found = HunkMatch::from_alignment(MatchStrategy::Aligned, aligned);
    found.differences.push(HunkDifference::Typo);
    Some((found, MatchClarity::Sound))
}
