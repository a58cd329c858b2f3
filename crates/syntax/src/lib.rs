//! Languages, incremental parsing, and the editor's queries on a tree: highlights, brackets, folds,
//! indentation, outline, selection by node, enclosing headers.
//!
//! Knows: `base`, `text`, tree-sitter and its grammars. Must not know: files, clocks, threads,
//! colours, rendering.
//! Invariant: a tree belongs to one revision; until a newer one is parsed, the older one is updated
//! with every edit, so that its offsets stay right.
//! Invariant: a settled tree equals a fresh parse of its text.
//! Invariant: without a grammar there is no tree; every query then uses the text alone, or returns
//! nothing.
//! Start at `SyntaxTree`; queries are methods of `SyntaxSnapshot`; languages are in `definitions`.

mod brackets;
mod changed;
mod comments;
mod compile_query;
mod context;
mod cursors;
mod damage;
mod definition;
mod definitions;
mod detection;
mod dirty;
mod document_outline;
mod equality;
mod excerpt;
mod expand;
mod folds;
mod grammar;
mod highlight;
mod highlight_kind;
mod identity;
mod indent;
mod injection;
mod language;
mod layers;
mod nodes;
mod outline;
mod outline_item;
mod outline_query;
mod outliner;
mod parse_whole;
mod plain;
mod scope;
pub mod shell;
mod snapshot;
mod source;
mod stall_guard;
mod tree;
mod trial;

pub use brackets::BracketPair;
pub use comments::Comments;
pub use damage::Damage;
pub use definition::{AutoClose, LanguageConfig, TabHint};
pub use detection::{language_for, language_named, languages};
pub use folds::Fold;
pub use highlight_kind::{Highlight, HighlightKind};
pub use identity::{NameBinding, SyntaxNode, SyntaxToken, TokenRole};
pub use indent::IndentHint;
pub use language::Language;
pub use outline::{DefinedField, Definition, FieldPayload, Outline};
pub use outline_item::{OutlineItem, OutlineKind};
pub use parse_whole::parse_whole;
pub use plain::{PlainNode, PlainTree};
pub use scope::SyntaxScope;
pub use snapshot::SyntaxSnapshot;
pub use tree::{Budget, MAX_PARSED_BYTES, ParseJob, ParseStatus, ParsedTree, SyntaxTree};
pub use trial::{TrialParse, readable_bytes};

#[cfg(test)]
mod tests;
