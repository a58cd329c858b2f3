//! Interleaved measurements of Burin and a peer, and statistics of their ratio.
//!
//! Absolute times on a shared machine drift by half within minutes; ratios within a pair do not.
//! The order within a pair is random; the figure is the median of the ratios with a bootstrap
//! interval of 95 %.

use std::time::Instant;

/// Pairs of interleaved measurements.
#[derive(Default)]
pub(crate) struct Pairs {
    pairs: Vec<(f64, f64)>,
}

/// A random number generator (xorshift64*), good enough to shuffle and resample.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let value = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D);
        usize::try_from(value >> 33).unwrap_or(0) % bound.max(1)
    }
}

impl Pairs {
    /// Takes `count` pairs, in random order within each pair, after one uncounted run of each side.
    pub(crate) fn take(
        count: usize,
        mut ours: impl FnMut() -> f64,
        mut peers: impl FnMut() -> f64,
    ) -> Self {
        let mut dice = Dice::new(count as u64 * 7919);
        ours();
        peers();
        let pairs = (0..count).map(|_| {
            if dice.below(2) == 0 {
                let ours = ours();
                (ours, peers())
            } else {
                let peers = peers();
                (ours(), peers)
            }
        });
        Self {
            pairs: pairs.collect(),
        }
    }

    /// Adds one pair measured elsewhere.
    pub(crate) fn push(&mut self, ours: f64, peers: f64) {
        self.pairs.push((ours, peers));
    }

    /// Returns the `share` quantiles of both sides as a single pair, whose interval is meaningless.
    pub(crate) fn tail(&self, share: f64) -> Self {
        let ours = quantile(self.pairs.iter().map(|pair| pair.0), share);
        let peers = quantile(self.pairs.iter().map(|pair| pair.1), share);
        Self {
            pairs: vec![(ours, peers)],
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns Burin's median.
    pub(crate) fn ours(&self) -> f64 {
        quantile(self.pairs.iter().map(|pair| pair.0), 0.5)
    }

    /// Returns the peer's median.
    pub(crate) fn peers(&self) -> f64 {
        quantile(self.pairs.iter().map(|pair| pair.1), 0.5)
    }

    /// Returns the median ratio of Burin to the peer with its 95 % interval.
    pub(crate) fn ratio(&self) -> (f64, f64, f64) {
        let ratios: Vec<f64> = self.pairs.iter().map(|pair| pair.0 / pair.1).collect();
        let mut dice = Dice::new(42);
        let medians: Vec<f64> = (0..1_000)
            .map(|_| {
                quantile(
                    (0..ratios.len()).map(|_| ratios[dice.below(ratios.len())]),
                    0.5,
                )
            })
            .collect();
        (
            quantile(ratios.iter().copied(), 0.5),
            quantile(medians.iter().copied(), 0.025),
            quantile(medians.iter().copied(), 0.975),
        )
    }
}

/// Returns the `share` quantile of the values; NaN if there are none.
pub(crate) fn quantile(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let at = (last as f64 * share).round() as usize;
    values.get(at).copied().unwrap_or(f64::NAN)
}

/// Returns the milliseconds that `work` takes.
pub(crate) fn millis<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed().as_secs_f64() * 1_000.0
}
