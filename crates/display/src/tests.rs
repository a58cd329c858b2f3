//! Tests the whole map against a naive model, under random edits, folds, inlays, blocks and
//! wrapping.

mod examples;
mod naive;
mod random;

use crate::{DisplayMap, Inlay, InlayId};

/// Replaces all inlays by new ones.
fn set_inlays(map: &mut DisplayMap, inlays: Vec<Inlay>) {
    let gone: Vec<InlayId> = map.inlay_offsets().into_iter().map(|(id, _)| id).collect();
    map.splice_inlays(&gone, inlays);
}
