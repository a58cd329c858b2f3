//! The whole map against a naive model, under random edits, folds, inlays, blocks and wrapping.

mod examples;
mod naive;
mod random;
