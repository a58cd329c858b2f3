//! Edits that language models write: parse, match, plan, explain.
//!
//! Knows: `base`, `text`. Must not know: files, models, time.
//! Invariant: never guesses between two places; a hunk lands exactly, is uniquely explained, or is refused.
//! Invariant: bytes outside the matched range are never changed.
//! Start at `edit`, what the formats are parsed into.

#![warn(missing_docs)]

pub mod edit;
pub mod format;
