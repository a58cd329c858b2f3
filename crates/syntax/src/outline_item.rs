//! The items of an outline, and their nesting.

use std::cmp::Reverse;

use base::Span;

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
/// nested items have the same name, in the same place, keeps the outermost, and among equal spans
/// the item of the first pattern.
pub(crate) fn sorted(mut items: Vec<(usize, OutlineItem)>) -> Vec<OutlineItem> {
    items.sort_by_key(|(pattern, item)| (item.span.start, Reverse(item.span.end), *pattern));
    let mut nested: Vec<OutlineItem> = Vec::with_capacity(items.len());
    // Indices of the items around the next one, the outermost first.
    let mut around: Vec<usize> = Vec::new();
    for (_, mut item) in items {
        around.retain(|outer| nested[*outer].span.covers(item.span));
        let is_known = |outer: &usize| nested[*outer].name_span == item.name_span;
        if around.iter().any(is_known) {
            continue;
        }
        item.depth = around.len();
        let outer = around.last().map(|outer| nested[*outer].kind);
        if item.kind == OutlineKind::Function && outer.is_some_and(holds_methods) {
            item.kind = OutlineKind::Method;
        }
        around.push(nested.len());
        nested.push(item);
    }
    nested
}

/// Whether a function directly within an item of this kind is a method.
fn holds_methods(kind: OutlineKind) -> bool {
    use OutlineKind::{Class, Enum, Interface, Struct};
    matches!(kind, Class | Struct | Enum | Interface)
}
