//! Provider of context outside the text: the index, the language server, the open views, the
//! agents.

use crate::EditorState;

/// Provides context from outside the text. It is called while a request is built, so it answers
/// from memory without blocking.
///
/// Paths are relative to the project, with forward slashes. Every result is sorted, the most
/// relevant first.
pub trait ContextSource {
    /// Returns excerpts with the definitions of the given names, the most relevant first. Returns
    /// an empty list if no definition is known. The engine calls this for each request, so an
    /// implementation must not block.
    fn definitions(&self, state: &EditorState, names: &[String]) -> Vec<ContextSnippet>;
    /// Returns project excerpts that resemble the text around the caret.
    fn snippets(&self, state: &EditorState) -> Vec<ContextSnippet>;
    /// Returns excerpts that the user viewed recently.
    fn viewed(&self, state: &EditorState) -> Vec<ContextSnippet>;
    /// Returns unmerged agent changes that concern the given names.
    fn unmerged(&self, state: &EditorState, names: &[String]) -> Vec<ContextSnippet>;
    /// Returns the errors and warnings near the caret, the nearest first.
    fn diagnostics(&self, state: &EditorState) -> Vec<Diagnostic>;
}

/// An excerpt of a file that a prompt may contain, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextSnippet {
    /// Path of the file.
    pub path: String,
    /// Text of the excerpt.
    pub text: String,
    /// Reason why the excerpt may help.
    pub why: SnippetReason,
}

/// Reason why an excerpt may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnippetReason {
    /// It defines a name that is used near the caret.
    Definition,
    /// It resembles the text around the caret.
    Alike,
    /// The user viewed it recently.
    Viewed,
    /// An agent changed it, and the change is not merged yet.
    Unmerged,
    /// It lists the errors and warnings near the caret. It is no code.
    Diagnostics,
}

/// An error or a warning near the caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Zero-based row of the diagnostic.
    pub row: base::Row,
    /// Whether it is an error rather than a warning.
    pub is_error: bool,
    /// Message of the diagnostic.
    pub message: String,
}

/// A source that provides no context, for texts outside a project.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyContextSource;

impl ContextSource for EmptyContextSource {
    fn definitions(&self, _: &EditorState, _: &[String]) -> Vec<ContextSnippet> {
        Vec::new()
    }

    fn snippets(&self, _: &EditorState) -> Vec<ContextSnippet> {
        Vec::new()
    }

    fn viewed(&self, _: &EditorState) -> Vec<ContextSnippet> {
        Vec::new()
    }

    fn unmerged(&self, _: &EditorState, _: &[String]) -> Vec<ContextSnippet> {
        Vec::new()
    }

    fn diagnostics(&self, _: &EditorState) -> Vec<Diagnostic> {
        Vec::new()
    }
}
