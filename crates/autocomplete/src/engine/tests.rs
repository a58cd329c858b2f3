//! The engine driven by keys, responses and time.

mod local_stories;
mod outcomes;
mod random;
mod stories;
mod world;
