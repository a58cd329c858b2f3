//! The index as a whole, beside searches without it.

mod damage;
mod edits;
pub(crate) mod random;
