//! Outline queries: how a match becomes an item.
//!
//! `(#has-parents? @capture kind…)` requires the kinds of the parent, of its parent, and so on.
//! Invariant: the captured node is the one at which the pattern starts.
//! Invariant: a pattern starts at the item or close to it. A pattern that starts at the enclosing
//! node visits all children of that node, even if only a part of the text is queried.

use base::Span;
use tree_sitter::{Node, Query, QueryMatch, QueryPredicate, QueryPredicateArg};

use crate::nodes::path_around;
use crate::outline_item::{OutlineItem, OutlineKind};
use crate::query::compile_query;

/// Maximum length of a name, in bytes; longer ones are truncated.
const MAX_NAME_BYTES: usize = 200;

/// A compiled outline query, with the meaning of its captures and its conditions.
pub(crate) struct OutlineQuery {
    pub(crate) query: Query,
    /// Meanings of the captures, by index; `None` for those that only conditions use.
    captures: Vec<Option<OutlineCapture>>,
    /// Required kinds of enclosing nodes, by pattern.
    parents: Vec<Option<RequiredParents>>,
}

/// Meaning of a capture in an outline query: the item, its name, or a modifier.
#[derive(Clone, Copy)]
enum OutlineCapture {
    Item(OutlineKind),
    Name,
    Detail,
}

/// Kinds of the nodes around a captured node, the nearest first.
struct RequiredParents {
    capture: u32,
    kinds: Vec<Box<str>>,
}

/// An item as its pattern matched it, before nesting.
#[derive(Clone, Debug)]
pub(crate) struct MatchedItem {
    pub(crate) pattern: usize,
    pub(crate) item: OutlineItem,
    /// Span of all captured nodes.
    pub(crate) extent: Span,
}

impl OutlineQuery {
    /// Compiles the outline query of the language `name`. Returns `None` if the source is empty or
    /// does not compile.
    pub(crate) fn compile(
        name: &str,
        language: &tree_sitter::Language,
        source: &str,
    ) -> Option<Self> {
        let query = compile_query(name, language, source)?;
        let captures = query.capture_names();
        let parents = (0..query.pattern_count()).map(|pattern| {
            let conditions = query.general_predicates(pattern);
            conditions.iter().find_map(RequiredParents::of)
        });
        Some(Self {
            captures: captures.iter().map(|it| parse_capture(it)).collect(),
            parents: parents.collect(),
            query,
        })
    }

    /// Returns the kind of node directly below which a pattern matches; `None` if it matches
    /// everywhere.
    pub(crate) fn parent_of(&self, pattern: usize) -> Option<&str> {
        let required = self.parents.get(pattern)?.as_ref()?;
        Some(required.kinds.first()?)
    }

    /// Returns the item of a match below `root`. Returns `None` if the match lacks an item or a
    /// name, or a condition does not hold. `words` returns the text of a span. `length` is the
    /// length of the whole text in bytes.
    pub(crate) fn item(
        &self,
        one: &QueryMatch<'_, '_>,
        root: Node<'_>,
        length: usize,
        words: &dyn Fn(Span) -> String,
    ) -> Option<MatchedItem> {
        let required = self.parents.get(one.pattern_index)?.as_ref();
        if required.is_some_and(|required| !required.hold(one, root)) {
            return None;
        }
        let (mut whole, mut names, mut details) = (None, Vec::new(), Vec::new());
        let mut extent: Option<Span> = None;
        for capture in one.captures {
            let span = clipped(capture.node, length);
            extent = Some(extent.map_or(span, |extent| extent.union(span)));
            match self.captures.get(capture.index as usize)? {
                Some(OutlineCapture::Item(kind)) => whole = Some((span, *kind)),
                Some(OutlineCapture::Name) => names.push(span),
                Some(OutlineCapture::Detail) => details.push(span),
                None => {}
            }
        }
        let (span, kind) = whole?;
        let (first, last) = (names.first()?, names.last()?);
        let item = OutlineItem {
            depth: 0,
            name: joined(&names, words)?,
            kind,
            detail: joined(&details, words).unwrap_or_default(),
            span,
            name_span: Span::new(first.start, last.end),
        };
        Some(MatchedItem {
            pattern: one.pattern_index,
            item,
            extent: extent?,
        })
    }
}

impl RequiredParents {
    /// Reads a predicate of a query; `None` if it is another one.
    fn of(predicate: &QueryPredicate) -> Option<Self> {
        let (capture, kinds) = predicate.args.split_first()?;
        let QueryPredicateArg::Capture(capture) = capture else {
            return None;
        };
        let kinds = kinds.iter().filter_map(|kind| match kind {
            QueryPredicateArg::String(kind) => Some(kind.clone()),
            QueryPredicateArg::Capture(_) => None,
        });
        (&*predicate.operator == "has-parents?").then(|| Self {
            capture: *capture,
            kinds: kinds.collect(),
        })
    }

    fn hold(&self, one: &QueryMatch<'_, '_>, root: Node<'_>) -> bool {
        let captured = one.captures.iter().find(|it| it.index == self.capture);
        let Some(node) = captured.map(|it| it.node) else {
            return false;
        };
        let path = path_around(root, node.start_byte(), node.end_byte());
        let Some(depth) = path.iter().position(|it| it.id() == node.id()) else {
            return false;
        };
        let mut above = path[..depth].iter().rev();
        let mut kinds = self.kinds.iter();
        kinds.all(|kind| above.next().is_some_and(|it| it.kind() == &**kind))
    }
}

/// Returns the meaning of a capture: `name`, `detail`, or `item.` and a kind. Returns `None` for
/// any other name.
fn parse_capture(capture: &str) -> Option<OutlineCapture> {
    match capture {
        "name" => Some(OutlineCapture::Name),
        "detail" => Some(OutlineCapture::Detail),
        _ => Some(OutlineCapture::Item(kind(capture.strip_prefix("item.")?)?)),
    }
}

/// Returns the kind with this name in a query; `None` if it is unknown.
fn kind(name: &str) -> Option<OutlineKind> {
    Some(match name {
        "module" => OutlineKind::Module,
        "class" => OutlineKind::Class,
        "struct" => OutlineKind::Struct,
        "enum" => OutlineKind::Enum,
        "interface" => OutlineKind::Interface,
        "type" => OutlineKind::Type,
        "function" => OutlineKind::Function,
        "method" => OutlineKind::Method,
        "macro" => OutlineKind::Macro,
        "field" => OutlineKind::Field,
        "constant" => OutlineKind::Constant,
        "variable" => OutlineKind::Variable,
        "key" => OutlineKind::Key,
        "heading" => OutlineKind::Heading,
        "other" => OutlineKind::Other,
        _ => return None,
    })
}

/// Returns whether a capture name of an outline query is known.
#[cfg(test)]
pub(crate) fn is_known_capture(capture: &str) -> bool {
    capture.starts_with('_') || parse_capture(capture).is_some()
}

fn clipped(node: Node<'_>, end: usize) -> Span {
    Span::from(node.start_byte().min(end)..node.end_byte().min(end))
}

/// Joins the words of several spans by single spaces, unless the spans touch; `None` without words.
fn joined(spans: &[Span], words: &dyn Fn(Span) -> String) -> Option<String> {
    let mut joined = String::new();
    let mut known = None;
    for span in spans {
        let end = span.end.min(span.start + MAX_NAME_BYTES);
        let part = words(Span::new(span.start, end));
        for (ix, word) in part.split_whitespace().enumerate() {
            let touches = ix == 0 && known == Some(span.start);
            if !joined.is_empty() && !touches {
                joined.push(' ');
            }
            joined.push_str(word);
        }
        known = Some(span.end);
    }
    (!joined.is_empty()).then_some(joined)
}
