//! The spans in which a newer tree differs from an older one, as far as the edits show.

use std::ops::Range;

use base::{ByteOffset, Span};
use text::{Change, Snapshot};
use tree_sitter::Node;

use crate::dirty::note_edit;
use crate::nodes::path_around;
use crate::snapshot::SyntaxSnapshot;
use crate::source::input_edits;

/// Maximum length of a node around a changed one that counts as changed, in bytes.
const MAX_AROUND_BYTES: usize = 512;

/// Number of nodes around a changed one that count as changed.
const MAX_AROUND: usize = 3;

/// Maximum length of a changed node, in bytes. If more changed, everything may differ.
const MAX_CHANGED_BYTES: usize = 8 * 1024;

impl SyntaxSnapshot {
    /// Returns the spans of `text` in which highlights may differ from those that the tree `before`
    /// gave for the text `old`, sorted and disjoint: the edited spans, the nodes that changed there,
    /// and small nodes around them. Returns `None` if everything may differ, or if `change` does not
    /// lead from one to the other.
    ///
    /// Compares the trees at the edits only, so the time does not depend on the length of the text,
    /// and a change elsewhere, as after an error, is missed.
    pub fn changed_spans(
        &self,
        (before, old): (&SyntaxSnapshot, &Snapshot),
        text: &Snapshot,
        change: &Change,
    ) -> Option<Vec<Span>> {
        let (ours, theirs) = (self.trees()?, before.trees()?);
        let is_other = before.language() != self.language();
        let has_layers = !ours.layers.is_empty() || !theirs.layers.is_empty();
        let is_between = before.revision() == change.before && self.revision() == change.after;
        let is_parsed = before.parsed_revision() == Some(before.revision())
            && self.parsed_revision() == Some(self.revision());
        if is_other || has_layers || !is_between || !is_parsed {
            return None;
        }
        let mut tree = theirs.root.clone();
        let mut dirty = Vec::new();
        for edit in input_edits(old, text, &change.splices) {
            tree.edit(&edit);
            note_edit(&mut dirty, &edit);
        }
        let (was, is) = (tree.root_node(), ours.root.root_node());
        let spans: Option<Vec<Span>> = dirty
            .into_iter()
            .map(|range| changed_at(was, is, range.start.saturating_sub(1)..range.end + 1))
            .collect();
        Some(merged(spans?, text.len()))
    }
}

/// Returns the span around an edited range in which the nodes below `is` differ from those below
/// `was`; `None` if it is large.
fn changed_at(was: Node<'_>, is: Node<'_>, range: Range<usize>) -> Option<Span> {
    let old = path_around(was, range.start, range.end);
    let new = path_around(is, range.start, range.end);
    let is_same = |(old, new): &(&Node<'_>, &Node<'_>)| {
        old.kind_id() == new.kind_id() && old.byte_range() == new.byte_range()
    };
    let same = old.iter().zip(&new).take_while(is_same).count();
    let mut span = Span::from(range);
    for changed in [old.get(same), new.get(same)].into_iter().flatten() {
        if changed.byte_range().len() > MAX_CHANGED_BYTES {
            return None;
        }
        span = span.union(Span::from(changed.byte_range()));
    }
    let around = new[..same].iter().rev().take(MAX_AROUND);
    let around = around.take_while(|node| node.byte_range().len() <= MAX_AROUND_BYTES);
    Some(around.fold(span, |span, node| span.union(Span::from(node.byte_range()))))
}

/// Joins spans that touch, and clips them to the text.
fn merged(mut spans: Vec<Span>, end: ByteOffset) -> Vec<Span> {
    spans.sort_by_key(|span| span.start);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        let span = Span::new(span.start.min(end), span.end.min(end));
        match merged.last_mut() {
            Some(last) if span.start <= last.end => *last = last.union(span),
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
