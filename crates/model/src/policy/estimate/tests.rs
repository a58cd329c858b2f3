//! Tests that estimates follow reported counts and err on the high side.

use super::*;
use crate::random::TestRng;

#[test]
fn initial_estimate_is_three_bytes_per_token_plus_margin() {
    let estimator = TokenEstimator::default();
    assert_eq!(estimator.estimate(3_000), TokenCount(1_100));
    assert_eq!(estimator.estimate(0), TokenCount(0));
    assert_eq!(estimator.estimate(1), TokenCount(1));
}

#[test]
fn estimate_converges_to_the_tokenizers_ratio() {
    for seed in 0..100 {
        let mut random = TestRng::new(seed);
        let ratio = 1.5 + random.next_below(400) as f64 / 100.0;
        let mut estimator = TokenEstimator::default();
        for _ in 0..60 {
            let bytes = 2_000 + random.next_below(60_000);
            estimator.observe(bytes, TokenCount((bytes as f64 / ratio) as u64));
        }
        let estimate = estimator.estimate(100_000).0 as f64;
        let real = 100_000.0 / ratio;
        assert!(
            (real..real * 1.2).contains(&estimate),
            "seed {seed}: {estimate} for {real}"
        );
    }
}

#[test]
fn impossible_counts_are_ignored() {
    let mut estimator = TokenEstimator::default();
    let before = estimator.estimate(10_000);
    for (bytes, tokens) in [(0, 5), (5, 0), (5, 6), (u64::MAX, 1)] {
        estimator.observe(bytes, TokenCount(tokens));
    }
    assert_eq!(estimator.estimate(10_000), before);
}
