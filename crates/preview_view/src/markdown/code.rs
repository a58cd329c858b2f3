//! The colours of code, computed in the background by the highlighter of the editor.
//!
//! Invariant: the time for all code of a document is bounded; code beyond it is plain.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gpui_kit::{App, HighlightStyle};
use preview::{BlockKind, MarkdownBlock};
use syntax::{Budget, HighlightKind, ParseStatus, SyntaxTree, language_named};
use text::Snapshot;
use ui::ActiveTheme as _;

/// Maximum length of a block that is coloured, in bytes.
const MAX_CODE: usize = 256 << 10;
/// Maximum length of all code of a document that is coloured, in bytes.
const MAX_ALL_CODE: usize = 1 << 20;
/// Maximum number of times that the parser asks for its budget for a block.
const MAX_STEPS: u32 = 20_000;

/// The parts of a code with their kinds, in bytes.
type CodeParts = Arc<[(Range<usize>, HighlightKind)]>;

/// The colours of the code of a document.
#[derive(Clone, Default)]
pub(super) struct CodeHighlights(Arc<HashMap<(String, String), CodeParts>>);

impl CodeHighlights {
    /// Returns the colours of a document; those of code that is known are taken over. Takes time that grows with the code.
    pub(super) fn of(&self, blocks: &[MarkdownBlock]) -> Self {
        let mut all = HashMap::new();
        let mut length = 0;
        for block in blocks {
            let BlockKind::Code { info, code } = &block.kind else {
                continue;
            };
            length += code.len();
            if code.len() > MAX_CODE || length > MAX_ALL_CODE {
                continue;
            }
            let key = (info.clone(), code.clone());
            let parts = match self.0.get(&key) {
                Some(parts) => Some(parts.clone()),
                None => parts(info, code),
            };
            if let Some(parts) = parts {
                all.insert(key, parts);
            }
        }
        Self(Arc::new(all))
    }

    /// Returns the styles of a code in the colours of the theme, in bytes.
    pub(super) fn styles(
        &self,
        info: &str,
        code: &str,
        cx: &App,
    ) -> Vec<(Range<usize>, HighlightStyle)> {
        if code.len() > MAX_CODE {
            return Vec::new();
        }
        let Some(parts) = self.0.get(&(info.to_owned(), code.to_owned())) else {
            return Vec::new();
        };
        let theme = cx.theme();
        let styled = parts
            .iter()
            .filter_map(|(range, kind)| Some((range.clone(), theme.syntax(kind.name())?)));
        styled.collect()
    }
}

/// Parses a code; `None` if its language is not known or it takes too long.
fn parts(info: &str, code: &str) -> Option<CodeParts> {
    let name = info.split([',', ' ', '{']).next().unwrap_or_default();
    let language = language_named(name)?;
    language.prepare();
    let text = Snapshot::new(code);
    let mut tree = SyntaxTree::new(language);
    let mut steps = 0;
    let mut is_spent = || {
        steps += 1;
        steps > MAX_STEPS
    };
    match tree.parse(&text, &mut Budget::until(&mut is_spent)) {
        ParseStatus::Done | ParseStatus::Unsettled => {}
        ParseStatus::Running | ParseStatus::Pending(_) => return None,
    }
    let highlights = tree.snapshot().highlights(&text, text.full_span());
    let parts = highlights
        .into_iter()
        .map(|it| (it.span.start.0..it.span.end.0, it.kind));
    Some(parts.collect())
}

#[cfg(test)]
mod tests {
    use preview::MarkdownDocument;

    use super::CodeHighlights;

    #[test]
    fn known_code_is_parsed_once() {
        let document = |text: &str| MarkdownDocument::parse(text).expect("within limits");
        let first = document("```rust\nuse a;\n```\n\n```mermaid\na-->b\n```\n");
        let colours = CodeHighlights::default().of(first.blocks());
        let key = ("rust".to_owned(), "use a;".to_owned());
        let parts = colours.0.get(&key).expect("a known language").clone();
        assert_eq!(parts[0].0, 0..3, "the keyword");
        assert_eq!(colours.0.len(), 1, "mermaid is plain");
        let second = document("new\n\n```rust\nuse a;\n```\n");
        let again = colours.of(second.blocks());
        assert!(std::sync::Arc::ptr_eq(&parts, &again.0[&key]));
    }
}
