//! Quantiles of a list of numbers.

/// Factor that makes the median absolute deviation of a normal distribution its standard deviation.
const NORMAL: f64 = 1.4826;

/// Returns the value below which a share of the values lies, between 0 and 1, interpolated between
/// neighbours; `None` without values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    let part = place - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * part)
}

/// Returns the median; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns the median absolute deviation from `center`, scaled so that it equals the standard deviation
/// of a normal distribution; `None` without values.
pub fn median_deviation(values: &[f64], center: f64) -> Option<f64> {
    let distances: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    Some(NORMAL * median(&distances)?)
}

#[cfg(test)]
mod tests {
    use super::{median, median_deviation, quantile};

    #[test]
    fn quantiles_interpolate_between_neighbours() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(median(&values), Some(2.5));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn outliers_do_not_move_the_deviation() {
        let values = [1.0, 2.0, 3.0, 4.0, 1000.0];
        let found = median_deviation(&values, 3.0).expect("values");
        assert!((found - 1.4826).abs() < 1e-9, "{found}");
    }
}
