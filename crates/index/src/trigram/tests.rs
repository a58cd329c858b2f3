//! The index as a whole, beside searches without it.

mod damage;
mod edits;
mod killed;
pub(crate) mod random;
mod trust;
