//! Comment markers at an offset.

use base::ByteOffset;
use text::Snapshot;

use crate::definition::LanguageConfig;
use crate::language::Language;
use crate::nodes::path_around;
use crate::snapshot::SyntaxSnapshot;

/// Comment markers of a language. A field is `None` if the language has no comments of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comments {
    /// Marker of a line comment, without the following space.
    pub line: Option<&'static str>,
    /// Opening and closing markers of a block comment.
    pub block: Option<(&'static str, &'static str)>,
}

/// Between JSX tags, where anything but an expression in braces is page text.
const JSX_CHILDREN: Comments = Comments {
    line: None,
    block: Some(("{/*", "*/}")),
};

/// Among the attributes of a tag of JSX.
const JSX_TAG: Comments = Comments {
    line: None,
    block: Some(("/*", "*/")),
};

impl From<&LanguageConfig> for Comments {
    fn from(config: &LanguageConfig) -> Self {
        Self {
            line: config.line_comment,
            block: config.block_comment,
        }
    }
}

impl Language {
    /// Returns the comment markers of the language itself, without regard to embedded languages.
    pub fn comments(&self) -> Comments {
        self.config().into()
    }
}

impl SyntaxSnapshot {
    /// Returns the comment markers for text that starts at `offset`: those of the embedded
    /// language, and in JSX those of children or tags.
    pub fn comments_at(&self, text: &Snapshot, offset: ByteOffset) -> Comments {
        let views = self.views_at(text, offset);
        let Some(view) = views.last() else {
            return self.language().comments();
        };
        let at = offset.0.saturating_sub(view.shift);
        // A node that starts here is commented as a whole, so only nodes around it count.
        let around = match at.checked_sub(1) {
            Some(before) => path_around(view.root(), before, at + 1),
            None => Vec::new(),
        };
        let in_jsx = around.iter().rev().find_map(|node| match node.kind() {
            "jsx_element" | "jsx_fragment" | "jsx_text" => Some(Some(JSX_CHILDREN)),
            "jsx_opening_element"
            | "jsx_closing_element"
            | "jsx_self_closing_element"
            | "jsx_attribute" => Some(Some(JSX_TAG)),
            // These stand in tags and among children as well as in code.
            "ERROR" | "string" | "string_fragment" => None,
            _ => Some(None),
        });
        in_jsx.flatten().unwrap_or_else(|| view.language.comments())
    }
}
