//! A change with what stands around it: the nodes that it lies in, before and after, as tokens.
//!
//! A changed number says nothing by itself; the call that it stands in does. Frames are the ways to look at a change
//! from near to far, so that two changes can be compared where they first have something in common.

use std::sync::Arc;

use base::{ByteOffset, Span};
use syntax::{SyntaxSnapshot, TokenRole};
use text::Snapshot;

use crate::local::token::{TokenKind, Tokens};

/// A change as token sequences.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    /// The kind of the node that `old` is all of; none for the changed tokens alone.
    pub(crate) kind: Option<u16>,
    pub(crate) old: Vec<LoggedToken>,
    pub(crate) new: Vec<LoggedToken>,
}

/// A token with what stands before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoggedToken {
    pub(crate) text: Arc<str>,
    pub(crate) kind: TokenKind,
    /// The blanks before it.
    pub(crate) gap: Arc<str>,
    /// The part it plays; none without a tree, and for tokens that are new.
    pub(crate) role: Option<TokenRole>,
}

/// A change with the blanks that came or went with it.
pub(super) struct Whole<'a> {
    pub(super) span: Span,
    pub(super) new: &'a str,
}

/// Nodes that are looked at around a change.
const MOST_FRAMES: usize = 5;

/// Larger nodes are no frames.
const MOST_NODE_BYTES: usize = 240;

/// Changes of more tokens have no frames beyond themselves.
const MOST_TOKENS: usize = 24;

/// The change of `span` of a text to `new`, from the changed tokens alone to the nodes around them. `later` tells the
/// part that the token at a byte of `new` plays; where there is no tree, what a name became tells what it was.
pub(super) fn frames(
    before: &Snapshot,
    syntax: Option<&SyntaxSnapshot>,
    (span, new): (Span, &str),
    whole: Whole<'_>,
    later: impl Fn(usize) -> Option<TokenRole>,
) -> Vec<Frame> {
    let role = |at: usize| Some(syntax?.token_at(before, ByteOffset(at))?.role);
    let old = before.text(span);
    if syntax.is_none() {
        return vec![without_tree(&old, new, later)];
    }
    let bare = Frame {
        kind: None,
        old: logged(&old, |at| role(span.start.0 + at)),
        new: logged(new, |_| None),
    };
    let is_large = bare.old.len().max(bare.new.len()) > MOST_TOKENS;
    let mut frames = vec![bare];
    let Some(syntax) = syntax.filter(|_| !is_large) else {
        return frames;
    };
    for (kind, node) in nodes(before, syntax, span) {
        let text = before.text(node);
        let (span, new) = match node.covers(whole.span) {
            true => (whole.span, whole.new),
            false => (span, new),
        };
        let (from, to) = (span.start.0 - node.start.0, span.end.0 - node.start.0);
        let (Some(head), Some(tail)) = (text.get(..from), text.get(to..)) else {
            continue;
        };
        frames.push(Frame {
            kind: Some(kind),
            old: logged(&text, |at| role(node.start.0 + at)),
            new: logged(&format!("{head}{new}{tail}"), |_| None),
        });
    }
    frames
}

fn without_tree(old: &str, new: &str, later: impl Fn(usize) -> Option<TokenRole>) -> Frame {
    let mut old = logged(old, |_| None);
    let is_renamed = old.len() == 1 && Tokens::new(new).count() == 1;
    if let Some(token) = old
        .first_mut()
        .filter(|token| is_renamed && token.kind == TokenKind::Word)
    {
        token.role = later(0);
    }
    Frame {
        kind: None,
        old,
        new: logged(new, |_| None),
    }
}

/// The small nodes of one row around a span, the smallest first.
fn nodes(before: &Snapshot, syntax: &SyntaxSnapshot, span: Span) -> Vec<(u16, Span)> {
    let mut nodes = syntax.nodes_around(before, span, MOST_FRAMES);
    if span.is_empty() && span.start.0 > 0 {
        // What is put in at the end of something belongs to it rather than to what follows.
        let left = Span::new(ByteOffset(span.start.0 - 1), span.end);
        let left = syntax.nodes_around(before, left, MOST_FRAMES);
        nodes.extend(left);
    }
    let mut nodes: Vec<(u16, Span)> = nodes
        .iter()
        .filter(|node| node.span.covers(span) && node.span != span)
        .filter(|node| node.span.len() <= MOST_NODE_BYTES)
        .filter(|node| {
            let rows = [node.span.start, node.span.end].map(|at| before.point_at(at).row);
            rows[0] == rows[1]
        })
        .map(|node| (node.kind, node.span))
        .collect();
    nodes.sort_by_key(|(_, span)| span.len());
    // A node of the same place as the one inside it tells nothing more.
    nodes.dedup_by_key(|(_, span)| *span);
    nodes.truncate(MOST_FRAMES);
    nodes
}

pub(crate) fn logged(text: &str, role: impl Fn(usize) -> Option<TokenRole>) -> Vec<LoggedToken> {
    let mut end = 0;
    Tokens::new(text)
        .map(|token| {
            let gap = text.get(end..token.start).unwrap_or_default();
            end = token.end;
            LoggedToken {
                text: Arc::from(token.text(text)),
                kind: token.kind,
                gap: Arc::from(gap),
                role: match token.kind {
                    TokenKind::Word | TokenKind::Number => role(token.start),
                    _ => None,
                },
            }
        })
        .collect()
}
