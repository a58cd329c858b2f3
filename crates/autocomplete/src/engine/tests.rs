//! The machine driven by hand: keys, answers and time.

mod random;
mod stories;
mod world;
