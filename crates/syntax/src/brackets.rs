//! Matching brackets, and words and tags that pair up like them.
//!
//! A tree determines pairs exactly, since both halves are children of one node. Where the tree has
//! errors or is missing, the surrounding text is scanned, up to `MAX_SCANNED_BYTES`.

mod scan;

use base::{ByteOffset, Span};
use text::Snapshot;
use tree_sitter::Node;

use crate::grammar::NodeRoles;
use crate::nodes::{
    children_before, children_from, first_children, last_child, path_around, path_to,
};
use crate::snapshot::{SyntaxSnapshot, TreeView};

pub(crate) use scan::{Scanner, text_enclosing_brackets, text_matching_bracket};

/// Two brackets that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BracketPair {
    /// The opening bracket itself.
    pub open: Span,
    /// The closing bracket itself.
    pub close: Span,
}

impl BracketPair {
    /// Returns whether the pair is within the text: a stale tree may refer to removed text.
    fn is_within(&self, text: &Snapshot) -> bool {
        self.open.end <= self.close.start && self.close.end <= text.len()
    }
}

/// Siblings examined for a partner, in each direction.
const MAX_SIBLINGS: usize = 2000;

/// Children examined at each end of a node for the pair around an offset.
const MAX_EDGE_CHILDREN: usize = 64;

impl SyntaxSnapshot {
    /// Returns the pair of the bracket right after `offset`, or else of the bracket right before
    /// `offset`. Returns `None` if neither character is a bracket with a partner. Ignores brackets
    /// in strings and comments.
    pub fn matching_bracket(&self, text: &Snapshot, offset: ByteOffset) -> Option<BracketPair> {
        let behind = self.pair_of_token(text, offset);
        behind
            .or_else(|| self.pair_of_token(text, offset.0.checked_sub(1)?.into()))
            .filter(|pair| pair.is_within(text))
    }

    /// Returns whether `matching_bracket` may find a pair, from the two characters at `offset` alone.
    /// Returns false while the queries of the language are not compiled: the first frame waits
    /// neither for them nor for the thread that would compile them. The first parse compiles them.
    pub fn may_match_bracket(&self, text: &Snapshot, offset: ByteOffset) -> bool {
        if !self.language().is_prepared() {
            return false;
        }
        let grammar = self.language().grammar();
        // The whole of a tag pairs up with the other one.
        if grammar.kinds.tags.is_some() || grammar.has_layers {
            return true;
        }
        let has_words = !grammar.kinds.word_pairs.is_empty();
        let behind = text.chars_at(offset).next();
        let before = text.chars_before(offset).next();
        let mut chars = behind.into_iter().chain(before);
        chars.any(|char| {
            let is_sign = !char.is_alphanumeric() && !char.is_whitespace() && char != '_';
            is_sign || has_words && char.is_alphabetic()
        })
    }

    /// Returns the innermost pair of brackets around `span`. Returns `None` if no pair is found
    /// within a bounded distance.
    pub fn enclosing_brackets(&self, text: &Snapshot, span: Span) -> Option<BracketPair> {
        self.pair_around(text, span)
            .filter(|pair| pair.is_within(text))
    }

    /// Returns the innermost pair around `span`, from the tree, or from the text where the tree has
    /// an error or is missing. A stale tree may give a pair outside of the text.
    fn pair_around(&self, text: &Snapshot, span: Span) -> Option<BracketPair> {
        let views = self.views_at(text, span.start);
        for view in views.iter().rev() {
            let (Some(start), Some(end)) = (
                span.start.0.checked_sub(view.shift),
                span.end.0.checked_sub(view.shift),
            ) else {
                continue;
            };
            for node in path_around(view.root(), start, end).into_iter().rev() {
                if node.is_error() {
                    return text_enclosing_brackets(self, text, span);
                }
                if let Some(pair) = pair_around(view, node, start, end) {
                    return Some(pair);
                }
            }
        }
        if views.is_empty() {
            text_enclosing_brackets(self, text, span)
        } else {
            None
        }
    }

    /// The pair of the bracket, word or tag that holds the byte at `at`.
    fn pair_of_token(&self, text: &Snapshot, at: ByteOffset) -> Option<BracketPair> {
        let views = self.views_at(text, at);
        for view in views.iter().rev() {
            let path = path_to(view.root(), at.0.checked_sub(view.shift)?);
            if let [.., parent, token] = path[..] {
                if let Some(pair) = pair_in(view, parent, token) {
                    return Some(pair);
                }
                if let Some(pair) = tag_pair(view, &path) {
                    return Some(pair);
                }
            }
        }
        text_matching_bracket(self, text, at)
    }
}

/// Role of a bracket token: the kinds of its partners, and their direction.
struct BracketPartners {
    kinds: Vec<&'static str>,
    own: &'static str,
    is_opener: bool,
}

/// Returns the tokens that can pair up with `token` below `parent`, and on which side of it they
/// are. Returns `None` if the token is no bracket.
fn partners(view: &TreeView<'_>, token: Node<'_>, parent: Node<'_>) -> Option<BracketPartners> {
    if token.is_named() || token.child_count() > 0 {
        return None;
    }
    let own = token.kind();
    let found = |kinds: Vec<&'static str>, is_opener| {
        (!kinds.is_empty()).then_some(BracketPartners {
            kinds,
            own,
            is_opener,
        })
    };
    let pairs = || bracket_tokens(view).chain(angles(parent));
    let closers = pairs()
        .filter(|(open, _)| *open == own)
        .map(|(_, close)| close)
        .collect();
    let openers = pairs()
        .filter(|(_, close)| *close == own)
        .map(|(open, _)| open)
        .collect();
    found(closers, true).or_else(|| found(openers, false))
}

/// Every pair of tokens of a language: its brackets, some grammars' longer ones, its words.
fn bracket_tokens(view: &TreeView<'_>) -> impl Iterator<Item = (&'static str, &'static str)> {
    const TOKENS: &[(&str, &str)] = &[
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("[[", "]]"),
        ("((", "))"),
        ("${", "}"),
        ("$(", ")"),
        ("#{", "}"),
        ("%w(", ")"),
        ("%i(", ")"),
        ("`", "`"),
    ];
    let words = view.language.grammar().kinds.word_pairs;
    TOKENS.iter().chain(words).copied()
}

/// `<` and `>` pair up only where they are brackets.
fn angles(parent: Node<'_>) -> impl Iterator<Item = (&'static str, &'static str)> {
    const PARENTS: &[&str] = &[
        "type_arguments",
        "type_parameters",
        "bracketed_type",
        "for_lifetimes",
        "template_argument_list",
        "template_parameter_list",
        "system_lib_string",
    ];
    let is_bracket = PARENTS.contains(&parent.kind());
    is_bracket.then_some(("<", ">")).into_iter()
}

/// The pair of a token among its siblings.
fn pair_in(view: &TreeView<'_>, parent: Node<'_>, token: Node<'_>) -> Option<BracketPair> {
    let partners = partners(view, token, parent)?;
    let start = token.start_byte();
    let mut siblings: Box<dyn Iterator<Item = Node<'_>>> = if partners.is_opener {
        Box::new(children_from(parent, start))
    } else {
        Box::new(children_before(parent, start))
    };
    // The token itself comes first; each further opener needs a further closer.
    let mut depth = 0;
    for node in siblings
        .by_ref()
        .take(MAX_SIBLINGS)
        .filter(|node| !node.is_named() && !node.is_missing())
    {
        if node.kind() == partners.own && !partners.kinds.contains(&partners.own) {
            depth += 1;
        } else if partners.kinds.contains(&node.kind()) && node.start_byte() != start {
            depth -= 1;
            if depth <= 0 {
                return Some(pair(view, token, node, partners.is_opener));
            }
        }
    }
    // A list is long if some siblings are left: its brackets are its first and last children.
    siblings.next()?;
    let far = if partners.is_opener {
        last_child(parent)?
    } else {
        *first_children(parent, 1).first()?
    };
    let fits = partners.kinds.contains(&far.kind());
    fits.then(|| pair(view, token, far, partners.is_opener))
}

fn pair(view: &TreeView<'_>, token: Node<'_>, partner: Node<'_>, is_opener: bool) -> BracketPair {
    let (open, close) = if is_opener {
        (token, partner)
    } else {
        (partner, token)
    };
    BracketPair {
        open: span_of(view, open),
        close: span_of(view, close),
    }
}

fn span_of(view: &TreeView<'_>, node: Node<'_>) -> Span {
    Span::from(node.start_byte() + view.shift..node.end_byte() + view.shift)
}

/// The innermost pair among a node's children that holds `start..end` of its tree.
fn pair_around(
    view: &TreeView<'_>,
    node: Node<'_>,
    start: usize,
    end: usize,
) -> Option<BracketPair> {
    let children = edge_children(node);
    children
        .iter()
        .rev()
        .filter(|open| open.end_byte() <= start)
        .find_map(|open| {
            let partners = partners(view, *open, node).filter(|it| it.is_opener)?;
            let close = children.iter().find(|close| {
                close.start_byte() >= end.max(open.end_byte())
                    && partners.kinds.contains(&close.kind())
                    && !close.is_missing()
            })?;
            Some(pair(view, *open, *close, true))
        })
}

/// The first and last children of a node, without those in the middle of a long one.
fn edge_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut children = first_children(node, MAX_EDGE_CHILDREN);
    if children.len() == MAX_EDGE_CHILDREN
        && let Some(last) = last_child(node)
    {
        let tail = children_before(node, last.start_byte()).take(MAX_EDGE_CHILDREN);
        let mut tail: Vec<Node<'_>> = tail.collect();
        tail.reverse();
        let known = children.last().map_or(0, |node| node.end_byte());
        children.extend(tail.into_iter().filter(|node| node.start_byte() >= known));
    }
    children
}

/// The tags of the element whose start or end tag lies on the path.
fn tag_pair(view: &TreeView<'_>, path: &[Node<'_>]) -> Option<BracketPair> {
    let grammar = view.language.grammar();
    let is_tag = |node: &Node<'_>| {
        let roles = grammar.roles(*node);
        roles.has(NodeRoles::START_TAG) || roles.has(NodeRoles::END_TAG)
    };
    let at = path.iter().rposition(is_tag)?;
    let element = path.get(at.checked_sub(1)?)?;
    let open = *first_children(*element, 1).first()?;
    let close = last_child(*element)?;
    let fits = grammar.roles(open).has(NodeRoles::START_TAG)
        && grammar.roles(close).has(NodeRoles::END_TAG);
    fits.then(|| pair(view, open, close, true))
}

#[cfg(test)]
mod tests;
