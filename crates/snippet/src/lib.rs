//! Snippets: the grammar of the Language Server Protocol, expansion to a text, and sessions in which
//! the tab stops are filled in.
//!
//! Knows: `base`, `text`, `caret`. Must not know: windows, files, time.
//! Invariant: every text is a snippet; malformed constructs are literal text.
//! Invariant: the ranges of a session belong to the text as of the last `SnippetSession::follow`.
//! Start at `Snippet::parse`, then `Snippet::expand`; sessions are in `session`.

mod expand;
mod format;
mod parse;
mod session;
mod syntax;
mod transform;

pub use expand::{Expansion, ExpansionOptions, TabStop};
pub use session::SnippetSession;
pub use syntax::Snippet;
