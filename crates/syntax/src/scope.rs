//! Determines whether an offset is in code, in a string or in a comment.

use std::ops::Range;

use base::{ByteOffset, Span, Work, count_work};
use text::Snapshot;
use tree_sitter::Node;

use crate::grammar::NodeRoles;
use crate::nodes::path_to;
use crate::snapshot::{SyntaxSnapshot, TreeView};

/// Kind of text around an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxScope {
    /// Everything else; also code embedded in a string.
    Code,
    /// A string, char or regular expression.
    String,
    /// A line or block comment.
    Comment,
}

impl SyntaxSnapshot {
    /// Returns the scope of a caret at `offset`: before the opening quote and after the closing one
    /// it is code; at the end of a line comment it is still the comment.
    pub fn scope_at(&self, text: &Snapshot, offset: ByteOffset) -> SyntaxScope {
        let Some(before) = offset.0.checked_sub(1) else {
            return SyntaxScope::Code;
        };
        let views = self.views_at(text, ByteOffset(before));
        let Some(view) = views.last() else {
            return SyntaxScope::Code;
        };
        view.scope_node(before)
            .map_or(SyntaxScope::Code, |(node, scope)| {
                let end = node.end_byte() + view.shift;
                let is_behind = offset.0 >= end && is_closed(view, node, text);
                if is_behind { SyntaxScope::Code } else { scope }
            })
    }
}

impl SyntaxSnapshot {
    /// Returns the span, quotes included, of the string that contains the byte at `offset`. Returns
    /// `None` outside of strings, in an unclosed string, and without a tree.
    pub fn string_at(&self, text: &Snapshot, offset: ByteOffset) -> Option<Span> {
        let views = self.views_at(text, offset);
        let view = views.last()?;
        let (node, scope) = view.scope_node(offset.0)?;
        let is_whole =
            scope == SyntaxScope::String && !node.has_error() && is_closed(view, node, text);
        is_whole.then(|| {
            Span::new(
                ByteOffset(node.start_byte() + view.shift),
                ByteOffset(node.end_byte() + view.shift),
            )
        })
    }

    /// Returns the start of the code embedded in a string (`${…}`) that contains a caret at
    /// `offset`. Returns `None` outside of such code.
    pub fn embedded_code_start(&self, text: &Snapshot, offset: ByteOffset) -> Option<ByteOffset> {
        let before = offset.0.checked_sub(1)?;
        let views = self.views_at(text, ByteOffset(before));
        let view = views.last()?;
        let at = before.checked_sub(view.shift)?;
        let grammar = view.language.grammar();
        let embedded = path_to(view.root(), at).into_iter().rfind(|node| {
            grammar.roles(*node).has(NodeRoles::EMBEDDED) && offset.0 < node.end_byte() + view.shift
        });
        embedded.map(|node| ByteOffset(node.start_byte() + view.shift))
    }
}

impl TreeView<'_> {
    /// Returns the string or comment that contains the byte at `offset` of the text. Returns `None`
    /// in code, including code that is embedded in a string.
    pub(crate) fn scope_node(&self, offset: usize) -> Option<(Node<'_>, SyntaxScope)> {
        let at = offset.checked_sub(self.shift)?;
        let grammar = self.language.grammar();
        for node in path_to(self.root(), at).into_iter().rev() {
            match grammar.roles(node).scope() {
                Some(SyntaxScope::Code) => return None,
                Some(scope) => return Some((node, scope)),
                None => {}
            }
        }
        None
    }
}

impl TreeView<'_> {
    /// Returns the scope of every byte of a range of the text, in one walk over the tree.
    pub(crate) fn scopes(&self, stretch: Range<usize>) -> Vec<SyntaxScope> {
        let mut scopes = vec![SyntaxScope::Code; stretch.len()];
        let grammar = self.language.grammar();
        let start = stretch.start.saturating_sub(self.shift);
        let end = stretch.end.saturating_sub(self.shift);
        let mut cursor = self.root().walk();
        loop {
            count_work(Work::TreeSteps, 1);
            let node = cursor.node();
            if node.start_byte() >= end {
                return scopes;
            }
            if let Some(scope) = grammar.roles(node).scope() {
                let from = node.start_byte().max(start) - start;
                let to = node.end_byte().clamp(start, end) - start;
                // The stretch may start before the tree does.
                let lead = (start + self.shift).saturating_sub(stretch.start);
                if let Some(bytes) = scopes.get_mut(from + lead..(to + lead).max(from + lead)) {
                    bytes.fill(scope);
                }
            }
            if node.end_byte() > start && cursor.goto_first_child_for_byte(start).is_some() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return scopes;
                }
            }
        }
    }
}

impl NodeRoles {
    /// Returns the scope that a node with these roles determines. Code embedded in a string is
    /// code. Returns `None` if the node does not determine a scope.
    fn scope(self) -> Option<SyntaxScope> {
        if self.has(NodeRoles::EMBEDDED) {
            Some(SyntaxScope::Code)
        } else if self.has(NodeRoles::COMMENT) {
            Some(SyntaxScope::Comment)
        } else if self.has(NodeRoles::STRING) {
            Some(SyntaxScope::String)
        } else {
            None
        }
    }
}

/// Whether a string or comment ends by itself, rather than with its line or the text.
fn is_closed(view: &TreeView<'_>, node: Node<'_>, text: &Snapshot) -> bool {
    let grammar = view.language.grammar();
    let span = Span::new(
        ByteOffset(node.start_byte() + view.shift),
        ByteOffset(node.end_byte() + view.shift),
    );
    let last = ByteOffset(span.end.0.saturating_sub(4)).max(span.start);
    let ending = text.text(Span::new(last, span.end));
    if grammar.roles(node).has(NodeRoles::COMMENT) {
        let closer = view.language.config().block_comment.map(|(_, close)| close);
        return ending.ends_with('\n') || closer.is_some_and(|close| ending.ends_with(close));
    }
    // A string of one char is an opening quote that nothing closes yet.
    span.len() > 1 && !ending.ends_with('\n')
}

#[cfg(test)]
mod tests;
