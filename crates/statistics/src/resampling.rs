//! Intervals by resampling whole clusters, such as sessions, whose members depend on each other.

use crate::quantile::quantile;
use crate::random::SplitMix;

/// Number of resamples. The ends of the interval vary by about a twentieth of its width.
const ROUNDS: usize = 1000;
/// Minimum number of clusters. With fewer, resamples repeat each other and the interval is too narrow.
const MIN_CLUSTERS: usize = 8;
/// Minimum share of resamples in which the statistic must be determined.
const MIN_DETERMINED: f64 = 0.95;
const SEED: u64 = 0x6275_7269_6e00_0001;

/// The interval that contains a figure with a probability of about 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Returns the interval of a statistic over clusters, which gets the indices of the clusters of a
/// resample, with repetitions, and returns `None` where they do not determine it. `None` with fewer than
/// eight clusters, and if too many resamples do not determine the statistic.
pub fn bootstrap_interval(
    clusters: usize,
    statistic: impl Fn(&[usize]) -> Option<f64>,
) -> Option<Interval> {
    if clusters < MIN_CLUSTERS {
        return None;
    }
    let mut random = SplitMix::new(SEED);
    let mut sample = vec![0; clusters];
    let mut values = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        sample.fill_with(|| random.next_below(clusters));
        values.extend(statistic(&sample));
    }
    if (values.len() as f64) < MIN_DETERMINED * ROUNDS as f64 {
        return None;
    }
    Some(Interval {
        low: quantile(&values, 0.025)?,
        high: quantile(&values, 0.975)?,
    })
}

#[cfg(test)]
mod tests {
    use super::bootstrap_interval;
    use crate::SplitMix;

    #[test]
    fn few_clusters_have_no_interval() {
        assert_eq!(bootstrap_interval(7, |_| Some(1.0)), None);
        assert!(bootstrap_interval(8, |_| Some(1.0)).is_some());
        assert_eq!(bootstrap_interval(8, |_| None), None);
    }

    #[test]
    fn intervals_of_means_cover_the_truth() {
        let mut random = SplitMix::new(7);
        let mut covered = 0;
        for _ in 0..200 {
            let values: Vec<f64> = (0..40).map(|_| random.next_share()).collect();
            let mean = |sample: &[usize]| {
                let sum: f64 = sample.iter().map(|ix| values[*ix]).sum();
                Some(sum / sample.len() as f64)
            };
            let interval = bootstrap_interval(values.len(), mean).expect("forty clusters");
            covered += usize::from(interval.low <= 0.5 && 0.5 <= interval.high);
        }
        // Of 200 intervals 190 are expected; the percentile method is a little narrow.
        assert!((180..=198).contains(&covered), "{covered}");
    }
}
