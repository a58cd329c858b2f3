//! A test of paired comparisons that stays valid when it is looked at after every pair.
//!
//! A gambler without knowledge bets on the winner of each pair that differs, at even odds. If neither side
//! is better, the expected wealth never grows, so that it exceeds twenty times the stake with a probability
//! of at most one in twenty, however often one looks (the inequality of Ville).

use crate::special::ln_beta;

/// Both parameters of the beta distribution from which the bets are mixed. It favours moderate
/// differences and neither side.
const PRIOR: f64 = 2.0;
/// Wealth, as a multiple of the stake, at which the comparison is decided: an error of at most 5 %.
const DECISIVE: f64 = 20.0;

/// Pairs of a comparison of two sides so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairBet {
    /// Pairs that the first side won.
    pub first: u64,
    /// Pairs that the second side won.
    pub second: u64,
    /// Pairs without a difference. They say nothing about the better side.
    pub ties: u64,
    /// The side that was ahead when the wealth first was decisive. Later pairs do not change it.
    decided: Option<BetOutcome>,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetOutcome {
    /// The first side is better.
    First,
    /// The second side is better.
    Second,
    /// The pairs do not tell.
    Undecided,
}

impl PairBet {
    /// Adds a pair by the difference of the second side's value to the first side's, where a larger value
    /// is better. A difference that is not a number is a tie.
    pub fn add(&mut self, difference: f64) {
        if difference > 0.0 {
            self.second += 1;
        } else if difference < 0.0 {
            self.first += 1;
        } else {
            self.ties += 1;
        }
        if self.decided.is_none() && self.ln_wealth() >= DECISIVE.ln() {
            self.decided = Some(if self.second > self.first {
                BetOutcome::Second
            } else {
                BetOutcome::First
            });
        }
    }

    /// Returns the logarithm of the gambler's wealth, as a multiple of the stake.
    pub fn ln_wealth(&self) -> f64 {
        let (first, second) = (self.first as f64, self.second as f64);
        ln_beta(PRIOR + second, PRIOR + first) - ln_beta(PRIOR, PRIOR)
            + (first + second) * std::f64::consts::LN_2
    }

    /// Returns the result so far. A decision is final.
    pub fn outcome(&self) -> BetOutcome {
        self.decided.unwrap_or(BetOutcome::Undecided)
    }
}

#[cfg(test)]
mod tests;
