//! Expands and shrinks selections along the syntax tree.
//!
//! Collects all candidates (words, strings, brackets and their contents, nodes) and takes the
//! smallest that is larger than the selection.

use base::{ByteOffset, Span};
use text::Snapshot;
use tree_sitter::Node;

use crate::brackets::text_enclosing_brackets;
use crate::grammar::NodeRoles;
use crate::nodes::{children_before, children_from, first_children, last_child, path_around};
use crate::snapshot::{SyntaxSnapshot, TreeView};

/// Maximum length of a word, in bytes.
const MAX_WORD_BYTES: usize = 1000;

/// Maximum number of consecutive comments taken together, on each side.
const MAX_RUN: usize = 500;

impl SyntaxSnapshot {
    /// Returns the next larger meaningful span around `span`: word, string, bracket contents, node,
    /// whole text. Returns `None` if `span` is the whole text.
    pub fn expand(&self, text: &Snapshot, span: Span) -> Option<Span> {
        let is_larger = |candidate: &Span| {
            candidate.covers(span) && candidate.len() > span.len() && candidate.end <= text.len()
        };
        let candidates = self.candidates(text, span);
        candidates
            .into_iter()
            .filter(is_larger)
            .min_by_key(Span::len)
    }

    /// Returns the largest span smaller than `span` that repeated calls of `expand` from `caret`
    /// reach. If `expand` reaches no smaller span, returns the empty span at `caret`. Returns
    /// `None` if `span` is empty.
    pub fn shrink(&self, text: &Snapshot, span: Span, caret: ByteOffset) -> Option<Span> {
        if span.is_empty() {
            return None;
        }
        let caret = caret.clamp(span.start, span.end);
        let mut inner = Span::at(caret);
        while let Some(next) = self.expand(text, inner) {
            if next.len() >= span.len() || !span.covers(next) {
                break;
            }
            inner = next;
        }
        Some(inner)
    }

    fn candidates(&self, text: &Snapshot, span: Span) -> Vec<Span> {
        let mut candidates = vec![text.full_span()];
        candidates.extend(word_around(self, text, span));
        candidates.extend(row_around(text, span));
        let views = self.views_at(text, span.start);
        for view in &views {
            let (Some(start), Some(end)) = (
                span.start.0.checked_sub(view.shift),
                span.end.0.checked_sub(view.shift),
            ) else {
                continue;
            };
            // A caret between two nodes belongs to both.
            let mut paths = vec![path_around(view.root(), start, end)];
            if start == end && start > 0 {
                paths.push(path_around(view.root(), start - 1, end));
            }
            for path in paths {
                node_candidates(view, &path, text, span, &mut candidates);
            }
        }
        if views.is_empty() {
            plain_candidates(self, text, span, &mut candidates);
        }
        candidates
    }
}

/// Collects the candidates of the nodes of a path, up to the first that is larger than `selected`:
/// candidates of its ancestors are larger still.
fn node_candidates(
    view: &TreeView<'_>,
    path: &[Node<'_>],
    text: &Snapshot,
    selected: Span,
    found: &mut Vec<Span>,
) {
    let grammar = view.language.grammar();
    for (ix, node) in path.iter().enumerate().rev() {
        let span = trimmed(text, node_span(view, *node));
        // An unnamed token means something only when it is a word.
        let is_word = node.is_named() || node.kind().chars().all(char::is_alphabetic);
        if is_word && !span.is_empty() {
            found.push(span);
        }
        let roles = grammar.roles(*node);
        if roles.has(NodeRoles::STRING) {
            found.extend(string_contents(text, span));
        }
        if roles.has(NodeRoles::COMMENT)
            && let Some(parent) = ix.checked_sub(1).and_then(|above| path.get(above))
        {
            found.push(trimmed(text, comment_run(view, *parent, *node)));
        }
        if let Some(inner) = bracket_contents(view, *node) {
            found.push(inner);
            found.push(trimmed(text, inner));
        }
        if is_word && span.covers(selected) && span.len() > selected.len() {
            return;
        }
    }
}

fn node_span(view: &TreeView<'_>, node: Node<'_>) -> Span {
    Span::from(node.start_byte() + view.shift..node.end_byte() + view.shift)
}

/// Returns the span between the brackets or tags at both ends of a node.
fn bracket_contents(view: &TreeView<'_>, node: Node<'_>) -> Option<Span> {
    let first = *first_children(node, 1).first()?;
    let last = last_child(node)?;
    let grammar = view.language.grammar();
    let are_tags = grammar.roles(first).has(NodeRoles::START_TAG)
        && grammar.roles(last).has(NodeRoles::END_TAG);
    let are_brackets = matches!(
        (first.kind(), last.kind()),
        ("(", ")") | ("[", "]") | ("{", "}") | ("<", ">") | ("|", "|")
    );
    let start = first.end_byte() + view.shift;
    let end = last.start_byte() + view.shift;
    ((are_tags || are_brackets) && start <= end).then(|| Span::from(start..end))
}

/// Returns a string without its quotes and its prefix.
fn string_contents(text: &Snapshot, span: Span) -> Option<Span> {
    const QUOTES: &[char] = &['"', '\'', '`'];
    let mut start = span.start;
    let mut chars = text.chars_at(start).take(span.len()).peekable();
    let mut quote = None;
    for c in chars.by_ref() {
        start += c.len_utf8();
        if QUOTES.contains(&c) {
            quote = Some(c);
            break;
        }
        if start - span.start > 8 {
            return None;
        }
    }
    let quote = quote?;
    let mut width = 1;
    while width < 3 && chars.peek() == Some(&quote) {
        chars.next();
        width += 1;
    }
    // Two quotes are an empty string; three open a long one.
    let width = if width == 3 { 3 } else { 1 };
    start += width - 1;
    let hashes = text
        .chars_before(span.end)
        .take_while(|c| *c == '#')
        .take(16)
        .count();
    let end = span.end - (hashes + width);
    (start <= end && end < span.end).then(|| Span::new(start, end))
}

/// Comments in a row, on rows right below each other.
fn comment_run(view: &TreeView<'_>, parent: Node<'_>, comment: Node<'_>) -> Span {
    let kind = comment.kind_id();
    let at = comment.start_byte();
    let mut first = comment;
    for node in children_before(parent, at).take(MAX_RUN) {
        let is_near = first.start_position().row <= node.start_position().row + 1;
        if node.kind_id() != kind || !is_near {
            break;
        }
        first = node;
    }
    let mut last = comment;
    for node in children_from(parent, at).take(MAX_RUN) {
        let is_near = node.start_position().row <= last.start_position().row + 1;
        if node.kind_id() != kind || !is_near {
            break;
        }
        last = node;
    }
    node_span(view, first).union(node_span(view, last))
}

/// The word that holds the whole span.
fn word_around(syntax: &SyntaxSnapshot, text: &Snapshot, span: Span) -> Option<Span> {
    let extra = syntax.language().config().word_chars;
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_' || extra.contains(*c);
    if span.len() > MAX_WORD_BYTES || !text.text(span).chars().all(|c| is_word(&c)) {
        return None;
    }
    let length = |chars: &mut dyn Iterator<Item = char>| -> usize {
        chars
            .take(MAX_WORD_BYTES)
            .take_while(is_word)
            .map(char::len_utf8)
            .sum()
    };
    let before = length(&mut text.chars_before(span.start));
    let after = length(&mut text.chars_at(span.end));
    let word = Span::new(span.start - before, span.end + after);
    (!word.is_empty()).then_some(word)
}

/// The text of the row, or of the rows, that hold the span, without the blanks around.
fn row_around(text: &Snapshot, span: Span) -> Option<Span> {
    let first = text.point_at(span.start).row;
    let last = text.point_at(span.end).row;
    if first != last || text.row_len(first).0 as usize > MAX_WORD_BYTES {
        return None;
    }
    let row = trimmed(text, text.row_span(first));
    (!row.is_empty()).then_some(row)
}

/// Without a tree: the brackets around, as the text shows them.
fn plain_candidates(syntax: &SyntaxSnapshot, text: &Snapshot, span: Span, found: &mut Vec<Span>) {
    if let Some(pair) = text_enclosing_brackets(syntax, text, span) {
        found.push(Span::new(pair.open.end, pair.close.start));
        found.push(pair.open.union(pair.close));
    }
}

/// A span without the white space at its ends.
fn trimmed(text: &Snapshot, span: Span) -> Span {
    let end = span.end.min(text.len());
    let start = span.start.min(end);
    let blanks = |chars: &mut dyn Iterator<Item = char>, most: usize| -> usize {
        let mut length = 0;
        for c in chars.take_while(|c| c.is_whitespace()) {
            if length + c.len_utf8() > most {
                break;
            }
            length += c.len_utf8();
        }
        length
    };
    let start = start + blanks(&mut text.chars_at(start), end - start);
    let end = end - blanks(&mut text.chars_before(end), end - start);
    Span::new(start, end)
}

#[cfg(test)]
mod tests;
