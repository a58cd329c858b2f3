//! Whole-crate tests.
