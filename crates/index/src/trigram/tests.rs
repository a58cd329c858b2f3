//! The index as a whole, beside searches without it.

mod damage;
pub(crate) mod edits;
mod killed;
pub(crate) mod random;
