//! The part of a text that determines how the parser reads the text at some spans.
//!
//! Siblings far from the spans are left out where the parser is in the same state before the first
//! one left out and before the first one kept after it. It therefore reads the rest as it does in
//! the whole text: an excerpt of a method is the method with the heads and ends of what surrounds
//! it.
//! Invariant: the work depends on the depth of the tree, never on the number of its nodes.

use base::{ByteOffset, Span};
use text::Snapshot;
use tree_sitter::Node;

use crate::nodes::{children_from, first_children};
use crate::snapshot::SyntaxSnapshot;

/// Number of siblings that are inspected at each end of a gap.
const EDGE: usize = 4;
/// Nodes of at most so many bytes are kept whole.
const WHOLE_BYTES: usize = 192;
/// Maximum depth of nodes in which siblings are left out.
const MAX_DEPTH: usize = 200;
/// Parse states of nodes that tell nothing: inside an error, and after an ambiguity.
const UNKNOWN_STATES: [u16; 2] = [0, u16::MAX];

impl SyntaxSnapshot {
    /// Returns the ranges of `text` that determine how it is parsed at `spans`, which are sorted
    /// and disjoint. The ranges are sorted and cover the spans. Returns `None` without a tree, or
    /// if the ranges have more than `max` bytes.
    ///
    /// The tree may be older than the text, as long as it has the offsets of the text.
    pub fn excerpt(&self, text: &Snapshot, spans: &[Span], max: usize) -> Option<Vec<Span>> {
        let view = self.root_view()?;
        let mut gaps = Vec::new();
        find_gaps(view.root(), spans, MAX_DEPTH, &mut gaps);
        gaps.sort_by_key(|gap| gap.start);
        let mut kept = Vec::with_capacity(gaps.len() + 1);
        let mut start = ByteOffset(0);
        for gap in gaps {
            if start < gap.start {
                kept.push(Span::new(start, gap.start));
            }
            start = start.max(gap.end);
        }
        if start < text.len() {
            kept.push(Span::new(start, text.len()));
        }
        let bytes: usize = kept.iter().map(Span::len).sum();
        (bytes <= max).then_some(kept)
    }
}

/// Adds the ranges that may be left out of a node. `spans` are those that touch the node.
fn find_gaps(node: Node<'_>, spans: &[Span], depth: usize, gaps: &mut Vec<Span>) {
    if depth == 0 || node.byte_range().len() <= WHOLE_BYTES {
        return;
    }
    let mut children: Vec<Node<'_>> = Vec::new();
    for ix in 0..=spans.len() {
        let left = match ix.checked_sub(1) {
            None => first_children(node, EDGE),
            Some(before) => children_from(node, spans[before].end.0, EDGE + 2),
        };
        let right = match spans.get(ix) {
            None => preceding(node, node.end_byte()),
            Some(span) => preceding(node, span.start.0),
        };
        // The sibling right after a span may continue it.
        let last = ix.checked_sub(1).map(|before| spans[before].end.0);
        let skipped = last.map_or(0, |end| {
            1 + left.partition_point(|child| child.start_byte() <= end)
        });
        let gap = widest_gap(left.get(skipped..).unwrap_or_default(), &right);
        let is_kept =
            |child: &Node<'_>| gap.is_none_or(|gap| !gap.contains(ByteOffset(child.start_byte())));
        children.extend(left.into_iter().chain(right).filter(is_kept));
        gaps.extend(gap);
    }
    children.sort_by_key(|child| (child.start_byte(), child.id()));
    children.dedup_by_key(|child| child.id());
    for child in children {
        let first = spans.partition_point(|span| span.end.0 < child.start_byte());
        let end = spans.partition_point(|span| span.start.0 <= child.end_byte());
        find_gaps(
            child,
            spans.get(first..end).unwrap_or_default(),
            depth - 1,
            gaps,
        );
    }
}

/// Returns the last children that start before an offset, the nearest first.
fn preceding(node: Node<'_>, offset: usize) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    let mut is_there = match offset.checked_sub(1) {
        Some(last) => cursor.goto_first_child_for_byte(last).is_some() || cursor.goto_last_child(),
        None => false,
    };
    let mut children = Vec::new();
    while is_there && children.len() <= EDGE {
        children.push(cursor.node());
        is_there = cursor.goto_previous_sibling();
    }
    children.retain(|child| child.start_byte() < offset);
    children
}

/// Returns the longest range from the start of a child in `left` to the start of one in `right`
/// that the parser reaches in the same state.
fn widest_gap(left: &[Node<'_>], right: &[Node<'_>]) -> Option<Span> {
    let pairs = left
        .iter()
        .flat_map(|first| right.iter().map(move |next| (first, next)));
    let gaps = pairs.filter(|(first, next)| {
        let state = state_before(**first);
        first.start_byte() < next.start_byte() && state.is_some() && state == state_before(**next)
    });
    let spans = gaps.map(|(first, next)| Span::from(first.start_byte()..next.start_byte()));
    spans.max_by_key(Span::len)
}

/// Returns the state in which the parser read a node; `None` if that is unknown. After an ambiguity
/// only the first token of a node tells it.
fn state_before(mut node: Node<'_>) -> Option<u16> {
    while UNKNOWN_STATES.contains(&node.parse_state()) {
        node = node.child(0)?;
    }
    Some(node.parse_state())
}

#[cfg(test)]
mod tests;
