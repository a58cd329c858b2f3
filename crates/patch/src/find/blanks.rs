//! Line by line, but for blank lines more or fewer.
//!
//! The lines that say something must all stand there one after the other, so that only where blank
//! lines lie is open; what that means for new lines is decided in `fit`.

use std::rc::Rc;

use crate::block::Block;
use crate::file::FileText;
use crate::fold;
use crate::found::{Aligned, Match};
use crate::indent::Readings;
use crate::outcome::{Difference, Doubt, Rung};

/// How many blank lines more or fewer there may be in all.
const MOST: usize = 4;

/// The places; none for a block that says no more than brackets do.
pub(super) fn find(file: &FileText, block: &Rc<Block>) -> Vec<Match> {
    let filled: Vec<usize> = (0..block.old.len())
        .filter(|ix| !fold::is_blank(&block.old[*ix]))
        .collect();
    let is_telling = |ix: &usize| fold::is_telling(&block.old[*ix]);
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
    let fits: Vec<Option<Match>> = places
        .iter()
        .map(|rows| at(file, block, &filled, rows))
        .collect();
    if fits.iter().all(Option::is_none) {
        return Vec::new();
    }
    // A place at which the block cannot land counts as well.
    let all = fits.into_iter().zip(&places);
    all.map(|(fit, rows)| fit.unwrap_or_else(|| unclear(block, &filled, rows)))
        .collect()
}

fn unclear(block: &Rc<Block>, filled: &[usize], rows: &[usize]) -> Match {
    let mut map = vec![None; block.old.len()];
    for (ix, row) in filled.iter().zip(rows) {
        map[*ix] = Some(*row);
    }
    let aligned = Aligned {
        block: block.clone(),
        rows: rows[0]..rows[rows.len() - 1] + 1,
        map,
        typos: Vec::new(),
    };
    Match::unclear(Rung::Aligned, aligned, Doubt::Boundary)
}

/// The block with these lines on those rows, if it fits there.
fn at(file: &FileText, block: &Rc<Block>, filled: &[usize], rows: &[usize]) -> Option<Match> {
    let pairs = || {
        let pairs = filled.iter().zip(rows);
        pairs.map(|(ix, row)| (block.old[*ix].as_str(), file.content(*row)))
    };
    let indents: Vec<_> = pairs()
        .map(|(old, row)| (fold::indent(old), fold::indent(row)))
        .collect();
    Readings::of(&indents)?;
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
    if missing + extra > MOST {
        return None;
    }
    let mut found = Match::lines(
        Rung::Aligned,
        Aligned {
            block: block.clone(),
            rows: first..last + 1,
            map,
            typos: Vec::new(),
        },
    );
    found.differences.push(Difference::BlankLines);
    Some(found)
}

/// Gives blank lines of the block their partners: those behind a line that stands there in order,
/// and those before the first from below.
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

/// Whether blank lines of which there are more or fewer all look the same, white space and all: else
/// it makes a difference which of them are left out.
fn are_alike(file: &FileText, block: &Block, map: &[Option<usize>]) -> bool {
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
