//! Spans of text that can be folded.
//!
//! With a tree, a query names the nodes: those with brackets fold between them, others from the end
//! of their first row, and runs of comments or imports fold together. Without one, rows with deeper
//! indentation fold below the row above them.

mod by_indent;

use std::ops::Range;

use base::{ByteOffset, Row, Span};
use text::Snapshot;
use tree_sitter::{Node, StreamingIterator};

use crate::cursors::{matches, with_query_cursor};
use crate::grammar::NodeRoles;
use crate::injection::injections_in;
use crate::nodes::{children_before, children_from, first_children, last_child};
use crate::snapshot::{SyntaxSnapshot, TreeView};
use crate::source::BytePieces;

/// The text that a fold hides. The first row of the folded block stays visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Start of the hidden text: after the opening bracket, or at the end of the first row.
    pub start: ByteOffset,
    /// End of the hidden text: before the closing bracket, or at the end of the last row.
    pub end: ByteOffset,
}

/// Maximum number of nodes in a run of comments or imports.
const MAX_RUN: usize = 5000;

/// Number of first children searched for the brackets or the block of a node.
const MAX_HEAD_CHILDREN: usize = 32;

/// Average length above which rows count as long, in bytes.
const MAX_ROW_BYTES: usize = 1000;

/// Maximum number of long rows examined.
const MAX_LONG_ROWS: usize = 200;

/// Maximum white space trimmed from the end of a fold, in bytes.
const MAX_BLANK_BYTES: usize = 10_000;

impl SyntaxSnapshot {
    /// Returns the folds that start in `rows`, at most one for each row, in text order. Without a
    /// tree, derives the folds from indentation.
    pub fn folds(&self, text: &Snapshot, rows: Range<Row>) -> Vec<Fold> {
        let rows = rows.start..rows.end.min(text.last_row() + 1);
        if rows.start >= rows.end {
            return Vec::new();
        }
        let Some(view) = self.root_view() else {
            return by_indent::folds(text, rows);
        };
        let mut folds = Vec::new();
        for span in places_to_look(text, &rows) {
            self.tree_folds(&view, text, span, &mut folds);
        }
        folds.retain(|fold| {
            let (start, end) = (text.point_at(fold.start).row, text.point_at(fold.end).row);
            start < end && rows.contains(&start)
        });
        // The largest fold of a row is the one it shows.
        folds.sort_by_key(|fold| {
            (
                text.point_at(fold.start).row,
                std::cmp::Reverse(fold.end - fold.start),
            )
        });
        folds.dedup_by_key(|fold| text.point_at(fold.start).row);
        folds
    }

    /// Returns the fold that starts in `row`. Returns `None` if no fold starts there.
    pub fn fold_at(&self, text: &Snapshot, row: Row) -> Option<Fold> {
        self.folds(text, row..row + 1).into_iter().next()
    }

    fn tree_folds(&self, view: &TreeView<'_>, text: &Snapshot, span: Span, folds: &mut Vec<Fold>) {
        let grammar = view.language.grammar();
        let range =
            span.start.0.saturating_sub(view.shift)..span.end.0.saturating_sub(view.shift) + 1;
        if let Some(query) = &grammar.folds {
            let names = query.capture_names();
            let bytes = |node: Node<'_>| {
                BytePieces::new(
                    text,
                    node.start_byte() + view.shift..node.end_byte() + view.shift,
                )
            };
            let folder = FoldFinder { view, text };
            with_query_cursor(range.clone(), |cursor| {
                let mut matches = matches(cursor, query, view.root(), bytes);
                while let Some(one) = matches.next() {
                    for capture in one.captures {
                        folds.extend(folder.fold(names[capture.index as usize], capture.node));
                    }
                }
            });
        }
        for injection in injections_in(grammar, view.root(), text, view.shift, range) {
            if let Some(inner) = self.view_of(view, &injection, text) {
                let start = (injection.span.start + view.shift).max(span.start);
                let end = (injection.span.end + view.shift).min(span.end).max(start);
                self.tree_folds(&inner, text, Span::new(start, end), folds);
            }
        }
    }
}

/// Returns the spans to query for folds: the whole rows, unless they are long. A fold extends
/// beyond the end of its row, so the ends of long rows suffice.
fn places_to_look(text: &Snapshot, rows: &Range<Row>) -> Vec<Span> {
    let whole = Span::new(text.row_start(rows.start), text.row_end(rows.end - 1));
    let count = rows.end - rows.start;
    if whole.len() <= MAX_ROW_BYTES * count as usize {
        return vec![whole];
    }
    let ends = (rows.start.0..rows.end.0).map(|row| Span::at(text.row_end(Row(row))));
    ends.take(MAX_LONG_ROWS).collect()
}

/// Returns whether a capture name of a folds query is known.
#[cfg(test)]
pub(crate) fn is_known_capture(capture: &str) -> bool {
    capture.starts_with('_')
        || ["fold", "fold.body", "fold.comments", "fold.imports"].contains(&capture)
}

struct FoldFinder<'a> {
    view: &'a TreeView<'a>,
    text: &'a Snapshot,
}

impl FoldFinder<'_> {
    /// Returns the fold of a captured node. Returns `None` if nothing below its first row would
    /// fold, if it continues a run that began earlier, or if the capture is unknown.
    fn fold(&self, capture: &str, node: Node<'_>) -> Option<Fold> {
        if node.start_position().row == node.end_position().row
            && capture.len() <= "fold.body".len()
        {
            return None;
        }
        match capture {
            "fold" => self
                .brackets(node)
                .or_else(|| self.fold_after_head(node, node.start_byte())),
            "fold.body" => self.body(node),
            "fold.comments" => self.run(node, 1),
            "fold.imports" => self.run(node, 2),
            _ => None,
        }
    }

    fn offset(&self, byte: usize) -> ByteOffset {
        ByteOffset((byte + self.view.shift).min(self.text.len().0))
    }

    /// Between what opens a node and what closes it: brackets, tags, words like `do` and `end`.
    fn brackets(&self, node: Node<'_>) -> Option<Fold> {
        let close = last_child(node)?;
        let open = *first_children(node, 1).first()?;
        let grammar = self.view.language.grammar();
        let roles = (grammar.roles(open), grammar.roles(close));
        if roles.0.has(NodeRoles::START_TAG) && roles.1.has(NodeRoles::END_TAG) {
            return Some(self.between(open.end_byte(), close.start_byte()));
        }
        let is_token = |node: Node<'_>| !node.is_named() && node.child_count() == 0;
        if !is_token(close) || close.is_missing() {
            return None;
        }
        if let Some(opener) = opener_of(close.kind()) {
            let children = first_children(node, MAX_HEAD_CHILDREN);
            let open = children
                .iter()
                .find(|it| is_token(**it) && it.kind() == opener)?;
            return Some(self.between(open.end_byte(), close.start_byte()));
        }
        let is_word = grammar
            .kinds
            .word_pairs
            .iter()
            .any(|(_, word)| *word == close.kind());
        if is_word || close.kind() == "#endif" {
            let first = self.row_end(open.start_byte());
            return Some(Fold {
                start: first,
                end: self.offset(close.start_byte()).max(first),
            });
        }
        None
    }

    fn between(&self, start: usize, end: usize) -> Fold {
        Fold {
            start: self.offset(start),
            end: self.offset(end.max(start)),
        }
    }

    /// The block of a statement, from the end of the row before it.
    fn body(&self, node: Node<'_>) -> Option<Fold> {
        let grammar = self.view.language.grammar();
        let children = first_children(node, MAX_HEAD_CHILDREN);
        let block = children
            .iter()
            .position(|it| grammar.roles(*it).has(NodeRoles::BLOCK));
        let Some(block) = block else {
            return self.fold_after_head(node, node.start_byte());
        };
        let head = block
            .checked_sub(1)
            .map_or(node.start_byte(), |ix| children[ix].start_byte());
        self.fold_after_head(children[block], head)
    }

    /// From the end of the row of `head` to the end of `node`, blank rows apart.
    fn fold_after_head(&self, node: Node<'_>, head: usize) -> Option<Fold> {
        let start = self.row_end(head);
        let end = self.end_without_blanks(node, start);
        (start < end).then_some(Fold { start, end })
    }

    /// A run of nodes like `node` on rows not more than `gap` apart, if it is the first of them.
    fn run(&self, node: Node<'_>, gap: usize) -> Option<Fold> {
        let parent = node.parent()?;
        let start = node.start_byte();
        let is_near = |a: Node<'_>, b: Node<'_>| {
            are_alike(a, b) && b.start_position().row <= self.last_row(a) + gap
        };
        if let Some(previous) = children_before(parent, start).nth(1)
            && is_near(previous, node)
        {
            return None;
        }
        let mut last = node;
        for next in children_from(parent, start).take(MAX_RUN).skip(1) {
            if !is_near(last, next) {
                break;
            }
            last = next;
        }
        if last == node && gap > 1 {
            return None;
        }
        let first_end = self.row_end(start);
        let end = self.end_without_blanks(last, first_end);
        (first_end < end).then_some(Fold {
            start: first_end,
            end,
        })
    }

    /// The last row that holds text of a node; some end with their line feed.
    fn last_row(&self, node: Node<'_>) -> usize {
        let end = node.end_position();
        let reaches_over = end.column == 0 && end.row > node.start_position().row;
        end.row - usize::from(reaches_over)
    }

    fn row_end(&self, byte: usize) -> ByteOffset {
        let row = self.text.point_at(self.offset(byte)).row;
        self.text.row_end(row)
    }

    fn end_without_blanks(&self, node: Node<'_>, start: ByteOffset) -> ByteOffset {
        let end = self.offset(node.end_byte());
        let mut blanks = 0;
        for c in self
            .text
            .chars_before(end)
            .take_while(|c| c.is_whitespace())
            .take(MAX_BLANK_BYTES)
        {
            blanks += c.len_utf8();
        }
        (end - blanks).max(start)
    }
}

/// Returns the bracket that this one closes; `None` for any other token.
fn opener_of(closer: &str) -> Option<&'static str> {
    Some(match closer {
        ")" => "(",
        "]" => "[",
        "}" => "{",
        "))" => "((",
        "]]" => "[[",
        _ => return None,
    })
}

/// Whether two nodes can be of one run: of one kind, or both imports.
fn are_alike(a: Node<'_>, b: Node<'_>) -> bool {
    a.kind_id() == b.kind_id() || (a.kind().contains("import") && b.kind().contains("import"))
}

#[cfg(test)]
mod tests;
