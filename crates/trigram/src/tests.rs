//! Tests that compare searches with and without the index.

mod damage;
mod edits;
mod freshness;
mod killed;
pub(crate) mod random;
