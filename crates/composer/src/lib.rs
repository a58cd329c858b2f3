//! Many sessions at once: their changes, forecasts, reviews and landings.

mod work;

pub use work::{CommitId, Work};
