//! Syntax completion: what the grammar and the definitions in sight leave no choice about.
//!
//! Closing brackets and words, the next arm of a match over an enumeration, the next field of a structure, the next
//! keyword argument. Must not know: what other code looks like.
//! Invariant: where more than one thing could come, nothing is offered.

mod ends;
mod facts;
mod fill;

use base::Span;

use crate::Scene;
pub(crate) use facts::Facts;

/// What the grammar asks for at the caret.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Closing {
    /// What it replaces.
    pub(crate) span: Span,
    pub(crate) new: String,
    /// How sure it is before anything was learned of this person, from 0 to 1.
    pub(crate) likelihood: f32,
}

/// What the grammar asks for at the caret, the surest first.
pub(crate) fn closings<'f>(
    scene: &Scene,
    facts: impl Iterator<Item = &'f Facts> + Clone,
) -> Vec<Closing> {
    let text = &scene.snapshot;
    let row = text.point_at(scene.caret).row;
    let rest = text.text(Span::new(scene.caret, text.row_end(row)));
    if !rest
        .trim_matches(|ch: char| ch.is_whitespace() || ")]},;".contains(ch))
        .is_empty()
    {
        return Vec::new();
    }
    let filled = fill::next_part(scene, facts);
    let ended = ends::end(scene, &rest);
    filled.into_iter().chain(ended).collect()
}

#[cfg(test)]
mod tests;
