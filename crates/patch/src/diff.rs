//! Which parts of one sequence became which parts of another: Myers' greedy algorithm.
//!
//! Takes time in proportion to the length times the number of differences. Beyond `MAX_EDITS`
//! differences the middle counts as changed altogether.

use std::collections::HashMap;
use std::ops::Range;

/// Bounds time and memory for texts that have nothing in common.
const MAX_EDITS: usize = 1500;

/// `old` became `new`; one of them may be empty. What lies between two runs is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// The runs that differ, in order. `is_same` compares an index of the old with one of the new.
pub(crate) fn diff(old: usize, new: usize, is_same: impl Fn(usize, usize) -> bool) -> Vec<Run> {
    let shorter = old.min(new);
    let head = (0..shorter).take_while(|ix| is_same(*ix, *ix)).count();
    let tail = (0..shorter - head)
        .take_while(|ix| is_same(old - 1 - ix, new - 1 - ix))
        .count();
    let (n, m) = (old - head - tail, new - head - tail);
    if n == 0 && m == 0 {
        return Vec::new();
    }
    let whole = Run {
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

/// The same for lines. Those that one side alone has are set aside first, since they pair with none:
/// they are what a text written anew mostly consists of.
pub(crate) fn diff_lines(old: &[String], new: &[String]) -> Vec<Run> {
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

/// Which lines pair up, given what differs among those at `xs` and `ys`.
fn pairs(runs: &[Run], xs: &[usize], ys: &[usize]) -> Vec<(usize, usize)> {
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

/// The runs that lie between pairs, of so many lines each.
fn between(pairs: &[(usize, usize)], old: usize, new: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    let (mut x, mut y) = (0, 0);
    for (to_x, to_y) in pairs.iter().copied().chain([(old, new)]) {
        if to_x > x || to_y > y {
            runs.push(Run {
                old: x..to_x,
                new: y..to_y,
            });
        }
        (x, y) = (to_x + 1, to_y + 1);
    }
    runs
}

/// Per number of edits, how far each diagonal reaches: the history of the greedy search.
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

/// Where diagonal number `ix` of a round starts, and the number of the diagonal it comes from.
fn step(before: &[usize], ix: usize, edits: usize) -> (usize, usize) {
    // Coming down from the diagonal above inserts, coming across from the one below deletes.
    let down = (ix < edits).then(|| before[ix]);
    let across = ix.checked_sub(1).map(|from| before[from] + 1);
    match (down, across) {
        (Some(down), Some(across)) if down >= across => (down, ix),
        (_, Some(across)) => (across, ix - 1),
        (Some(down), None) => (down, ix),
        (None, None) => (0, 0),
    }
}

fn runs(trace: &[Vec<usize>], n: usize, m: usize, head: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let last = trace.len() - 1;
    let mut ix = (n as isize - m as isize + last as isize) as usize / 2;
    for edits in (1..=last).rev() {
        let (start, from) = step(&trace[edits - 1], ix, edits);
        let is_insertion = from == ix;
        let k = 2 * ix as isize - edits as isize;
        let start_y = (start as isize - k) as usize;
        let (old, new) = match is_insertion {
            true => (start..start, start_y - 1..start_y),
            false => (start - 1..start, start_y..start_y),
        };
        push_front(&mut runs, old, new, head);
        ix = from;
    }
    runs.reverse();
    runs
}

/// Adds an edit before all others; `runs` is in reverse order.
fn push_front(runs: &mut Vec<Run>, old: Range<usize>, new: Range<usize>, head: usize) {
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
    runs.push(Run { old, new });
}

#[cfg(test)]
mod tests;
