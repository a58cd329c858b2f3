//! Measures of a ranking, with their uncertainty.

use crate::interleave::{Dice, quantile};

/// Number of ranks that count.
pub(super) const DEPTH: usize = 10;

/// Returns the reciprocal rank of an answer at `place`, counted from 0; 0 beyond `DEPTH`.
pub(super) fn reciprocal(place: Option<usize>) -> f64 {
    match place {
        Some(place) if place < DEPTH => 1.0 / (place as f64 + 1.0),
        _ => 0.0,
    }
}

/// Returns the normalised discounted cumulative gain at `DEPTH`. `places` are the ranks of the found targets, from
/// 0; `targets` is the number of all targets. Two targets at one place count once.
pub(super) fn gain(places: &[usize], targets: usize) -> f64 {
    if targets == 0 {
        return 0.0;
    }
    let discount = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let ideal: f64 = (0..targets.min(DEPTH)).map(discount).sum();
    let found: f64 = (0..DEPTH)
        .filter(|place| places.contains(place))
        .map(discount)
        .sum();
    found / ideal
}

/// Returns the mean and the standard error.
pub(super) fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / (count - 1.0).max(1.0);
    (mean, (variance / count).sqrt())
}

/// Returns the mean of the groups' means with its 95 % bootstrap interval, resampling questions within each
/// group.
pub(super) fn interval(groups: &[Vec<f64>]) -> (f64, f64, f64) {
    let whole = over_groups(groups.iter().map(|group| mean(group).0));
    let mut dice = Dice::new(4_711);
    let drawn: Vec<f64> = (0..2_000)
        .map(|_| {
            over_groups(groups.iter().map(|group| {
                let sum: f64 = (0..group.len())
                    .map(|_| group[dice.below(group.len())])
                    .sum();
                sum / group.len().max(1) as f64
            }))
        })
        .collect();
    let end = |share| quantile(drawn.iter().copied(), share);
    (whole, end(0.025), end(0.975))
}

fn over_groups(means: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = means.len().max(1) as f64;
    means.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_is_worth_what_its_places_are() {
        assert_eq!(gain(&[0, 1], 2), 1.0);
        assert_eq!(gain(&[], 2), 0.0);
        assert!((gain(&[1], 1) - 1.0 / 3.0_f64.log2()).abs() < 1e-12);
        // Two targets in one chunk count as one hit.
        assert!(gain(&[0, 0], 2) < 1.0);
        assert_eq!(
            (reciprocal(Some(3)), reciprocal(Some(10)), reciprocal(None)),
            (0.25, 0.0, 0.0)
        );
    }

    #[test]
    fn the_interval_holds_the_mean() {
        let groups = [vec![0.0, 1.0, 1.0, 0.0], vec![0.5, 0.5]];
        let (mean, low, high) = interval(&groups);
        assert_eq!(mean, 0.5);
        assert!(low < mean && mean < high, "{low} {high}");
    }
}
