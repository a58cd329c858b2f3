//! A text parsed once, for splitting it into chunks: no edits, no layers, no highlights.
//!
//! Compiles only the outline query, so that a folder in ten languages does not compile ten
//! highlight queries. Must not know: the purpose of the chunks. Start at `PlainTree::parse`.

use std::ops::{ControlFlow, Range};

use base::Span;
use tree_sitter::{Node, Query, QueryCursor, StreamingIterator, Tree};

use crate::cursors::{return_parser, take_parser, with_query_cursor};
use crate::grammar::compile_query;
use crate::language::{Definition, Language};
use crate::outline::{OutlineCapture, OutlineItem, item, kinds_of, sorted};
use crate::stall_guard;

/// Compiled queries for splitting texts of a language.
pub(crate) struct Outliner {
    language: tree_sitter::Language,
    /// The outline without what lies inside types and mappings: fields, variants, keys.
    query: Option<Query>,
    parts: Vec<Option<OutlineCapture>>,
    /// For each node kind, whether a pattern begins there. `None` if that cannot be determined;
    /// then every node is tried.
    starts: Option<Vec<bool>>,
}

/// Kinds of items that are too small to be looked for by themselves.
const INNER: [&str; 3] = ["@item.field", "@item.key", "@item.other"];

impl Outliner {
    pub(crate) fn compile(definition: &'static Definition) -> Self {
        let language = (definition.grammar)();
        let source = definition.queries.outline;
        let mut query = compile_query(definition.name, &language, source);
        if let Some(query) = &mut query {
            for pattern in 0..query.pattern_count() {
                let start = query.start_byte_for_pattern(pattern);
                let end = query.end_byte_for_pattern(pattern);
                if is_inner(source.get(start..end).unwrap_or_default()) {
                    query.disable_pattern(pattern);
                }
            }
        }
        let parts = query.as_ref().map_or_else(Vec::new, kinds_of);
        let starts = query
            .as_ref()
            .and_then(|query| starts(&language, query, source));
        Self {
            language,
            query,
            parts,
            starts,
        }
    }
}

fn is_inner(pattern: &str) -> bool {
    INNER.iter().any(|inner| pattern.contains(inner))
}

/// Returns the node kinds at which the patterns of a query begin. Walking a tree is cheap compared
/// with running a query on every node.
fn starts(language: &tree_sitter::Language, query: &Query, source: &str) -> Option<Vec<bool>> {
    let mut starts = vec![false; language.node_kind_count()];
    for pattern in 0..query.pattern_count() {
        let range = query.start_byte_for_pattern(pattern)..query.end_byte_for_pattern(pattern);
        let text = source.get(range)?;
        if is_inner(text) {
            continue;
        }
        if !query.is_pattern_rooted(pattern) {
            return None;
        }
        let kind = language.id_for_node_kind(first_kind(text)?, true);
        if language.node_kind_is_supertype(kind) {
            return None;
        }
        *starts.get_mut(usize::from(kind)).filter(|_| kind > 0)? = true;
    }
    Some(starts)
}

/// The kind of the node that a pattern begins at: `section` of `((section (heading)) @item)`.
fn first_kind(pattern: &str) -> Option<&str> {
    let name = pattern.trim_start_matches(|letter: char| letter == '(' || letter.is_whitespace());
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (name, rest) = name.split_at(name.find(|letter| !is_letter(letter))?);
    let is_plain = name.len() < pattern.len() && name != "_" && !rest.starts_with('/');
    (is_plain && name.starts_with(|letter: char| letter.is_ascii_lowercase())).then_some(name)
}

/// The tree of one text.
pub struct PlainTree {
    language: Language,
    tree: Tree,
}

/// A node of the tree.
#[derive(Clone, Copy)]
pub struct PlainNode<'tree>(Node<'tree>);

impl PlainTree {
    /// Parses `text`. Returns `None` if parsing never ends.
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

    /// The named parts of the text it was parsed from, in text order, without fields, variants and keys.
    pub fn outline(&self, text: &str) -> Vec<OutlineItem> {
        let outliner = self.language.outliner();
        self.outline_from(text, outliner.starts.as_deref())
    }

    /// The outline by what is found at nodes of these kinds, or by one pass over everything.
    fn outline_from(&self, text: &str, starts: Option<&[bool]>) -> Vec<OutlineItem> {
        let outliner = self.language.outliner();
        let Some(query) = &outliner.query else {
            return Vec::new();
        };
        let bytes = text.as_bytes();
        let words = |span: Span| {
            let range = span.start.0..span.end.0;
            String::from_utf8_lossy(bytes.get(range).unwrap_or_default()).into_owned()
        };
        let mut items = Vec::new();
        let mut take = |cursor: &mut QueryCursor, node| {
            let mut matches = cursor.matches(query, node, bytes);
            while let Some(one) = matches.next() {
                let item = item(one, &outliner.parts, bytes.len(), &words);
                items.extend(item.map(|item| (one.pattern_index, item)));
            }
        };
        let root = self.tree.root_node();
        with_query_cursor(0..bytes.len(), |cursor| match starts {
            None => take(cursor, root),
            Some(starts) => {
                cursor.set_max_start_depth(Some(0));
                each_node(root, |node| {
                    if starts.get(usize::from(node.kind_id())) == Some(&true) {
                        take(cursor, node);
                    }
                });
            }
        });
        sorted(items)
    }

    /// The node that holds all others.
    pub fn root(&self) -> PlainNode<'_> {
        PlainNode(self.tree.root_node())
    }
}

/// Calls `each` with a node and everything in it, from the front.
fn each_node<'tree>(root: Node<'tree>, mut each: impl FnMut(Node<'tree>)) {
    let mut cursor = root.walk();
    loop {
        each(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
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

    /// Returns whether it belongs to the following node: a comment, an attribute, a decorator.
    pub fn leads(&self) -> bool {
        let kind = self.0.kind();
        ["comment", "attribute", "decorator", "annotation"]
            .iter()
            .any(|lead| kind.contains(lead))
    }

    /// Whether it is a comment.
    pub fn is_comment(&self) -> bool {
        self.0.kind().contains("comment")
    }

    /// The nodes right in it, in text order, punctuation included.
    pub fn children(&self) -> Vec<PlainNode<'tree>> {
        let mut cursor = self.0.walk();
        self.0.children(&mut cursor).map(PlainNode).collect()
    }
}

#[cfg(test)]
mod tests;
