//! Many sessions at once: their changes, forecasts, reviews and landings.

pub mod desk;
pub mod forecast;
pub mod land;
mod work;

pub use work::{CommitId, Work};
