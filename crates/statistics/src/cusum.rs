//! Cumulative sums that notice a change of level: of a share of failures, and of a measured value.
//!
//! A sum grows by the evidence of each observation for the changed level and never falls below zero. It
//! notices a small change that lasts as well as a large one.

/// Factor of the odds that the changed level has.
const ODDS: f64 = 3.0;
/// Shares are kept this far from 0 and 1, where the evidence would be infinite.
const LEAST_SHARE: f64 = 1e-6;
/// Half of the shift to be noticed, in standard deviations.
const SLACK: f64 = 0.5;
/// Limit of the standardised distance that a single value counts for. Durations have long tails, and one
/// long call is no change of level.
const MAX_DISTANCE: f64 = 3.0;

/// Returns the share whose odds are three times those of `usual`.
fn raised_share(usual: f64) -> f64 {
    ODDS * usual / (1.0 + (ODDS - 1.0) * usual)
}

/// The evidence that failures occur with three times their usual odds, as a cumulative sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FailureCusum(f64);

impl FailureCusum {
    /// Adds an observation, given the usual share of failures, and returns the sum.
    pub fn add(&mut self, is_failure: bool, usual: f64) -> f64 {
        let usual = usual.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
        let raised = raised_share(usual);
        let evidence = if is_failure {
            (raised / usual).ln()
        } else {
            ((1.0 - raised) / (1.0 - usual)).ln()
        };
        self.0 = (self.0 + evidence).max(0.0);
        self.0
    }

    /// Returns the sum.
    pub fn sum(self) -> f64 {
        self.0
    }
}

/// The evidence that a value lies above or below its usual level, as two cumulative sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelCusum {
    above: f64,
    below: f64,
}

impl LevelCusum {
    /// Adds a value by its distance from the usual level, in standard deviations, and returns the sums of
    /// evidence for a higher and for a lower level. `tolerance` is a distance that counts for neither, because the
    /// usual level is not known better.
    pub fn add(&mut self, distance: f64, tolerance: f64) -> (f64, f64) {
        let distance = distance.clamp(-MAX_DISTANCE, MAX_DISTANCE);
        let slack = SLACK + tolerance;
        self.above = (self.above + distance - slack).max(0.0);
        self.below = (self.below - distance - slack).max(0.0);
        (self.above, self.below)
    }

    /// Returns the larger of both sums.
    pub fn sum(self) -> f64 {
        self.above.max(self.below)
    }
}

#[cfg(test)]
mod tests {
    use super::{FailureCusum, LevelCusum, raised_share};

    #[test]
    fn raised_odds_are_threefold() {
        let odds = |share: f64| share / (1.0 - share);
        for usual in [0.001, 0.02, 0.5, 0.9] {
            let ratio = odds(raised_share(usual)) / odds(usual);
            assert!((ratio - 3.0).abs() < 1e-9, "{usual}: {ratio}");
        }
    }

    #[test]
    fn sum_is_the_likelihood_ratio_above_zero() {
        let mut cusum = FailureCusum::default();
        assert_eq!(
            cusum.add(false, 0.1),
            0.0,
            "a success at zero changes nothing"
        );
        let one = cusum.add(true, 0.1);
        assert!((one - (0.25_f64 / 0.1).ln()).abs() < 1e-12, "{one}");
        let two = cusum.add(false, 0.1);
        assert!((two - one - (0.75_f64 / 0.9).ln()).abs() < 1e-12, "{two}");
        assert_eq!(cusum.sum(), two);
    }

    #[test]
    fn one_extreme_value_counts_like_a_large_one() {
        let mut cusum = LevelCusum::default();
        assert_eq!(cusum.add(100.0, 0.0), (2.5, 0.0));
        assert_eq!(cusum.add(-1.0, 0.25), (0.75, 0.25));
        assert_eq!(cusum.sum(), 0.75);
    }
}
