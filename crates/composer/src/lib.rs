//! Many sessions at once: their changes, forecasts, reviews and landings.

pub mod forecast;
pub mod land;
pub mod review;
mod work;

pub use work::{CommitId, Work};
