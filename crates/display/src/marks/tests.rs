//! Marks under random edits.
