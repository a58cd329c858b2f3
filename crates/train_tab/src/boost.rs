//! Gradient boosting of oblivious trees on the log loss.
//!
//! Each tree is grown level by level: the one comparison that helps all its leaves most becomes the
//! next (Friedman 2001; Prokhorenkova et al. 2018). Features are compared at quantiles.
//! Invariant: a sum runs over the samples in their order on one thread, so the result is the same on
//! any number of threads.

use autocomplete::local::{ObliviousTree, TreeTable};

use super::error::Error;
use super::samples::Samples;
use super::spread;

/// Size of the tables, and of their training.
#[derive(Clone, Copy, Debug)]
pub(super) struct Boosting {
    pub(super) trees: usize,
    pub(super) depth: usize,
    /// Part of a tree's values that is added.
    pub(super) rate: f32,
}

/// Maximum number of thresholds of a feature, plus one.
const BINS: usize = 64;

/// Pull of a leaf's value towards zero, in samples of probability one half times four.
const PULL: f64 = 8.0;

/// Of the samples, and of the features, each tree sees one in two.
const SUBSAMPLE: u64 = 2;

/// One in so many runs of samples is held out to print the loss.
const HELD_OUT: usize = 20;

/// Length of such a run.
const RUN: usize = 2000;

/// Samples with their features as bins.
struct Binned {
    /// By feature, then by sample.
    columns: Vec<Vec<u8>>,
    thresholds: Vec<Vec<i16>>,
    is_right: Vec<bool>,
}

/// Fits a table to samples of `width` features.
pub(super) fn fit(samples: &Samples, width: usize, size: Boosting) -> Result<TreeTable, Error> {
    let binned = Binned::of(samples, width)?;
    let count = binned.is_right.len();
    let is_held_out = |row: usize| (row / RUN).is_multiple_of(HELD_OUT);
    let right = binned.is_right.iter().filter(|it| **it).count();
    let share = (right as f32 / count.max(1) as f32).clamp(0.001, 0.999);
    let base = i32::from(TreeTable::quantized((share / (1.0 - share)).ln()));
    let unit = f32::from(TreeTable::quantized(1.0));
    let mut scores = vec![base; count];
    let mut trees = Vec::with_capacity(size.trees);
    for number in 0..size.trees {
        let likelihood = |score: i32| 1.0 / (1.0 + (-(score as f32) / unit).exp());
        let rows: Vec<u32> = (0..count as u32)
            .filter(|row| !is_held_out(*row as usize) && is_drawn(u64::from(*row), number))
            .collect();
        let slopes: Vec<(f32, f32)> = rows
            .iter()
            .map(|row| {
                let p = likelihood(scores[*row as usize]);
                let target = f32::from(u8::from(binned.is_right[*row as usize]));
                (p - target, (p * (1.0 - p)).max(1e-6))
            })
            .collect();
        let tree = grow(&binned, &rows, &slopes, number, size)?;
        for (row, score) in scores.iter_mut().enumerate() {
            *score += i32::from(tree.leaves[leaf(&binned, &tree, row)]);
        }
        if number % 25 == 24 || number + 1 == size.trees {
            let held = (0..count).filter(|row| is_held_out(*row));
            let loss = |row: usize| {
                let p = likelihood(scores[row]).clamp(0.0001, 0.9999);
                f64::from(-if binned.is_right[row] { p } else { 1.0 - p }.ln())
            };
            let (sum, n) = held.fold((0.0, 0), |(sum, n), row| (sum + loss(row), n + 1));
            eprintln!(
                "tree {}: log loss {:.4}",
                number + 1,
                sum / f64::from(n.max(1))
            );
        }
        trees.push(named(&binned, tree));
    }
    Ok(TreeTable { base, trees })
}

/// Whether a tree sees a sample or a feature.
fn is_drawn(item: u64, tree: usize) -> bool {
    let mut hash = item.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (tree as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^= hash >> 32;
    hash.is_multiple_of(SUBSAMPLE)
}

/// A split of the features into two halves, as a bin.
type Comparison = (usize, usize);

/// Grows one tree; its comparisons are with bins.
fn grow(
    binned: &Binned,
    rows: &[u32],
    slopes: &[(f32, f32)],
    number: usize,
    size: Boosting,
) -> Result<ObliviousTree, Error> {
    let features: Vec<usize> = (0..binned.columns.len())
        .filter(|feature| is_drawn(1 << 40 | *feature as u64, number))
        .collect();
    let mut leaves = vec![0_u8; rows.len()];
    let mut splits = Vec::new();
    for level in 0..size.depth {
        let best = spread(&features, |feature| {
            best_threshold(binned, rows, slopes, &leaves, (*feature, 1 << level))
        })?;
        let best = best.into_iter().flatten();
        let Some((_, (feature, bin))) = best.max_by(|a, b| a.0.total_cmp(&b.0)) else {
            break;
        };
        let column = &binned.columns[feature];
        for (row, leaf) in rows.iter().zip(&mut leaves) {
            *leaf |= u8::from(usize::from(column[*row as usize]) > bin) << level;
        }
        splits.push((feature as u8, bin as i16));
    }
    let mut sums = vec![(0.0, 0.0); 1 << splits.len()];
    for (leaf, (slope, curve)) in leaves.iter().zip(slopes) {
        let sum: &mut (f64, f64) = &mut sums[usize::from(*leaf)];
        *sum = (sum.0 + f64::from(*slope), sum.1 + f64::from(*curve));
    }
    let value = |(slope, curve): &(f64, f64)| -slope / (curve + PULL / 4.0);
    let values = sums.iter().map(value);
    let leaves = values.map(|value| TreeTable::quantized(size.rate * value as f32));
    Ok(ObliviousTree {
        splits,
        leaves: leaves.collect(),
    })
}

/// Returns the best comparison of a feature over `count` leaves, with its gain.
fn best_threshold(
    binned: &Binned,
    rows: &[u32],
    slopes: &[(f32, f32)],
    leaves: &[u8],
    (feature, count): (usize, usize),
) -> Option<(f64, Comparison)> {
    let bins = binned.thresholds[feature].len() + 1;
    let mut sums = vec![(0.0_f64, 0.0_f64); count * BINS];
    let column = &binned.columns[feature];
    for ((row, leaf), (slope, curve)) in rows.iter().zip(leaves).zip(slopes) {
        let sum = &mut sums[usize::from(*leaf) * BINS + usize::from(column[*row as usize])];
        sum.0 += f64::from(*slope);
        sum.1 += f64::from(*curve);
    }
    let worth = |(slope, curve): (f64, f64)| slope * slope / (curve + PULL / 4.0);
    let mut gains = vec![0.0; bins];
    for leaf in sums.chunks(BINS) {
        let all = leaf
            .iter()
            .fold((0.0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
        let mut low = (0.0, 0.0);
        for (gain, sum) in gains.iter_mut().zip(leaf) {
            low = (low.0 + sum.0, low.1 + sum.1);
            *gain += worth(low) + worth((all.0 - low.0, all.1 - low.1)) - worth(all);
        }
    }
    // Behind the last threshold is nothing.
    let gains = gains.iter().enumerate().take(bins - 1);
    let best = gains.max_by(|a, b| a.1.total_cmp(b.1))?;
    Some((*best.1, (feature, best.0)))
}

/// Returns the leaf of a sample.
fn leaf(binned: &Binned, tree: &ObliviousTree, row: usize) -> usize {
    let splits = tree.splits.iter().enumerate();
    splits.fold(0, |leaf, (level, (feature, bin))| {
        let value = i16::from(binned.columns[usize::from(*feature)][row]);
        leaf | usize::from(value > *bin) << level
    })
}

/// Replaces bins by the thresholds between them.
fn named(binned: &Binned, mut tree: ObliviousTree) -> ObliviousTree {
    for (feature, threshold) in &mut tree.splits {
        *threshold = binned.thresholds[usize::from(*feature)][*threshold as usize];
    }
    tree
}

impl Binned {
    fn of(samples: &Samples, width: usize) -> Result<Self, Error> {
        let features: Vec<usize> = (0..width).collect();
        let columns = spread(&features, |feature| {
            let values: Vec<i16> = samples
                .features
                .iter()
                .skip(*feature)
                .step_by(width)
                .copied()
                .collect();
            let thresholds = thresholds(&values);
            let bin = |value: &i16| thresholds.partition_point(|it| it < value) as u8;
            (values.iter().map(bin).collect(), thresholds)
        })?;
        let (columns, thresholds) = columns.into_iter().unzip();
        Ok(Self {
            columns,
            thresholds,
            is_right: samples.is_right.clone(),
        })
    }
}

/// Returns the values that divide the samples most evenly; a value above the last one is in the last
/// bin.
fn thresholds(values: &[i16]) -> Vec<i16> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let mut different = sorted.clone();
    different.dedup();
    different.pop();
    if different.len() < BINS {
        return different;
    }
    let last = sorted.last().copied();
    let quantile = |ix: usize| sorted[sorted.len() * ix / BINS];
    let mut thresholds: Vec<i16> = (1..BINS).map(quantile).collect();
    thresholds.dedup();
    thresholds.retain(|it| Some(*it) != last);
    thresholds
}

#[cfg(test)]
mod tests {
    use super::{Boosting, Samples, fit, thresholds};

    #[test]
    fn an_interaction_of_two_features_is_learned() {
        let mut samples = Samples::default();
        for row in 0..20_000_usize {
            let (a, b, noise) = (row * 7 % 100, row * 13 / 7 % 90, row * 31 % 11);
            samples.features.extend([a as i16, b as i16, noise as i16]);
            samples.is_right.push((a > 40) != (b > 60));
        }
        let size = Boosting {
            trees: 60,
            depth: 3,
            rate: 0.3,
        };
        let table = fit(&samples, 3, size).expect("a table");
        assert!(table.likelihood(&[80, 10, 0]) > 0.9);
        assert!(table.likelihood(&[80, 80, 0]) < 0.1);
        assert!(table.likelihood(&[10, 80, 5]) > 0.9);
        assert!(table.likelihood(&[10, 10, 5]) < 0.1);
    }

    #[test]
    fn thresholds_separate_all_values_or_their_quantiles() {
        assert_eq!(thresholds(&[3, 1, 2, 3, 1]), [1, 2]);
        let many: Vec<i16> = (0..1000).collect();
        let thresholds = thresholds(&many);
        assert_eq!((thresholds.len(), thresholds[0]), (63, 15));
        assert!(super::thresholds(&[5; 10]).is_empty());
    }
}
