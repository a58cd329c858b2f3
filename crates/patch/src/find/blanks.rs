//! Matches line by line, allowing extra or missing blank lines.
//!
//! All non-blank lines must match consecutively, so that only the positions of blank lines are
//! open; `fit` decides what that means for new lines.

use std::rc::Rc;

use crate::block::LineBlock;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::{BlockAlignment, HunkMatch};
use crate::indent::IndentMappings;
use crate::outcome::{Ambiguity, HunkDifference, MatchStrategy};

/// Maximum number of extra and missing blank lines in total.
const MAX_EXTRA_BLANKS: usize = 4;

/// Returns the positions; none for a block that consists of brackets only.
pub(super) fn find(file: &FileText, block: &Rc<LineBlock>) -> Vec<HunkMatch> {
    let filled: Vec<usize> = (0..block.old.len())
        .filter(|ix| !fold::is_blank(&block.old[*ix]))
        .collect();
    let is_telling = |ix: &usize| fold::has_alphanumeric(&block.old[*ix]);
    if block.final_feed.is_some() || !filled.iter().any(is_telling) {
        return Vec::new();
    }
    let keys: Vec<u64> = filled.iter().map(|ix| fold::key(&block.old[*ix])).collect();
    let Some(pivot) = (0..keys.len()).min_by_key(|ix| file.rows_with(keys[*ix]).len()) else {
        return Vec::new();
    };
    let rows = file.filled_rows();
    let starts = file.rows_with(keys[pivot]).iter().filter_map(|(_, row)| {
        let at = rows.binary_search(row).ok()?;
        at.checked_sub(pivot)
    });
    let key = |row: &u32| file.keys()[*row as usize];
    let places: Vec<Vec<usize>> = starts
        .filter_map(|start| rows.get(start..start + keys.len()))
        .filter(|rows| rows.iter().map(key).eq(keys.iter().copied()))
        .map(|rows| rows.iter().map(|row| *row as usize).collect())
        .filter(|rows: &Vec<usize>| {
            let mut pairs = filled.iter().zip(rows);
            pairs.all(|(ix, row)| fold::is_same(&block.old[*ix], file.content(*row)))
        })
        .collect();
    let fits: Vec<Option<HunkMatch>> = places
        .iter()
        .map(|rows| at(file, block, &filled, rows))
        .collect();
    if fits.iter().all(Option::is_none) {
        return Vec::new();
    }
    // A position at which the block cannot be applied still makes the match ambiguous.
    let all = fits.into_iter().zip(&places);
    all.map(|(fit, rows)| fit.unwrap_or_else(|| unclear(block, &filled, rows)))
        .collect()
}

fn unclear(block: &Rc<LineBlock>, filled: &[usize], rows: &[usize]) -> HunkMatch {
    let mut map = vec![None; block.old.len()];
    for (ix, row) in filled.iter().zip(rows) {
        map[*ix] = Some(*row);
    }
    let aligned = BlockAlignment {
        block: block.clone(),
        rows: rows[0]..rows[rows.len() - 1] + 1,
        map,
        typos: Vec::new(),
    };
    HunkMatch::unclear(MatchStrategy::Aligned, aligned, Ambiguity::Boundary)
}

/// Matches these lines with those rows, if the block fits there.
fn at(
    file: &FileText,
    block: &Rc<LineBlock>,
    filled: &[usize],
    rows: &[usize],
) -> Option<HunkMatch> {
    let pairs = || {
        let pairs = filled.iter().zip(rows);
        pairs.map(|(ix, row)| (block.old[*ix].as_str(), file.content(*row)))
    };
    let indents: Vec<_> = pairs()
        .map(|(old, row)| (fold::indent(old), fold::indent(row)))
        .collect();
    IndentMappings::of(&indents)?;
    let mut map = vec![None; block.old.len()];
    for (ix, row) in filled.iter().zip(rows) {
        map[*ix] = Some(*row);
    }
    pair_blanks(file, &mut map);
    if !are_alike(file, block, &map) {
        return None;
    }
    let first = *map.iter().flatten().next()?;
    let last = *map.iter().flatten().next_back()?;
    let missing = map.iter().filter(|row| row.is_none()).count();
    let extra = last + 1 - first - map.iter().flatten().count();
    if missing + extra > MAX_EXTRA_BLANKS {
        return None;
    }
    let mut found = HunkMatch::from_alignment(
        MatchStrategy::Aligned,
        BlockAlignment {
            block: block.clone(),
            rows: first..last + 1,
            map,
            typos: Vec::new(),
        },
    );
    found.differences.push(HunkDifference::BlankLines);
    Some(found)
}

/// Pairs the blank lines of the block with those of the file: lines after a matched line in order,
/// lines before the first matched line from below.
fn pair_blanks(file: &FileText, map: &mut [Option<usize>]) {
    let is_blank = |row: &usize| *row < file.line_count() && fold::is_blank(file.content(*row));
    let Some(first) = map.iter().position(Option::is_some) else {
        return;
    };
    for ix in (0..first).rev() {
        let above = map[ix + 1].and_then(|row| row.checked_sub(1));
        map[ix] = above.filter(is_blank);
    }
    for ix in first + 1..map.len() {
        if map[ix].is_none() {
            map[ix] = map[ix - 1].map(|row| row + 1).filter(is_blank);
        }
    }
}

/// Whether all blank lines in a stretch with a differing count are identical, including white
/// space; otherwise it matters which of them are left out.
fn are_alike(file: &FileText, block: &LineBlock, map: &[Option<usize>]) -> bool {
    let is_filled = |ix: &usize| !fold::is_blank(&block.old[*ix]);
    let filled: Vec<usize> = (0..map.len()).filter(is_filled).collect();
    let stretches = filled.windows(2).all(|pair| {
        let (Some(first), Some(last)) = (map[pair[0]], map[pair[1]]) else {
            return false;
        };
        let old = block.old[pair[0] + 1..pair[1]].iter().map(String::as_str);
        let rows = (first + 1..last).map(|row| file.content(row));
        let mut all = old.clone().chain(rows.clone());
        let Some(text) = all.next() else {
            return true;
        };
        old.count() == rows.count() || all.all(|line| line == text)
    });
    let (Some(first), Some(last)) = (filled.first(), filled.last()) else {
        return false;
    };
    let mut edges = (0..*first).chain(last + 1..map.len());
    let edges = edges.all(|ix| map[ix].is_none_or(|row| file.content(row) == block.old[ix]));
    stretches && edges
}
