//! Many sessions at once: their changes, forecasts, reviews and landings.
