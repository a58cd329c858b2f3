//! Interleaved measurements of ours and a peer's, and what can be said of their ratio.
//!
//! Absolute times on a shared machine drift by half within minutes; the ratio within a pair does
//! not. The order within a pair is random; the figure is the median of the ratios with a bootstrap
//! interval of 95 %.

use std::time::Instant;

/// Pairs of measurements taken in turn.
#[derive(Default)]
pub(crate) struct Pairs {
    pairs: Vec<(f64, f64)>,
}

/// xorshift64*, enough to shuffle and to resample.
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
    /// Takes `count` pairs, in random order within a pair, after one of each that is not counted.
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

    /// The pair of both sides' values below which `share` of them lie: one pair, so its interval
    /// says nothing.
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

    /// Median of ours.
    pub(crate) fn ours(&self) -> f64 {
        quantile(self.pairs.iter().map(|pair| pair.0), 0.5)
    }

    /// Median of the peer's.
    pub(crate) fn peers(&self) -> f64 {
        quantile(self.pairs.iter().map(|pair| pair.1), 0.5)
    }

    /// Median ratio ours / peer's with its interval.
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

/// The value below which `share` of the values lie.
pub(crate) fn quantile(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let at = (last as f64 * share).round() as usize;
    values.get(at).copied().unwrap_or(f64::NAN)
}

/// Milliseconds that `work` takes.
pub(crate) fn millis<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed().as_secs_f64() * 1_000.0
}
