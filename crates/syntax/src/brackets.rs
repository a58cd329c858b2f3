//! Brackets, and words and tags that pair up like them.

use base::{ByteOffset, Span};
use text::Snapshot;

use crate::snapshot::SyntaxSnapshot;

/// Two brackets that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BracketPair {
    /// The opening bracket itself.
    pub open: Span,
    /// The closing bracket itself.
    pub close: Span,
}

impl SyntaxSnapshot {
    /// The pair of the bracket right behind `offset`, else of the one right before it.
    pub fn matching_bracket(&self, text: &Snapshot, offset: ByteOffset) -> Option<BracketPair> {
        let _unused = (text, offset);
        None
    }

    /// The innermost pair around `span`.
    pub fn enclosing_brackets(&self, text: &Snapshot, span: Span) -> Option<BracketPair> {
        let _unused = (text, span);
        None
    }
}
