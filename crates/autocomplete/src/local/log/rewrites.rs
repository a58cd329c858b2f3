//! Row-by-row changes of an edit, each with the tokens beside it.
//!
//! Where syntax trees do not help, as in prose, a change is identified by its tokens and by the
//! tokens around it in its row.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use base::Span;
use syntax::{SyntaxScope, SyntaxSnapshot, TokenRole};
use text::Snapshot;

use super::pairs::changed;
use crate::local::token::{CodeToken, CodeTokens, TokenKind, solid_tokens};

/// Tokens of one row that an edit replaced by others, with the tokens around them.
#[derive(Clone, Debug)]
pub(crate) struct TokenRewrite {
    /// Hash of the old and new tokens.
    pub(crate) key: u64,
    /// Offset from the start of the edit's new text, in bytes.
    pub(crate) offset: usize,
    pub(crate) old: Vec<Arc<str>>,
    pub(crate) new: Vec<Arc<str>>,
    /// Tokens before it, the nearest first, followed by `EDGE` at the start of the row.
    pub(crate) left: Vec<Arc<str>>,
    /// Tokens after it, the nearest first.
    pub(crate) right: Vec<Arc<str>>,
    /// Old and new text from the end of the preceding token to the start of the following one.
    pub(crate) texts: (Arc<str>, Arc<str>),
    /// Syntactic scope that contained it.
    pub(crate) scope: SyntaxScope,
    /// Role of the first old word; `None` without a tree.
    pub(crate) role: Option<TokenRole>,
}

/// Marks the end of a row among tokens.
pub(crate) const EDGE: &str = "\n";

/// Number of neighbouring tokens kept on either side of a rewrite.
pub(crate) const MAX_CONTEXT_TOKENS: usize = 8;

/// Maximum number of rows of an edit that are inspected, and maximum bytes of a row.
const MAX_ROWS: u32 = 12;
const MAX_ROW_BYTES: usize = 400;

/// Maximum number of tokens of a row that is compared in full; longer ones are trimmed at both ends
/// only.
const MAX_ROW_TOKENS: usize = 60;

/// Returns the row changes of an edit that keeps the number of rows.
pub(super) fn row_rewrites(
    (before, old, syntax): (&Snapshot, Span, Option<&SyntaxSnapshot>),
    (after, new, later): (&Snapshot, Span, Option<&SyntaxSnapshot>),
) -> Vec<TokenRewrite> {
    let rows_of = |text: &Snapshot, span: Span| {
        let (first, last) = (text.point_at(span.start).row, text.point_at(span.end).row);
        (first, last.0 - first.0 + 1)
    };
    let ((first, count), (new_first, new_count)) = (rows_of(before, old), rows_of(after, new));
    if count != new_count || count > MAX_ROWS {
        return Vec::new();
    }
    let mut turns = Vec::new();
    for ix in 0..count {
        let (row, new_row) = (first + ix, new_first + ix);
        let (a, b) = (before.row_text(row), after.row_text(new_row));
        if a == b || a.len().max(b.len()) > MAX_ROW_BYTES {
            continue;
        }
        let rows = ChangedRows::new(&a, &b);
        // Adding half of a bracket pair is not a change to repeat by itself.
        let whole = rows
            .rewrites()
            .into_iter()
            .filter(|(turn, ..)| depth(&turn.old) == depth(&turn.new));
        turns.extend(whole.map(|(mut turn, at, new_at)| {
            let places = (
                before.row_start(row) + at,
                after.row_start(new_row) + new_at,
            );
            turn.offset = places.1.0.saturating_sub(new.start.0);
            let word = turn.first_word(&a[at..]);
            // Without a tree of the old text, the new text determines the scope.
            let (text, tree, place) = match syntax {
                Some(_) => (before, syntax, places.0),
                None => (after, later, places.1),
            };
            if let Some(tree) = tree {
                turn.scope = tree.scope_at(text, place);
                let leaf = word.and_then(|word| tree.token_at(text, place + word));
                turn.role = leaf.map(|leaf| leaf.role);
            }
            turn
        }));
    }
    turns
}

impl TokenRewrite {
    /// Returns the byte offset of the first old word in `text`, which must begin at the change.
    /// Returns `None` if the old tokens contain no word.
    pub(crate) fn first_word(&self, text: &str) -> Option<usize> {
        let mut tokens = CodeTokens::new(text).take(self.old.len());
        tokens
            .find(|it| it.kind == TokenKind::Word)
            .map(|it| it.start)
    }
}

/// A row before and after an edit.
struct ChangedRows<'a> {
    old: &'a str,
    new: &'a str,
    a: Vec<CodeToken>,
    b: Vec<CodeToken>,
}

impl<'a> ChangedRows<'a> {
    fn new(old: &'a str, new: &'a str) -> Self {
        Self {
            old,
            new,
            a: solid_tokens(old),
            b: solid_tokens(new),
        }
    }

    /// Returns the whole difference as one change and, if it consists of several runs of tokens,
    /// each run as well, with their offsets in both rows.
    fn rewrites(&self) -> Vec<(TokenRewrite, usize, usize)> {
        let is_same = |x: &CodeToken, y: &CodeToken| x.text(self.old) == y.text(self.new);
        let (a, b) = (&self.a, &self.b);
        let start = a.iter().zip(b).take_while(|(x, y)| is_same(x, y)).count();
        let back = a[start..].iter().rev().zip(b[start..].iter().rev());
        let end = back.take_while(|(x, y)| is_same(x, y)).count();
        let (from, to) = (start..a.len() - end, start..b.len() - end);
        // An empty row allows no conclusion about other rows.
        if a.is_empty() || b.is_empty() || from.is_empty() && to.is_empty() {
            return Vec::new();
        }
        let mut turns = vec![self.turn(from.clone(), to.clone())];
        if from.len().max(to.len()) <= MAX_ROW_TOKENS {
            let runs = changed(&a[from], &b[to], &is_same);
            if runs.len() > 1 {
                let moved = |run: Range<usize>| run.start + start..run.end + start;
                turns.extend(runs.into_iter().map(|(x, y)| self.turn(moved(x), moved(y))));
            }
        }
        turns
    }

    /// Returns the rewrite of the old tokens `from` to the new tokens `to`, with the byte offsets
    /// at which it begins in the old and in the new row. Its `offset`, `scope` and `role` are
    /// placeholders.
    fn turn(&self, from: Range<usize>, to: Range<usize>) -> (TokenRewrite, usize, usize) {
        let texts = |tokens: &[CodeToken], text: &str| -> Vec<Arc<str>> {
            tokens.iter().map(|it| Arc::from(it.text(text))).collect()
        };
        let old = texts(&self.a[from.clone()], self.old);
        let new = texts(&self.b[to.clone()], self.new);
        let left = self.a[..from.start].iter().rev();
        let right = self.a[from.end..].iter();
        let beside = |tokens: &mut dyn Iterator<Item = &CodeToken>| -> Vec<Arc<str>> {
            let texts = tokens.map(|it| Arc::from(it.text(self.old)));
            texts
                .chain([Arc::from(EDGE)])
                .take(MAX_CONTEXT_TOKENS)
                .collect()
        };
        let (old_range, new_range) = (
            between(&self.a, &from, self.old),
            between(&self.b, &to, self.new),
        );
        let mut hasher = DefaultHasher::new();
        (&old, &new).hash(&mut hasher);
        let turn = TokenRewrite {
            // Keys without the high bit identify patterns.
            key: hasher.finish() | 1 << 63,
            offset: 0,
            left: beside(&mut left.into_iter()),
            right: beside(&mut right.into_iter()),
            texts: (
                Arc::from(&self.old[old_range.clone()]),
                Arc::from(&self.new[new_range.clone()]),
            ),
            old,
            new,
            scope: SyntaxScope::Code,
            role: None,
        };
        (turn, old_range.start, new_range.start)
    }
}

/// Returns the number of opening brackets minus closing ones.
fn depth(tokens: &[Arc<str>]) -> i32 {
    let step = |token: &Arc<str>| match token.as_ref() {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    };
    tokens.iter().map(step).sum()
}

/// Returns the bytes from the end of the preceding token to the start of the following one, without
/// blanks at the ends of a row.
fn between(tokens: &[CodeToken], range: &Range<usize>, text: &str) -> Range<usize> {
    let before = range.start.checked_sub(1).and_then(|ix| tokens.get(ix));
    let indent = text.len() - text.trim_start().len();
    let start = before.map_or(indent, |token| token.end);
    let last = range.end.checked_sub(1).and_then(|ix| tokens.get(ix));
    let last = last.map_or(start, |token| token.end.max(start));
    let end = tokens.get(range.end).map_or(last, |token| token.start);
    start..end.max(start)
}
