//! Languages, incremental parsing, and what the editor asks of a tree: highlights, brackets,
//! folds, indents, outline, selection by node, the headers around a row.
//!
//! Knows: `base`, `text`, tree-sitter and its grammars. Must not know: files, clocks, threads,
//! colours, how text is drawn.
//! Invariant: a tree belongs to one revision; until a newer one is parsed, the older is kept in
//! step with every edit, so that its offsets stay right.
//! Invariant: a tree that calls itself settled equals a fresh parse of its text.
//! Invariant: no grammar, no tree; every question is then answered from the text alone, or with
//! nothing.
//! Start at `SyntaxTree`; questions are asked of `SyntaxSnapshot`; languages are in `definitions`.

mod brackets;
mod comments;
mod context;
mod cursors;
mod damage;
mod definitions;
mod detection;
mod equality;
mod expand;
mod folds;
mod grammar;
mod headway;
mod highlight;
mod highlight_kind;
mod identity;
mod indent;
mod injection;
mod language;
mod layers;
mod nodes;
mod outline;
mod plain;
mod scope;
pub mod shell;
mod snapshot;
mod source;
mod tree;

pub use brackets::BracketPair;
pub use comments::Comments;
pub use damage::Damage;
pub use detection::{language_for, language_named, languages};
pub use folds::Fold;
pub use highlight::Highlight;
pub use highlight_kind::HighlightKind;
pub use identity::{NameBinding, SyntaxNode, SyntaxToken, TokenRole};
pub use indent::IndentHint;
pub use language::{AutoClose, Language, LanguageConfig, TabHint};
pub use outline::{OutlineItem, OutlineKind};
pub use plain::{PlainNode, PlainTree};
pub use scope::Scope;
pub use snapshot::SyntaxSnapshot;
pub use tree::{Budget, MAX_PARSED_BYTES, ParseJob, ParseStatus, ParsedTree, SyntaxTree};

#[cfg(test)]
mod tests;
