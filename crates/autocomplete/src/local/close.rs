//! Syntax completion: text that the grammar and the known definitions determine uniquely.
//!
//! Completes closing brackets and keywords, the next arm of a match over an enumeration, the next
//! field of a structure, the next keyword argument. Must not know: other code.
//!
//! Invariant: suggests nothing if more than one continuation is possible.

mod ends;
mod facts;
mod fill;

use base::Span;

use crate::EditorState;
pub(crate) use facts::FileDefinitions;

/// A completion that the syntax determines, such as closing brackets or the arms of a match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SyntaxCompletion {
    /// Span that it replaces.
    pub(crate) span: Span,
    pub(crate) new: String,
    /// Initial probability of being kept, before anything is learned from the user, from 0 to 1.
    pub(crate) likelihood: f32,
}

/// Returns the syntax completions at the caret, the surest first. Returns an empty list if anything
/// but closing characters follows the caret in its row. `facts` are the definitions of the open
/// texts.
pub(crate) fn closings<'f>(
    state: &EditorState,
    facts: impl Iterator<Item = &'f FileDefinitions> + Clone,
) -> Vec<SyntaxCompletion> {
    let text = &state.snapshot;
    let row = text.point_at(state.caret).row;
    let rest = text.text(Span::new(state.caret, text.row_end(row)));
    if !rest
        .trim_matches(|ch: char| ch.is_whitespace() || ")]},;".contains(ch))
        .is_empty()
    {
        return Vec::new();
    }
    let filled = fill::next_part(state, facts);
    let ended = ends::block_end(state, &rest);
    filled.into_iter().chain(ended).collect()
}

#[cfg(test)]
mod tests;
