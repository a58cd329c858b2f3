//! Text objects by the syntax tree and by Git.

use base::Span;
use syntax::SyntaxSnapshot;
use text::{RowHunk, Snapshot};
use vim::{ObjectExtent, SyntaxObject};

/// Nodes around a place that are looked at.
const MAX_NODES: usize = 200;

/// Parts of the names of nodes that are functions.
const FUNCTIONS: &[&str] = &[
    "function",
    "method",
    "closure",
    "lambda",
    "func_",
    "constructor",
];

/// Parts of the names of nodes that are types.
const CLASSES: &[&str] = &[
    "class",
    "struct",
    "enum",
    "trait",
    "impl_",
    "interface",
    "union_",
];

/// Words in the names of nodes that only mention a function or a type.
const MENTIONS: &[&str] = &[
    "call",
    "type_",
    "parameters",
    "modifiers",
    "signature_",
    "pointer",
];

/// Returns the smallest function or type that covers a span and is larger than it; for `Inner`, its
/// body without the brackets.
pub(super) fn syntax_object(
    syntax: &SyntaxSnapshot,
    text: &Snapshot,
    kind: SyntaxObject,
    extent: ObjectExtent,
    span: Span,
) -> Option<Span> {
    let parts = match kind {
        SyntaxObject::Function => FUNCTIONS,
        SyntaxObject::Class => CLASSES,
        SyntaxObject::Hunk => return None,
    };
    let is_kind = |name: &str| {
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        has(parts) && !has(MENTIONS)
    };
    let nodes = syntax.nodes_around(text, span, MAX_NODES);
    let around = nodes
        .iter()
        .filter(|node| is_kind(node.name))
        .map(|node| node.span);
    let mut shown = around.filter_map(|node| match extent {
        ObjectExtent::Around => Some(node),
        ObjectExtent::Inner => body(syntax, text, node),
    });
    shown.find(|found| found.covers(span) && *found != span)
}

/// The text between the brackets of a body, or the rows behind the head of a body without brackets.
fn body(syntax: &SyntaxSnapshot, text: &Snapshot, node: Span) -> Option<Span> {
    let last = text.previous_grapheme(node.end);
    if let Some(pair) = syntax.matching_bracket(text, last)
        && pair.open.start >= node.start
        && pair.close.start == last
    {
        return Some(Span::new(pair.open.end, pair.close.start));
    }
    let first = text.point_at(node.start).row + 1;
    let is_longer = text.point_at(node.end).row >= first;
    is_longer.then(|| Span::new(text.row_start(first), node.end))
}

/// Returns the rows of the changed hunk at a span.
pub(super) fn hunk(hunks: &[RowHunk], text: &Snapshot, span: Span) -> Option<Span> {
    let row = text.point_at(span.start).row;
    let hunk = hunks
        .iter()
        .find(|hunk| hunk.after.start <= row && row < hunk.after.end)?;
    let last = hunk.after.end - 1;
    let rows = Span::new(text.row_start(hunk.after.start), text.row_end(last));
    (rows != span).then_some(rows)
}
