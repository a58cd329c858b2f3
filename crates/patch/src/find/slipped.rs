//! Line by line, but for slips of the pen in a few of them.
//!
//! What is misspelt stands nowhere in the file, so that no other lines are meant, however much they
//! look like these.

use std::rc::Rc;

use crate::block::Block;
use crate::file::FileText;
use crate::fold;
use crate::found::{Aligned, Match};
use crate::indent::Readings;
use crate::outcome::{Difference, Doubt, Rung};

use super::align::{Slips, most_typos};

/// The places.
pub(super) fn find(file: &FileText, block: &Rc<Block>) -> Vec<Match> {
    let keys: Vec<u64> = block.old.iter().map(|line| fold::key(line)).collect();
    let filled = block.old.iter().filter(|line| !fold::is_blank(line));
    let most = most_typos(filled.count());
    if block.final_feed.is_some() || keys.len() <= most {
        return Vec::new();
    }
    // Of so many lines one at least is spelt right. Those that stand nowhere are not.
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
    let slips = Slips::of(file);
    let places = starts.into_iter();
    let places: Vec<(Match, Landing)> = places
        .filter_map(|start| at(file, block, &slips, start))
        .collect();
    // A place at which the block cannot land counts as well.
    match places.iter().any(|(_, landing)| *landing == Landing::Sound) {
        true => places.into_iter().map(|(found, _)| found).collect(),
        false => Vec::new(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Landing {
    Sound,
    Unclear,
}

/// The block at `start`, if its lines stand there.
fn at(file: &FileText, block: &Rc<Block>, slips: &Slips, start: usize) -> Option<(Match, Landing)> {
    let mut aligned = Aligned::contiguous(block, start);
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
    // Without a slip, another rung has looked at it, and found it wanting.
    if aligned.typos.is_empty() || Readings::of(&indents).is_none() {
        let unclear = Match::unclear(Rung::Aligned, aligned, Doubt::Indentation);
        return Some((unclear, Landing::Unclear));
    }
    let mut found = Match::lines(Rung::Aligned, aligned);
    found.differences.push(Difference::Typo);
    Some((found, Landing::Sound))
}
