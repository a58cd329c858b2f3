//! Whether an offset lies in code, in a string or in a comment.

use base::{ByteOffset, Span};
use text::Snapshot;
use tree_sitter::Node;

use crate::grammar::Roles;
use crate::nodes::path_to;
use crate::snapshot::{SyntaxSnapshot, View};

/// What kind of text a place lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Neither of the others; also code embedded in a string.
    Code,
    /// A string, char or regular expression.
    String,
    /// A comment.
    Comment,
}

impl SyntaxSnapshot {
    /// The scope of a caret at `offset`: before the opening quote and behind the closing one it is
    /// code; at the end of a line comment it is still the comment.
    pub fn scope_at(&self, text: &Snapshot, offset: ByteOffset) -> Scope {
        let Some(before) = offset.0.checked_sub(1) else {
            return Scope::Code;
        };
        let views = self.views_at(text, ByteOffset(before));
        let Some(view) = views.last() else {
            return Scope::Code;
        };
        view.scope_node(before)
            .map_or(Scope::Code, |(node, scope)| {
                let end = node.end_byte() + view.shift;
                let is_behind = offset.0 >= end && is_closed(view, node, text);
                if is_behind { Scope::Code } else { scope }
            })
    }
}

impl View<'_> {
    /// The string or comment that holds the byte at `offset` of the text, unless embedded code
    /// lies between them.
    pub(crate) fn scope_node(&self, offset: usize) -> Option<(Node<'_>, Scope)> {
        let at = offset.checked_sub(self.shift)?;
        let grammar = self.language.grammar();
        for node in path_to(self.root(), at).into_iter().rev() {
            let roles = grammar.roles(node);
            if roles.has(Roles::EMBEDDED) {
                return None;
            }
            if roles.has(Roles::COMMENT) {
                return Some((node, Scope::Comment));
            }
            if roles.has(Roles::STRING) {
                return Some((node, Scope::String));
            }
        }
        None
    }
}

/// Whether a string or comment ends by itself, rather than with its line or the text.
fn is_closed(view: &View<'_>, node: Node<'_>, text: &Snapshot) -> bool {
    let grammar = view.language.grammar();
    let span = Span::new(
        ByteOffset(node.start_byte() + view.shift),
        ByteOffset(node.end_byte() + view.shift),
    );
    let last = ByteOffset(span.end.0.saturating_sub(4)).max(span.start);
    let ending = text.text(Span::new(last, span.end));
    if grammar.roles(node).has(Roles::COMMENT) {
        let closer = view.language.config().block_comment.map(|(_, close)| close);
        return ending.ends_with('\n') || closer.is_some_and(|close| ending.ends_with(close));
    }
    // A string of one char is an opening quote that nothing closes yet.
    span.len() > 1 && !ending.ends_with('\n')
}
