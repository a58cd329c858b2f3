//! Adjustment of outcomes by what was known before, which removes the part of their spread that no
//! treatment caused (known as CUPED).

/// Minimum number of observations from which the slope is estimated; with fewer, nothing is adjusted.
const MIN_PAIRS: f64 = 8.0;

/// The linear relation between outcomes and an earlier measurement, as far as it was seen.
///
/// A caller that adjusts each outcome before it adds it uses only the past, which keeps sequential tests
/// valid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Covariate {
    count: f64,
    mean_before: f64,
    mean_outcome: f64,
    /// Sums of squared distances and of products of distances from the means.
    spread: f64,
    product: f64,
}

impl Covariate {
    /// Adds an outcome and the measurement from before.
    pub fn add(&mut self, outcome: f64, before: f64) {
        self.count += 1.0;
        let distance = before - self.mean_before;
        self.mean_before += distance / self.count;
        self.mean_outcome += (outcome - self.mean_outcome) / self.count;
        self.spread += distance * (before - self.mean_before);
        self.product += distance * (outcome - self.mean_outcome);
    }

    /// Returns an outcome without the part that the measurement from before explains. Unchanged while too
    /// little was seen.
    pub fn adjusted(&self, outcome: f64, before: f64) -> f64 {
        if self.count < MIN_PAIRS || self.spread <= f64::EPSILON {
            return outcome;
        }
        outcome - self.product / self.spread * (before - self.mean_before)
    }
}

#[cfg(test)]
mod tests {
    use super::Covariate;
    use crate::SplitMix;

    #[test]
    fn explained_spread_is_removed() {
        let mut random = SplitMix::new(3);
        let mut covariate = Covariate::default();
        let mut raw = Vec::new();
        let mut adjusted = Vec::new();
        for _ in 0..400 {
            let before = random.next_share();
            let outcome = 2.0 * before + 0.1 * random.next_share();
            raw.push(outcome);
            adjusted.push(covariate.adjusted(outcome, before));
            covariate.add(outcome, before);
        }
        let spread = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / values.len() as f64
        };
        let (raw, adjusted) = (spread(&raw[50..]), spread(&adjusted[50..]));
        assert!(adjusted < raw / 50.0, "{raw} {adjusted}");
    }

    #[test]
    fn little_data_and_constant_measurements_change_nothing() {
        let mut covariate = Covariate::default();
        (0..7).for_each(|ix| covariate.add(f64::from(ix), f64::from(ix)));
        assert_eq!(covariate.adjusted(5.0, 9.0), 5.0);
        let mut constant = Covariate::default();
        (0..20).for_each(|ix| constant.add(f64::from(ix), 1.0));
        assert_eq!(constant.adjusted(5.0, 1.0), 5.0);
    }
}
