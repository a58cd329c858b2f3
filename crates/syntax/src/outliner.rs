//! The queries for splitting texts of a language into chunks.

use crate::definition::Definition;
use crate::outline_query::OutlineQuery;

/// The compiled outline query of a language for files that are indexed as a whole. It omits fields,
/// variants and keys.
pub(crate) struct Outliner {
    pub(crate) language: tree_sitter::Language,
    /// The outline without the parts of types and mappings: fields, variants, keys.
    pub(crate) query: Option<OutlineQuery>,
    /// The nodes at which patterns begin, by node kind. `None` if that cannot be determined; then
    /// every node is tried.
    pub(crate) starts: Option<Vec<PatternStart>>,
}

/// Whether a pattern begins at nodes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PatternStart {
    /// At none.
    Never,
    /// At those whose parents are of these kinds.
    Below(Vec<u16>),
    /// At all.
    Always,
}

/// Kinds of items that are too small for a chunk.
const INNER: [&str; 3] = ["@item.field", "@item.key", "@item.other"];

impl Outliner {
    /// Compiles the outline query of a language. This takes some milliseconds.
    pub(crate) fn compile(definition: &'static Definition) -> Self {
        let language = (definition.grammar)();
        let source = definition.queries.outline;
        let mut query = OutlineQuery::compile(definition.name, &language, source);
        if let Some(OutlineQuery { query, .. }) = &mut query {
            for pattern in 0..query.pattern_count() {
                let start = query.start_byte_for_pattern(pattern);
                let end = query.end_byte_for_pattern(pattern);
                if is_inner(source.get(start..end).unwrap_or_default()) {
                    query.disable_pattern(pattern);
                }
            }
        }
        let starts = query
            .as_ref()
            .and_then(|query| starts(&language, query, source));
        Self {
            language,
            query,
            starts,
        }
    }
}

impl PatternStart {
    /// Whether a pattern begins at a node whose parent has this kind; `None` is the root.
    pub(crate) fn is_below(&self, parent: Option<u16>) -> bool {
        match self {
            PatternStart::Never => false,
            PatternStart::Below(kinds) => parent.is_some_and(|parent| kinds.contains(&parent)),
            PatternStart::Always => true,
        }
    }

    /// Adds a pattern that begins below nodes of a kind; `None` means below all.
    fn add(&mut self, parent: Option<u16>) {
        match (&mut *self, parent) {
            (PatternStart::Below(kinds), Some(parent)) => kinds.push(parent),
            (PatternStart::Never, Some(parent)) => *self = PatternStart::Below(vec![parent]),
            (PatternStart::Always, _) | (_, None) => *self = PatternStart::Always,
        }
    }
}

/// Whether a pattern captures items that are too small for a chunk.
fn is_inner(pattern: &str) -> bool {
    INNER.iter().any(|inner| pattern.contains(inner))
}

/// Returns, by node kind, where patterns begin, since walking a tree is cheaper than running a query
/// on every node. Ignores patterns for fields, keys and `other`. Returns `None` if one of the rest
/// has several roots or begins with a supertype, an alternation or a wildcard.
fn starts(
    language: &tree_sitter::Language,
    outline: &OutlineQuery,
    source: &str,
) -> Option<Vec<PatternStart>> {
    let query = &outline.query;
    let mut starts = vec![PatternStart::Never; language.node_kind_count()];
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
        let parent = outline.parent_of(pattern);
        let parent = parent.map(|parent| language.id_for_node_kind(parent, true));
        let start = starts.get_mut(usize::from(kind)).filter(|_| kind > 0)?;
        start.add(parent);
    }
    Some(starts)
}

/// Returns the kind of the node at which a pattern begins, such as `section` for `((section
/// (heading)) @item)`. Returns `None` if the pattern does not name a single kind.
pub(crate) fn first_kind(pattern: &str) -> Option<&str> {
    let name = pattern.trim_start_matches(|letter: char| letter == '(' || letter.is_whitespace());
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (name, rest) = name.split_at(name.find(|letter| !is_letter(letter))?);
    let is_plain = name.len() < pattern.len() && name != "_" && !rest.starts_with('/');
    (is_plain && name.starts_with(|letter: char| letter.is_ascii_lowercase())).then_some(name)
}
