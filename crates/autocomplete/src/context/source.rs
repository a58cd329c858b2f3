//! Whom the context is asked of: the index, the language server, the views, the agents.

use crate::Scene;

/// Knows what lies outside the text. Called while a request is put together, so it answers from memory, at once.
///
/// Paths are relative to the project, with forward slashes. Each answer is sorted, the most helpful first.
pub trait ContextSource {
    /// Where the names are defined.
    fn definitions(&self, scene: &Scene, names: &[String]) -> Vec<Excerpt>;
    /// Pieces of the project that are like what is written here.
    fn snippets(&self, scene: &Scene) -> Vec<Excerpt>;
    /// What the person looked at lately.
    fn viewed(&self, scene: &Scene) -> Vec<Excerpt>;
    /// What agents changed and has not landed yet, as far as it is about the names.
    fn unmerged(&self, scene: &Scene, names: &[String]) -> Vec<Excerpt>;
    /// What is wrong near the caret.
    fn diagnostics(&self, scene: &Scene) -> Vec<Diagnostic>;
}

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Its path.
    pub path: String,
    /// The piece.
    pub text: String,
    /// Why it may help.
    pub why: Why,
}

/// Why a piece of a file may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A name that is used here is defined there.
    Definition,
    /// It is like what is written here.
    Alike,
    /// The person looked at it lately.
    Viewed,
    /// An agent changed it, and that has not landed yet.
    Unmerged,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The row, from 0.
    pub row: base::Row,
    /// What it says.
    pub message: String,
}

/// Knows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSource;

impl ContextSource for NoSource {
    fn definitions(&self, _: &Scene, _: &[String]) -> Vec<Excerpt> {
        Vec::new()
    }

    fn snippets(&self, _: &Scene) -> Vec<Excerpt> {
        Vec::new()
    }

    fn viewed(&self, _: &Scene) -> Vec<Excerpt> {
        Vec::new()
    }

    fn unmerged(&self, _: &Scene, _: &[String]) -> Vec<Excerpt> {
        Vec::new()
    }

    fn diagnostics(&self, _: &Scene) -> Vec<Diagnostic> {
        Vec::new()
    }
}
