//! A text parsed once, for splitting it into chunks: no edits, no layers, no highlights.
//!
//! Compiles only the outline query, so that a folder in ten languages does not compile ten
//! highlight queries. Must not know: the purpose of the chunks. Start at `PlainTree::parse`.

use std::ops::{ControlFlow, Range};

use base::Span;
use tree_sitter::{Node, QueryCursor, StreamingIterator, Tree};

use crate::cursors::{return_parser, take_parser, with_query_cursor};
use crate::language::Language;
use crate::outline_item::{OutlineItem, sorted};
use crate::outliner::PatternStart;
use crate::snapshot::SyntaxSnapshot;
use crate::stall_guard;

/// The syntax tree of one text that is not edited, without injections. Used for indexing.
pub struct PlainTree {
    language: Language,
    tree: Tree,
}

/// A node of the tree.
#[derive(Clone, Copy)]
pub struct PlainNode<'tree>(Node<'tree>);

impl PlainTree {
    /// Parses `text` completely. Takes time proportional to its length. Returns `None` if parsing
    /// makes no progress.
    pub fn parse(language: Language, text: &str) -> Option<Self> {
        let mut parser = take_parser();
        parser.reset();
        let is_set = parser.set_language(&language.outliner().language).is_ok()
            && parser.set_included_ranges(&[]).is_ok();
        let bytes = text.as_bytes();
        let read = &mut |offset: usize, _| bytes.get(offset..).unwrap_or_default();
        let mut progress = |_: &_| ControlFlow::Continue(());
        let tree = is_set
            .then(|| stall_guard::parse(&mut parser, bytes.len(), read, None, &mut progress).ok())
            .flatten();
        return_parser(parser);
        Some(Self {
            language,
            tree: tree?,
        })
    }

    /// Returns the named parts of the parsed text, in text order, without fields, variants and keys.
    pub fn outline(&self, text: &str) -> Vec<OutlineItem> {
        let outliner = self.language.outliner();
        self.outline_from(text, outliner.starts.as_deref())
    }

    /// Returns the outline from the nodes at which patterns begin, or from one pass over all nodes.
    fn outline_from(&self, text: &str, starts: Option<&[PatternStart]>) -> Vec<OutlineItem> {
        let outliner = self.language.outliner();
        let Some(outline) = &outliner.query else {
            return Vec::new();
        };
        let bytes = text.as_bytes();
        let words = |span: Span| {
            let range = span.start.0..span.end.0;
            String::from_utf8_lossy(bytes.get(range).unwrap_or_default()).into_owned()
        };
        let root = self.tree.root_node();
        let mut items = Vec::new();
        let mut take = |cursor: &mut QueryCursor, node| {
            let mut matches = cursor.matches(&outline.query, node, bytes);
            while let Some(one) = matches.next() {
                let item = outline.item(one, root, bytes.len(), &words);
                items.extend(item.map(|matched| (matched.pattern, matched.item)));
            }
        };
        with_query_cursor(0..bytes.len(), |cursor| match starts {
            None => take(cursor, root),
            Some(starts) => {
                cursor.set_max_start_depth(Some(0));
                each_node(root, |node, parent| {
                    let start = starts.get(usize::from(node.kind_id()));
                    if start.is_some_and(|start| start.is_below(parent)) {
                        take(cursor, node);
                    }
                });
            }
        });
        sorted(items)
    }

    /// Returns the root node.
    pub fn root(&self) -> PlainNode<'_> {
        PlainNode(self.tree.root_node())
    }
}

impl SyntaxSnapshot {
    /// Returns the root node of the text's own language, without injections. Returns `None` if there is no tree.
    pub fn root(&self) -> Option<PlainNode<'_>> {
        let trees = self.trees()?;
        Some(PlainNode(trees.root.root_node()))
    }
}

/// Calls `each` for a node and its descendants, in text order, with the kind of the parent; `None`
/// for the node itself.
fn each_node<'tree>(root: Node<'tree>, mut each: impl FnMut(Node<'tree>, Option<u16>)) {
    let mut cursor = root.walk();
    let mut parents: Vec<u16> = Vec::new();
    loop {
        let node = cursor.node();
        each(node, parents.last().copied());
        if cursor.goto_first_child() {
            parents.push(node.kind_id());
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            parents.pop();
        }
    }
}

impl<'tree> PlainNode<'tree> {
    /// Returns the byte range.
    pub fn range(&self) -> Range<usize> {
        self.0.byte_range()
    }

    /// Returns its first and last row, from 0; a trailing newline does not start another row.
    pub fn rows(&self) -> (usize, usize) {
        let (first, end) = (self.0.start_position().row, self.0.end_position());
        let last = end.row - usize::from(end.column == 0 && end.row > first);
        (first, last)
    }

    /// Returns the name that the grammar gives to nodes of its kind, such as `function_item`.
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Returns the child that the grammar calls `name`; `None` if there is none.
    pub fn field(&self, name: &str) -> Option<PlainNode<'tree>> {
        self.0.child_by_field_name(name).map(PlainNode)
    }

    /// Returns whether it belongs to the following node: a comment, an attribute, a decorator.
    pub fn leads(&self) -> bool {
        let kind = self.0.kind();
        ["comment", "attribute", "decorator", "annotation"]
            .iter()
            .any(|lead| kind.contains(lead))
    }

    /// Returns whether it is a comment.
    pub fn is_comment(&self) -> bool {
        self.0.kind().contains("comment")
    }

    /// Returns its direct children in text order, punctuation included.
    pub fn children(&self) -> Vec<PlainNode<'tree>> {
        let mut cursor = self.0.walk();
        self.0.children(&mut cursor).map(PlainNode).collect()
    }

    /// Returns its direct children in text order, without punctuation and keywords.
    pub fn named_children(&self) -> Vec<PlainNode<'tree>> {
        let mut cursor = self.0.walk();
        self.0.named_children(&mut cursor).map(PlainNode).collect()
    }
}

#[cfg(test)]
mod tests;
