//! The parts of a parsed snippet.

use crate::transform::Transform;

/// A parsed snippet.
///
/// The grammar is that of the Language Server Protocol 3.18, section "Snippet Syntax", with the
/// modifiers of VS Code (`/pascalcase`, `/camelcase`, `/snakecase`, `/kebabcase`).
#[derive(Clone, Debug)]
pub struct Snippet {
    pub(crate) parts: Vec<SnippetPart>,
}

/// A part of a snippet: text, a tab stop or a variable.
#[derive(Clone, Debug)]
pub(crate) enum SnippetPart {
    Text(String),
    /// `$1`, `${1:default}`, `${1|one,two|}` or `${1/regex/format/options}`.
    Stop(StopPart),
    /// `$NAME`, `${NAME:default}` or `${NAME/regex/format/options}`.
    Variable(VariablePart),
}

/// One occurrence of a tab stop.
#[derive(Clone, Debug)]
pub(crate) struct StopPart {
    pub(crate) number: u32,
    /// The default; empty without one.
    pub(crate) default: Vec<SnippetPart>,
    /// The choices; empty unless it is a choice.
    pub(crate) choices: Vec<String>,
    pub(crate) transform: Option<Transform>,
}

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct VariablePart {
    pub(crate) name: String,
    /// The text used if the variable has no value.
    pub(crate) default: Vec<SnippetPart>,
    pub(crate) transform: Option<Transform>,
}

impl StopPart {
    /// Returns whether this occurrence defines the text of its tab stop.
    pub(crate) fn has_default(&self) -> bool {
        !self.default.is_empty() || !self.choices.is_empty()
    }
}
