//! A change with its surroundings: the syntax nodes that contain it, before and after, as tokens.
//!
//! A changed number alone is not meaningful, but the call that contains it is. Frames view a change
//! at increasing sizes, so that two changes can be compared at the smallest frame they have in
//! common.

use std::sync::Arc;

use base::{ByteOffset, Span};
use syntax::{SyntaxSnapshot, TokenRole};
use text::Snapshot;

use crate::local::token::{CodeTokens, TokenKind};

/// A change at one size: the tokens of the changed text alone, or of a syntax node around it,
/// before and after the change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChangeFrame {
    /// Kind of the node that `old` covers; `None` for the changed tokens alone.
    pub(crate) kind: Option<u16>,
    /// Tokens before the change; empty for an insertion alone.
    pub(crate) old: Vec<LoggedToken>,
    /// Tokens after the change; empty for a deletion alone. They have no roles.
    pub(crate) new: Vec<LoggedToken>,
}

/// A token of a logged edit: text, kind, the blanks before it and its role in the syntax tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoggedToken {
    pub(crate) text: Arc<str>,
    pub(crate) kind: TokenKind,
    /// Blanks before the token.
    pub(crate) gap: Arc<str>,
    /// Syntactic role; `None` without a tree, and for new tokens.
    pub(crate) role: Option<TokenRole>,
}

/// A change that includes the blanks added or removed with it.
pub(super) struct PaddedChange<'a> {
    pub(super) span: Span,
    pub(super) new: &'a str,
}

/// Maximum number of nodes inspected around a change.
const MAX_FRAMES: usize = 5;

/// Larger nodes, in bytes, are not used as frames.
const MAX_NODE_BYTES: usize = 240;

/// Changes of more tokens have no frames beyond themselves.
const MAX_TOKENS: usize = 24;

/// Returns the frames of replacing `span` with `new`, from the changed tokens alone to the nodes
/// around them. `later` returns the role of the token at a byte of `new`; without a tree, the role
/// of a renamed word is taken from its new name.
pub(super) fn frames(
    before: &Snapshot,
    syntax: Option<&SyntaxSnapshot>,
    (span, new): (Span, &str),
    whole: PaddedChange<'_>,
    later: impl Fn(usize) -> Option<TokenRole>,
) -> Vec<ChangeFrame> {
    let role = |at: usize| Some(syntax?.token_at(before, ByteOffset(at))?.role);
    let old = before.text(span);
    if syntax.is_none() {
        return vec![without_tree(&old, new, later)];
    }
    let bare = ChangeFrame {
        kind: None,
        old: logged(&old, |at| role(span.start.0 + at)),
        new: logged(new, |_| None),
    };
    let is_large = bare.old.len().max(bare.new.len()) > MAX_TOKENS;
    let mut frames = vec![bare];
    let Some(syntax) = syntax.filter(|_| !is_large) else {
        return frames;
    };
    for (kind, node) in nodes(before, syntax, span) {
        let text = before.text(node);
        let (span, new) = if node.covers(whole.span) {
            (whole.span, whole.new)
        } else {
            (span, new)
        };
        let (from, to) = (span.start.0 - node.start.0, span.end.0 - node.start.0);
        let (Some(head), Some(tail)) = (text.get(..from), text.get(to..)) else {
            continue;
        };
        frames.push(ChangeFrame {
            kind: Some(kind),
            old: logged(&text, |at| role(node.start.0 + at)),
            new: logged(&format!("{head}{new}{tail}"), |_| None),
        });
    }
    frames
}

/// Returns the frame of the changed tokens alone. Only a single word replaced by a single token has
/// a role, that of its replacement.
fn without_tree(old: &str, new: &str, later: impl Fn(usize) -> Option<TokenRole>) -> ChangeFrame {
    let mut old = logged(old, |_| None);
    let is_renamed = old.len() == 1 && CodeTokens::new(new).count() == 1;
    if let Some(token) = old
        .first_mut()
        .filter(|token| is_renamed && token.kind == TokenKind::Word)
    {
        token.role = later(0);
    }
    ChangeFrame {
        kind: None,
        old,
        new: logged(new, |_| None),
    }
}

/// Returns the small single-row nodes around a span, the smallest first.
fn nodes(before: &Snapshot, syntax: &SyntaxSnapshot, span: Span) -> Vec<(u16, Span)> {
    let mut nodes = syntax.nodes_around(before, span, MAX_FRAMES);
    if span.is_empty() && span.start.0 > 0 {
        // Text inserted at the end of a node belongs to it rather than to the following node.
        let left = Span::new(ByteOffset(span.start.0 - 1), span.end);
        let left = syntax.nodes_around(before, left, MAX_FRAMES);
        nodes.extend(left);
    }
    let mut nodes: Vec<(u16, Span)> = nodes
        .iter()
        .filter(|node| node.span.covers(span) && node.span != span)
        .filter(|node| node.span.len() <= MAX_NODE_BYTES)
        .filter(|node| {
            let rows = [node.span.start, node.span.end].map(|at| before.point_at(at).row);
            rows[0] == rows[1]
        })
        .map(|node| (node.kind, node.span))
        .collect();
    nodes.sort_by_key(|(_, span)| span.len());
    // A node with the same span as the one inside it adds no information.
    nodes.dedup_by_key(|(_, span)| *span);
    nodes.truncate(MAX_FRAMES);
    nodes
}

/// Splits a text into tokens, each with the white space before it. `role` gives the syntactic role
/// of the word or number at a byte offset; other tokens have no role.
pub(crate) fn logged(text: &str, role: impl Fn(usize) -> Option<TokenRole>) -> Vec<LoggedToken> {
    let mut end = 0;
    CodeTokens::new(text)
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
