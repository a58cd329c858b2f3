//! A grammar with its compiled queries and the meaning of its nodes, looked up by number.
//!
//! Invariant: a query that does not compile is reported and left out; the language still parses.

use std::ops::BitOr;

use tree_sitter::{Node, Query};

use crate::compile_query::compile_query;
use crate::definition::{Definition, NodeKinds};
use crate::highlight_kind::HighlightKind;
use crate::outline_query::OutlineQuery;

/// A tree-sitter grammar with the compiled queries of its language and the roles of its nodes.
pub(crate) struct Grammar {
    pub(crate) language: tree_sitter::Language,
    /// Injections first, then highlights: one pass over the visible nodes finds both.
    pub(crate) highlights: Option<Query>,
    /// Patterns of `highlights` below this number are injections.
    pub(crate) injection_patterns: usize,
    /// The kind of every capture of `highlights`; `None` for captures that clear the colour.
    pub(crate) capture_kinds: Vec<CaptureKind>,
    /// The injections alone, for passes over a whole text.
    pub(crate) injections: Option<Query>,
    /// Whether large injections in it get layers.
    pub(crate) has_layers: bool,
    pub(crate) folds: Option<Query>,
    pub(crate) outline: Option<OutlineQuery>,
    /// Roles of each node kind, by its id.
    roles: Vec<NodeRoles>,
    /// Keywords and other words that the grammar spells out, sorted.
    pub(crate) words: Vec<&'static str>,
    pub(crate) kinds: &'static NodeKinds,
}

/// Effect of a capture in the highlights query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaptureKind {
    /// Paints the node with a highlight.
    Paint(HighlightKind),
    /// Clears the highlight of the enclosing nodes.
    Clear,
    /// Names the language of an injection.
    InjectionLanguage,
    /// Is the text of an injection.
    InjectionContent,
    /// Only used by the pattern's predicates.
    Ignore,
}

/// Roles of a node kind for Burin, as bit flags, such as string, comment, block or tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeRoles(u8);

impl NodeRoles {
    /// A string, char or regular expression.
    pub(crate) const STRING: NodeRoles = NodeRoles(1);
    /// A comment.
    pub(crate) const COMMENT: NodeRoles = NodeRoles(2);
    /// Code embedded in a string.
    pub(crate) const EMBEDDED: NodeRoles = NodeRoles(4);
    /// A function, type or section whose first row is a sticky header.
    pub(crate) const CONTEXT: NodeRoles = NodeRoles(8);
    /// A sequence of statements, rules or items.
    pub(crate) const BLOCK: NodeRoles = NodeRoles(16);
    /// A start tag.
    pub(crate) const START_TAG: NodeRoles = NodeRoles(32);
    /// An end tag.
    pub(crate) const END_TAG: NodeRoles = NodeRoles(64);

    /// Returns whether the node kind has one of the roles in `role`.
    pub(crate) fn has(self, role: NodeRoles) -> bool {
        self.0 & role.0 != 0
    }
}

impl BitOr for NodeRoles {
    type Output = NodeRoles;
    fn bitor(self, other: NodeRoles) -> NodeRoles {
        NodeRoles(self.0 | other.0)
    }
}

impl Grammar {
    /// Compiles the grammar and all queries of a language. This takes some milliseconds.
    pub(crate) fn compile(definition: &'static Definition) -> Grammar {
        let language = (definition.grammar)();
        let sources = &definition.queries;
        let highlights = compile_query(
            definition.name,
            &language,
            &format!("{}\n{}", sources.injections, sources.highlights.join("\n")),
        );
        let injection_patterns = highlights
            .as_ref()
            .map_or(0, |query| patterns_before(query, sources.injections.len()));
        let capture_kinds = highlights.as_ref().map_or_else(Vec::new, capture_kinds);
        Grammar {
            injections: compile_query(definition.name, &language, sources.injections),
            has_layers: sources.has_layers,
            folds: compile_query(definition.name, &language, sources.folds),
            outline: OutlineQuery::compile(definition.name, &language, sources.outline),
            roles: roles(&language, &definition.kinds),
            words: words(&language),
            kinds: &definition.kinds,
            language,
            highlights,
            injection_patterns,
            capture_kinds,
        }
    }

    /// Returns the roles of `node`, which must belong to this grammar. A node of an unknown kind
    /// has no roles.
    pub(crate) fn roles(&self, node: Node<'_>) -> NodeRoles {
        self.roles
            .get(usize::from(node.kind_id()))
            .copied()
            .unwrap_or_default()
    }
}

/// Returns the number of patterns that begin within the first `length` bytes of the query's source.
fn patterns_before(query: &Query, length: usize) -> usize {
    (0..query.pattern_count())
        .take_while(|&pattern| query.start_byte_for_pattern(pattern) < length)
        .count()
}

fn capture_kinds(query: &Query) -> Vec<CaptureKind> {
    query
        .capture_names()
        .iter()
        .map(|name| capture_kind(name).unwrap_or(CaptureKind::Ignore))
        .collect()
}

/// Returns the effect of a capture name of a highlights query. Returns `None` for unknown names.
pub(crate) fn capture_kind(name: &str) -> Option<CaptureKind> {
    Some(match name {
        "injection.content" => CaptureKind::InjectionContent,
        "injection.language" => CaptureKind::InjectionLanguage,
        "none" => CaptureKind::Clear,
        "spell" | "clean" => CaptureKind::Ignore,
        _ if name.starts_with('_') => CaptureKind::Ignore,
        _ => CaptureKind::Paint(HighlightKind::of_capture(name)?),
    })
}

/// Returns the words among the tokens that a grammar spells out.
fn words(language: &tree_sitter::Language) -> Vec<&'static str> {
    let ids = 0..u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
    // Hidden kinds are rules of the grammar, not text.
    let is_token =
        |id: &u16| !language.node_kind_is_named(*id) && language.node_kind_is_visible(*id);
    let tokens = ids.filter(is_token);
    let mut words: Vec<&'static str> = tokens
        .filter_map(|id| language.node_kind_for_id(id))
        .filter(|token| {
            token
                .chars()
                .all(|ch| ch.is_ascii_alphanumeric() || ch == '_')
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn roles(language: &tree_sitter::Language, kinds: &NodeKinds) -> Vec<NodeRoles> {
    let mut roles = vec![NodeRoles::default(); language.node_kind_count()];
    let mut give = |names: &[&str], role: NodeRoles| {
        for (id, entry) in roles.iter_mut().enumerate() {
            let id = u16::try_from(id).unwrap_or(u16::MAX);
            if language.node_kind_is_named(id)
                && let Some(name) = language.node_kind_for_id(id)
                && names.contains(&name)
            {
                *entry = *entry | role;
            }
        }
    };
    give(kinds.strings, NodeRoles::STRING);
    give(kinds.comments, NodeRoles::COMMENT);
    give(kinds.embedded, NodeRoles::EMBEDDED);
    give(kinds.context, NodeRoles::CONTEXT);
    give(kinds.blocks, NodeRoles::BLOCK);
    if let Some(tags) = &kinds.tags {
        give(tags.start, NodeRoles::START_TAG);
        give(tags.end, NodeRoles::END_TAG);
    }
    roles
}

#[cfg(test)]
mod tests;
