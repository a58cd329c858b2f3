//! The part of a text that determines how the parser reads the text at some spans.
//!
//! Siblings far from the spans are left out where the parser is in the same state before the first
//! one left out and before the first one kept after it. It therefore reads the rest as it does in
//! the whole text: an excerpt of a method is the method with the heads and ends of what surrounds
//! it. Near an error, siblings may be at different depths, and a state may belong to a reading that the
//! parser gave up; there the two must begin rows at the same column as well, and no sibling between
//! them begins a row at a smaller one. Rows of long comments and strings are left out, too.
//! Invariant: the work is bounded by `MAX_NODES` and `EDGE`, whatever the number of nodes.

use base::{ByteOffset, Row, Span};
use text::Snapshot;
use tree_sitter::Node;

use crate::grammar::{Grammar, NodeRoles};
use crate::nodes::{children_from, first_children};
use crate::snapshot::SyntaxSnapshot;

/// Number of siblings that are inspected at each end of a gap.
const EDGE: usize = 32;
/// Maximum number of nodes in which gaps are looked for.
const MAX_NODES: usize = 512;
/// Nodes of at most so many bytes are kept whole.
const WHOLE_BYTES: usize = 192;
/// Longest indentation of an anchor, in bytes.
const MAX_INDENT: usize = 256;
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
        let is_broken = self.root_view()?.root().has_error();
        // Rather an excerpt that may be parsed in another way than none.
        let attempts: [fn(&Node<'_>) -> bool; 2] =
            [|node| node.has_error(), |node| node.is_error()];
        attempts
            .into_iter()
            .take(if is_broken { 2 } else { 1 })
            .map(|is_damaged| self.ranges(text, spans, is_damaged))
            .find(|kept| kept.iter().map(Span::len).sum::<usize>() <= max)
    }

    /// Returns the ranges of `text` that determine how it is parsed at `spans`. Siblings in a node
    /// for which `is_damaged` holds are left out by row and column.
    fn ranges(
        &self,
        text: &Snapshot,
        spans: &[Span],
        is_damaged: fn(&Node<'_>) -> bool,
    ) -> Vec<Span> {
        let Some(view) = self.root_view() else {
            return vec![text.full_span()];
        };
        let mut finder = GapFinder {
            text,
            grammar: view.language.grammar(),
            is_damaged,
            nodes: MAX_NODES,
            gaps: Vec::new(),
        };
        finder.visit(view.root(), spans, MAX_DEPTH);
        let mut gaps = finder.gaps;
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
        kept
    }
}

/// Finds ranges that may be left out.
struct GapFinder<'a> {
    text: &'a Snapshot,
    grammar: &'a Grammar,
    /// Whether the parse states of a node's children do not tell how the parser reads on.
    is_damaged: fn(&Node<'_>) -> bool,
    /// Number of nodes that may still be visited.
    nodes: usize,
    gaps: Vec<Span>,
}

/// Start of a node, and what determines how the parser reads on there.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    start: usize,
    /// State of the parser; `None` if that is unknown.
    state: Option<u16>,
    /// Kind and column in bytes of a node that begins a row near an error.
    row: Option<(u16, usize)>,
}

impl GapFinder<'_> {
    /// Adds the gaps of a node. `spans` are those that touch the node.
    fn visit(&mut self, node: Node<'_>, spans: &[Span], depth: usize) {
        if depth == 0 || self.nodes == 0 || node.byte_range().len() <= WHOLE_BYTES {
            return;
        }
        self.nodes -= 1;
        if self.is_prose(node) {
            self.add_rows(node, spans);
            return;
        }
        let mut children: Vec<Node<'_>> = Vec::new();
        for ix in 0..=spans.len() {
            let left = match ix.checked_sub(1) {
                None => first_children(node, EDGE),
                Some(before) => children_from(node, spans[before].end.0)
                    .take(EDGE + 2)
                    .collect(),
            };
            let right = match spans.get(ix) {
                None => preceding(node, node.end_byte()),
                Some(span) => preceding(node, span.start.0),
            };
            // The first child may be the bracket that the last one closes. The sibling right after a
            // span may continue it.
            let last = ix.checked_sub(1).map(|before| spans[before].end.0);
            let skipped = last.map_or(1, |end| {
                1 + left.partition_point(|child| child.start_byte() <= end)
            });
            // A span may continue the sibling right before it.
            let is_code = |child: &Node<'_>| !child.is_extra();
            let continued = spans.get(ix).map_or(0, |_| {
                right
                    .iter()
                    .skip(1)
                    .position(is_code)
                    .map_or(0, |at| at + 1)
            });
            let left_of_gap = left.get(skipped..).unwrap_or_default();
            let right_of_gap = right.get(continued..).unwrap_or_default();
            let gap = self.widest_gap(left_of_gap, right_of_gap, (self.is_damaged)(&node));
            let is_kept = |child: &Node<'_>| {
                gap.is_none_or(|gap| !gap.contains(ByteOffset(child.start_byte())))
            };
            children.extend(left.into_iter().chain(right).filter(is_kept));
            self.gaps.extend(gap);
        }
        children.sort_by_key(|child| (child.start_byte(), child.id()));
        children.dedup_by_key(|child| child.id());
        for child in children {
            let first = spans.partition_point(|span| span.end.0 < child.start_byte());
            let end = spans.partition_point(|span| span.start.0 <= child.end_byte());
            let touching = spans.get(first..end).unwrap_or_default();
            self.visit(child, touching, depth - 1);
        }
    }

    /// Returns the longest range from the start of a child in `left` to the start of one in `right`
    /// at which the parser reads on in the same way.
    fn widest_gap(&self, left: &[Node<'_>], right: &[Node<'_>], is_damaged: bool) -> Option<Span> {
        let ends = |nodes: &[Node<'_>], is_left: bool| -> Vec<(Anchor, bool)> {
            let anchors = nodes.iter().filter_map(|it| self.anchor(*it, is_damaged));
            anchors.map(|anchor| (anchor, is_left)).collect()
        };
        let mut anchors = ends(left, true);
        anchors.extend(ends(right, false));
        anchors.sort_by_key(|(anchor, _)| anchor.start);
        let firsts = anchors
            .iter()
            .enumerate()
            .filter(|(_, (_, is_left))| *is_left);
        let spans = firsts.flat_map(|(ix, (first, _))| {
            let inside = anchors[ix + 1..].iter();
            let inside = inside.take_while(move |(next, _)| !next.is_left_of(first));
            let nexts = inside.filter(move |(next, is_left)| {
                !is_left && first.start < next.start && first.is_like(next)
            });
            nexts.map(move |(next, _)| Span::from(first.start..next.start))
        });
        spans.max_by_key(Span::len)
    }

    /// Returns the anchor of a child; `None` if nothing tells how the parser reads on there.
    fn anchor(&self, node: Node<'_>, is_damaged: bool) -> Option<Anchor> {
        let (start, state) = (node.start_byte(), state_before(node));
        if !is_damaged && state.is_none() {
            return None;
        }
        let row = if is_damaged {
            Some((node.kind_id(), self.indent(start)?))
        } else {
            None
        };
        Some(Anchor { start, state, row })
    }

    /// Returns the column in bytes of an offset that only blanks precede in its row.
    fn indent(&self, offset: usize) -> Option<usize> {
        let offset = ByteOffset(offset);
        let row = self.text.row_start(self.text.point_at(offset).row);
        let column = offset.0.checked_sub(row.0)?;
        if column > MAX_INDENT {
            return None;
        }
        let head = self.text.text(Span::new(row, offset));
        let is_blank = head.chars().all(|ch| matches!(ch, ' ' | '\t'));
        is_blank.then_some(column)
    }

    /// Whether a node is a comment or a string without embedded code.
    fn is_prose(&self, node: Node<'_>) -> bool {
        let roles = self.grammar.roles(node);
        let is_embedded = |child: &Node<'_>| self.grammar.roles(*child).has(NodeRoles::EMBEDDED);
        let is_string = || {
            let children = first_children(node, MAX_NODES);
            roles.has(NodeRoles::STRING)
                && children.len() < MAX_NODES
                && !children.iter().any(is_embedded)
        };
        !node.has_error() && (roles.has(NodeRoles::COMMENT) || is_string())
    }

    /// Adds the rows of a comment or a string, except for the first one, the last one, and those
    /// around the spans that touch it.
    fn add_rows(&mut self, node: Node<'_>, spans: &[Span]) {
        let row = |offset: usize| self.text.point_at(ByteOffset(offset)).row;
        let (first, last) = (row(node.start_byte()), row(node.end_byte()));
        let around = spans.iter().map(|span| {
            let start = row(span.start.0).0.saturating_sub(1);
            let end = row(span.end.0).0 + 1;
            (Row(start).max(first), Row(end).min(last))
        });
        let mut kept = first;
        for (start, end) in around.chain([(last, last)]) {
            if start.0 > kept.0 + 1 {
                // The line break before the next row that is kept stays.
                let gap = self.text.row_end(kept)..self.text.row_end(Row(start.0 - 1));
                self.gaps.push(Span::new(gap.start, gap.end));
            }
            kept = kept.max(end);
        }
    }
}

impl Anchor {
    /// Whether a node near an error begins at a smaller column than another one.
    fn is_left_of(&self, other: &Self) -> bool {
        let columns = self.row.zip(other.row);
        columns.is_some_and(|((_, column), (_, other_column))| column < other_column)
    }

    fn is_like(&self, other: &Self) -> bool {
        let (Some((kind, column)), Some((other_kind, other_column))) = (self.row, other.row) else {
            return self.state == other.state;
        };
        let is_same = match (self.state, other.state) {
            (Some(state), Some(other_state)) => state == other_state,
            _ => kind == other_kind,
        };
        column == other_column && is_same
    }
}

/// Returns the last children that start before an offset, the nearest first.
fn preceding<'t>(node: Node<'t>, offset: usize) -> Vec<Node<'t>> {
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
