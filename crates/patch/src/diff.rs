//! Differences between two sequences, computed by Myers' greedy algorithm.
//!
//! Takes time proportional to the length times the number of differences. Beyond `MAX_EDITS`
//! differences the whole middle counts as changed.

use std::collections::HashMap;
use std::ops::Range;

/// Bounds time and memory for texts that have nothing in common.
const MAX_EDITS: usize = 1500;

/// A changed range of two sequences, by index: `old` became `new`. One of the two ranges may be
/// empty. Elements between two runs are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiffRun {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Returns the changed ranges of two sequences with `old` and `new` elements, in order. Returns an
/// empty list if the sequences are equal. `is_same` compares an index of the old sequence with one
/// of the new.
pub(crate) fn diff(old: usize, new: usize, is_same: impl Fn(usize, usize) -> bool) -> Vec<DiffRun> {
    let shorter = old.min(new);
    let head = (0..shorter).take_while(|ix| is_same(*ix, *ix)).count();
    let tail = (0..shorter - head)
        .take_while(|ix| is_same(old - 1 - ix, new - 1 - ix))
        .count();
    let (n, m) = (old - head - tail, new - head - tail);
    if n == 0 && m == 0 {
        return Vec::new();
    }
    let whole = DiffRun {
        old: head..head + n,
        new: head..head + m,
    };
    if n == 0 || m == 0 {
        return vec![whole];
    }
    match trace(n, m, |x, y| is_same(head + x, head + y)) {
        Some(trace) => runs(&trace, n, m, head),
        None => vec![whole],
    }
}

/// Returns the changed ranges of two lists of lines, in order. Lines that occur on one side only
/// are set aside first, because they cannot match and make up most of a rewritten text.
pub(crate) fn diff_lines(old: &[String], new: &[String]) -> Vec<DiffRun> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for line in old.iter().chain(new) {
        let next = numbers.len();
        numbers.entry(line).or_insert(next);
    }
    let numbered = |lines: &[String]| -> Vec<usize> {
        let lines = lines.iter();
        lines.map(|line| numbers[line.as_str()]).collect()
    };
    let (old, new) = (numbered(old), numbered(new));
    let shared = |lines: &[usize], others: &[usize]| -> Vec<usize> {
        let mut has = vec![false; numbers.len()];
        others.iter().for_each(|line| has[*line] = true);
        (0..lines.len()).filter(|ix| has[lines[*ix]]).collect()
    };
    let (xs, ys) = (shared(&old, &new), shared(&new, &old));
    let inner = diff(xs.len(), ys.len(), |x, y| old[xs[x]] == new[ys[y]]);
    between(&pairs(&inner, &xs, &ys), old.len(), new.len())
}

/// Returns the pairs of equal lines, given the differences among the lines at `xs` and `ys`.
fn pairs(runs: &[DiffRun], xs: &[usize], ys: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut x, mut y) = (0, 0);
    for run in runs {
        let same = xs[x..run.old.start].iter().zip(&ys[y..run.new.start]);
        pairs.extend(same.map(|(x, y)| (*x, *y)));
        (x, y) = (run.old.end, run.new.end);
    }
    pairs.extend(xs[x..].iter().copied().zip(ys[y..].iter().copied()));
    pairs
}

/// Returns the ranges between pairs, for sequences of the given lengths.
fn between(pairs: &[(usize, usize)], old: usize, new: usize) -> Vec<DiffRun> {
    let mut runs = Vec::new();
    let (mut x, mut y) = (0, 0);
    for (to_x, to_y) in pairs.iter().copied().chain([(old, new)]) {
        if to_x > x || to_y > y {
            runs.push(DiffRun {
                old: x..to_x,
                new: y..to_y,
            });
        }
        (x, y) = (to_x + 1, to_y + 1);
    }
    runs
}

/// Computes how far each diagonal reaches per number of edits: the history of the greedy search.
fn trace(n: usize, m: usize, is_same: impl Fn(usize, usize) -> bool) -> Option<Vec<Vec<usize>>> {
    let mut trace: Vec<Vec<usize>> = Vec::new();
    for edits in 0..=(n + m).min(MAX_EDITS) {
        // Diagonals -edits, -edits + 2, …, edits; diagonal k is at (k + edits) / 2.
        let mut reach = Vec::with_capacity(edits + 1);
        for ix in 0..=edits {
            let mut x = match trace.last() {
                None => 0,
                Some(before) => step(before, ix, edits).0,
            };
            let k = 2 * ix as isize - edits as isize;
            let Some(mut y) = x.checked_add_signed(-k) else {
                reach.push(0);
                continue;
            };
            while x < n && y < m && is_same(x, y) {
                x += 1;
                y += 1;
            }
            reach.push(x);
            if x >= n && y >= m {
                trace.push(reach);
                return Some(trace);
            }
        }
        trace.push(reach);
    }
    None
}

/// Returns the start of the diagonal at `ix` in a round, and the index of the diagonal it comes
/// from.
fn step(before: &[usize], ix: usize, edits: usize) -> (usize, usize) {
    // Moving down from the diagonal above inserts, moving across from the one below deletes.
    let down = (ix < edits).then(|| before[ix]);
    let across = ix.checked_sub(1).map(|from| before[from] + 1);
    match (down, across) {
        (Some(down), Some(across)) if down >= across => (down, ix),
        (_, Some(across)) => (across, ix - 1),
        (Some(down), None) => (down, ix),
        (None, None) => (0, 0),
    }
}

fn runs(trace: &[Vec<usize>], n: usize, m: usize, head: usize) -> Vec<DiffRun> {
    let mut runs: Vec<DiffRun> = Vec::new();
    let last = trace.len() - 1;
    let mut ix = (n as isize - m as isize + last as isize) as usize / 2;
    for edits in (1..=last).rev() {
        let (start, from) = step(&trace[edits - 1], ix, edits);
        let is_insertion = from == ix;
        let k = 2 * ix as isize - edits as isize;
        let start_y = (start as isize - k) as usize;
        let (old, new) = if is_insertion {
            (start..start, start_y - 1..start_y)
        } else {
            (start - 1..start, start_y..start_y)
        };
        push_front(&mut runs, old, new, head);
        ix = from;
    }
    runs.reverse();
    runs
}

/// Prepends an edit; `runs` is in reverse order.
fn push_front(runs: &mut Vec<DiffRun>, old: Range<usize>, new: Range<usize>, head: usize) {
    let old = old.start + head..old.end + head;
    let new = new.start + head..new.end + head;
    if let Some(run) = runs.last_mut()
        && run.old.start == old.end
        && run.new.start == new.end
    {
        run.old.start = old.start;
        run.new.start = new.start;
        return;
    }
    runs.push(DiffRun { old, new });
}

#[cfg(test)]
mod tests;
