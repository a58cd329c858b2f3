//! The engine driven by keys, responses and time.

mod outcomes;
mod random;
mod stories;
mod world;
