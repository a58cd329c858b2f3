//! Errors and power of the paired test, when it is looked at after every pair.

use super::{BetOutcome, PairBet};
use crate::SplitMix;

/// Number of simulated comparisons: `BURIN_COMPARISONS`, which the soak sets, or a few.
fn comparisons() -> usize {
    let count = std::env::var("BURIN_COMPARISONS").ok();
    count.and_then(|count| count.parse().ok()).unwrap_or(1_000)
}

/// Runs comparisons of `pairs` pairs, of which a share differs, and the second side wins a share of those.
/// Returns the shares of comparisons decided for either side, and the median number of pairs of the
/// decided ones.
fn simulate(seed: u64, pairs: usize, differing: f64, won: f64) -> (f64, f64, usize) {
    let runs = comparisons();
    let (mut first, mut second, mut lengths) = (0, 0, Vec::new());
    for run in 0..runs {
        let mut random = SplitMix::new(seed * 1_000_003 + run as u64);
        let mut bet = PairBet::default();
        for pair in 1..=pairs {
            let differs = random.next_share() < differing;
            let sign = if random.next_share() < won { 1.0 } else { -1.0 };
            bet.add(if differs { sign } else { 0.0 });
            match bet.outcome() {
                BetOutcome::First => first += 1,
                BetOutcome::Second => second += 1,
                BetOutcome::Undecided => continue,
            }
            lengths.push(pair);
            break;
        }
    }
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(pairs);
    let share = |count: usize| count as f64 / runs as f64;
    (share(first), share(second), median)
}

#[test]
fn equal_sides_are_rarely_decided_under_continuous_looking() {
    for (seed, pairs) in [(1, 60), (2, 200), (3, 1_000)] {
        let (first, second, _) = simulate(seed, pairs, 0.3, 0.5);
        let wrong = first + second;
        assert!(wrong <= 0.05, "{pairs} pairs: {wrong}");
    }
    // Every pair differs: the most looks.
    let (first, second, _) = simulate(4, 1_000, 1.0, 0.5);
    assert!(first + second <= 0.05, "{first} {second}");
}

#[test]
fn large_differences_are_found_within_sixty_pairs() {
    let (wrong, right, median) = simulate(5, 60, 0.3, 0.9);
    assert!(right >= 0.78, "{right} found");
    assert!(wrong <= 0.002, "{wrong} decided for the worse side");
    assert!(median <= 42, "{median} pairs");
}

#[test]
fn small_differences_remain_undecided_at_sixty_pairs() {
    let (_, soon, _) = simulate(6, 60, 0.3, 0.75);
    let (_, later, _) = simulate(6, 200, 0.3, 0.75);
    assert!(soon < 0.4, "{soon}");
    assert!(later > 0.8, "{later}");
}

/// The wealth is a martingale: its mean over all sequences of ten even pairs is the stake.
#[test]
fn expected_wealth_of_equal_sides_is_the_stake() {
    let sequences = 1_u32 << 10;
    let wealth = (0..sequences).map(|bits| {
        let mut bet = PairBet::default();
        (0..10).for_each(|pair| bet.add(if bits >> pair & 1 == 1 { 1.0 } else { -1.0 }));
        bet.ln_wealth().exp()
    });
    let mean = wealth.sum::<f64>() / f64::from(sequences);
    assert!((mean - 1.0).abs() < 1e-9, "{mean}");
}

#[test]
fn a_decision_is_final_and_ties_say_nothing() {
    let mut bet = PairBet::default();
    (0..50).for_each(|_| bet.add(0.0));
    bet.add(f64::NAN);
    assert_eq!((bet.ties, bet.ln_wealth()), (51, 0.0));
    assert_eq!(bet.outcome(), BetOutcome::Undecided);
    (0..12).for_each(|_| bet.add(2.0));
    assert_eq!(bet.outcome(), BetOutcome::Second);
    (0..30).for_each(|_| bet.add(-1.0));
    assert_eq!(bet.outcome(), BetOutcome::Second);
    assert_eq!((bet.first, bet.second), (30, 12));
}
