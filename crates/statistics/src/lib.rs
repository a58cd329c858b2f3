//! Statistics for quality figures: survival with competing risks, cumulative sums, tests that may be looked at after
//! every pair, resampling, and the functions they need.
//!
//! Pure: numbers in, numbers out. Must not know: calls, edits, sessions, clocks.
//! Invariant: a figure that the data do not determine is `None`, never zero.
//! Invariant: equal inputs give equal outputs; random numbers follow from a seed.
//! Start at `IncidenceCurve`, `FailureCusum` and `PairBet`.

#![warn(missing_docs)]

mod betting;
mod covariate;
mod cusum;
mod quantile;
mod random;
mod resampling;
mod special;
mod survival;

pub use betting::{BetOutcome, PairBet};
pub use covariate::Covariate;
pub use cusum::{FailureCusum, LevelCusum};
pub use quantile::{median, median_deviation, quantile};
pub use random::SplitMix;
pub use resampling::{Interval, bootstrap_interval};
pub use special::beta_below;
pub use survival::{IncidenceCurve, SurvivalExit};
