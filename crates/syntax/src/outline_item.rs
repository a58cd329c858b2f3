//! The items of an outline, and how a match of an outline query becomes one.

use std::cmp::Reverse;

use base::Span;
use tree_sitter::{Node, Query, QueryMatch};

/// Maximum length of a name, in bytes; longer ones are truncated.
const MAX_NAME_BYTES: usize = 200;

/// An item of the outline: a function, type, heading or the like, with its name and span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineItem {
    /// Number of enclosing items.
    pub depth: usize,
    /// Name of the item: `parse`, `impl Display for Row`, the text of a heading.
    pub name: String,
    /// Kind of the item.
    pub kind: OutlineKind,
    /// Modifiers before the name: `pub async fn`. May be empty.
    pub detail: String,
    /// Span of the whole item.
    pub span: Span,
    /// Span of the name.
    pub name_span: Span,
}

/// Kind of an outline item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutlineKind {
    /// A module, package or namespace.
    Module,
    /// A class, or an implementation block.
    Class,
    /// A struct or record.
    Struct,
    /// An enum or enumeration.
    Enum,
    /// An interface, trait or protocol.
    Interface,
    /// A type of another kind.
    Type,
    /// A function outside a type.
    Function,
    /// A method or constructor.
    Method,
    /// The definition of a macro.
    Macro,
    /// A field, property or enum variant.
    Field,
    /// A constant with a name.
    Constant,
    /// A variable outside a function.
    Variable,
    /// A key of a mapping.
    Key,
    /// A heading or section.
    Heading,
    /// Anything else: a tag, a rule, a target.
    Other,
}

/// Sorts items, each with the number of its pattern, by text order and sets their depths. If
/// several items have the same name span, keeps the item of the first pattern.
pub(crate) fn sorted(mut items: Vec<(usize, OutlineItem)>) -> Vec<OutlineItem> {
    items.sort_by_key(|(pattern, item)| (item.span.start, Reverse(item.span.end), *pattern));
    let mut items: Vec<OutlineItem> = items.into_iter().map(|(_, item)| item).collect();
    items.dedup_by_key(|item| item.name_span);
    set_depths(&mut items);
    items
}

/// Meaning of a capture in an outline query: the item, its name, or a modifier.
#[derive(Clone, Copy)]
pub(crate) enum OutlineCapture {
    Item(OutlineKind),
    Name,
    Detail,
}

/// Returns the meanings of the captures of an outline query, by their index.
pub(crate) fn kinds_of(query: &Query) -> Vec<Option<OutlineCapture>> {
    query
        .capture_names()
        .iter()
        .map(|it| parse_capture(it))
        .collect()
}

/// Returns the meaning of a capture: `name`, `detail`, or `item.` and a kind. Returns `None` for
/// any other name, whose captures are ignored.
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

/// Builds the item of a query match. Returns `None` if the match lacks an item or a name. `words`
/// returns the text of a span. `length` is the length of the whole text in bytes.
pub(crate) fn item(
    one: &QueryMatch<'_, '_>,
    kinds: &[Option<OutlineCapture>],
    length: usize,
    words: &dyn Fn(Span) -> String,
) -> Option<OutlineItem> {
    let (mut whole, mut names, mut details) = (None, Vec::new(), Vec::new());
    for capture in one.captures {
        let span = clipped(capture.node, length);
        match kinds[capture.index as usize]? {
            OutlineCapture::Item(kind) => whole = Some((span, kind)),
            OutlineCapture::Name => names.push(span),
            OutlineCapture::Detail => details.push(span),
        }
    }
    let (span, kind) = whole?;
    let (first, last) = (names.first()?, names.last()?);
    Some(OutlineItem {
        depth: 0,
        name: joined(&names, words)?,
        kind,
        detail: joined(&details, words).unwrap_or_default(),
        span,
        name_span: Span::new(first.start, last.end),
    })
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

/// Sets the depth of every item to the number of items around it. A function directly in a type
/// becomes a method.
fn set_depths(items: &mut [OutlineItem]) {
    let mut around: Vec<(Span, OutlineKind)> = Vec::new();
    for item in items {
        around.retain(|(span, _)| span.covers(item.span));
        item.depth = around.len();
        let is_in_type = around.last().is_some_and(|(_, kind)| holds_methods(*kind));
        if item.kind == OutlineKind::Function && is_in_type {
            item.kind = OutlineKind::Method;
        }
        around.push((item.span, item.kind));
    }
}

/// Whether a function directly within an item of this kind is a method.
fn holds_methods(kind: OutlineKind) -> bool {
    use OutlineKind::{Class, Enum, Interface, Struct};
    matches!(kind, Class | Struct | Enum | Interface)
}
