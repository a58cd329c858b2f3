//! What changed in the rows of an edit, each change with the tokens that stand beside it.
//!
//! Where trees say nothing, as in prose, a change is known by its tokens and by what stands around it in its row.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use base::Span;
use syntax::{Scope, SyntaxSnapshot, TokenRole};
use text::Snapshot;

use super::pairs::changed;
use crate::local::token::{Token, TokenKind, Tokens, solid_tokens};

/// Tokens of a row that turned into others.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// The same for the same tokens turned into the same.
    pub(crate) key: u64,
    /// Where it is, in bytes from the start of the edit's new text.
    pub(crate) offset: usize,
    pub(crate) old: Vec<Arc<str>>,
    pub(crate) new: Vec<Arc<str>>,
    /// The tokens before it, the nearest first; behind the last of a row comes `EDGE`.
    pub(crate) left: Vec<Arc<str>>,
    /// The tokens behind it, the nearest first.
    pub(crate) right: Vec<Arc<str>>,
    /// The texts from the end of the token before to the start of the token behind.
    pub(crate) texts: (Arc<str>, Arc<str>),
    /// What it stood in.
    pub(crate) scope: Scope,
    /// The part that the first of the old words played; none without a tree.
    pub(crate) role: Option<TokenRole>,
}

/// Stands for the end of a row among tokens.
pub(crate) const EDGE: &str = "\n";

/// Tokens that are remembered on either side.
pub(crate) const MOST_BESIDE: usize = 8;

/// Rows of an edit that are looked at, and the bytes of a row.
const MOST_ROWS: u32 = 12;
const MOST_BYTES: usize = 400;

/// Rows of more tokens are compared by their ends alone.
const MOST_TOKENS: usize = 60;

/// The turns of an edit that left as many rows as there were.
pub(super) fn turns(
    (before, old, syntax): (&Snapshot, Span, Option<&SyntaxSnapshot>),
    (after, new, later): (&Snapshot, Span, Option<&SyntaxSnapshot>),
) -> Vec<Turn> {
    let rows_of = |text: &Snapshot, span: Span| {
        let (first, last) = (text.point_at(span.start).row, text.point_at(span.end).row);
        (first, last.0 - first.0 + 1)
    };
    let ((first, count), (new_first, new_count)) = (rows_of(before, old), rows_of(after, new));
    if count != new_count || count > MOST_ROWS {
        return Vec::new();
    }
    let mut turns = Vec::new();
    for ix in 0..count {
        let (row, new_row) = (first + ix, new_first + ix);
        let (a, b) = (before.row_text(row), after.row_text(new_row));
        if a == b || a.len().max(b.len()) > MOST_BYTES {
            continue;
        }
        let rows = Rows::new(&a, &b);
        // Half of what opens and closes is no change to be made by itself.
        let whole = rows
            .turns()
            .into_iter()
            .filter(|(turn, ..)| depth(&turn.old) == depth(&turn.new));
        turns.extend(whole.map(|(mut turn, at, new_at)| {
            let places = (
                before.row_start(row) + at,
                after.row_start(new_row) + new_at,
            );
            turn.offset = places.1.0.saturating_sub(new.start.0);
            let word = turn.first_word(&a[at..]);
            // Without a tree from before, what came tells what it came into.
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

impl Turn {
    /// Where the first of the old words stands in a text that begins where it does.
    pub(crate) fn first_word(&self, text: &str) -> Option<usize> {
        let mut tokens = Tokens::new(text).take(self.old.len());
        tokens
            .find(|it| it.kind == TokenKind::Word)
            .map(|it| it.start)
    }
}

/// A row before and behind an edit.
struct Rows<'a> {
    old: &'a str,
    new: &'a str,
    a: Vec<Token>,
    b: Vec<Token>,
}

impl<'a> Rows<'a> {
    fn new(old: &'a str, new: &'a str) -> Self {
        Self {
            old,
            new,
            a: solid_tokens(old),
            b: solid_tokens(new),
        }
    }

    /// All that changed as one turn, and where that is several runs of tokens, each of them; with where they begin
    /// in either row.
    fn turns(&self) -> Vec<(Turn, usize, usize)> {
        let is_same = |x: &Token, y: &Token| x.text(self.old) == y.text(self.new);
        let (a, b) = (&self.a, &self.b);
        let start = a.iter().zip(b).take_while(|(x, y)| is_same(x, y)).count();
        let back = a[start..].iter().rev().zip(b[start..].iter().rev());
        let end = back.take_while(|(x, y)| is_same(x, y)).count();
        let (from, to) = (start..a.len() - end, start..b.len() - end);
        // A row that was empty, or is, says nothing about others.
        if a.is_empty() || b.is_empty() || from.is_empty() && to.is_empty() {
            return Vec::new();
        }
        let mut turns = vec![self.turn(from.clone(), to.clone())];
        if from.len().max(to.len()) <= MOST_TOKENS {
            let runs = changed(&a[from], &b[to], &is_same);
            if runs.len() > 1 {
                let moved = |run: Range<usize>| run.start + start..run.end + start;
                turns.extend(runs.into_iter().map(|(x, y)| self.turn(moved(x), moved(y))));
            }
        }
        turns
    }

    fn turn(&self, from: Range<usize>, to: Range<usize>) -> (Turn, usize, usize) {
        let texts = |tokens: &[Token], text: &str| -> Vec<Arc<str>> {
            tokens.iter().map(|it| Arc::from(it.text(text))).collect()
        };
        let old = texts(&self.a[from.clone()], self.old);
        let new = texts(&self.b[to.clone()], self.new);
        let left = self.a[..from.start].iter().rev();
        let right = self.a[from.end..].iter();
        let beside = |tokens: &mut dyn Iterator<Item = &Token>| -> Vec<Arc<str>> {
            let texts = tokens.map(|it| Arc::from(it.text(self.old)));
            texts.chain([Arc::from(EDGE)]).take(MOST_BESIDE).collect()
        };
        let (old_range, new_range) = (
            between(&self.a, &from, self.old),
            between(&self.b, &to, self.new),
        );
        let mut hasher = DefaultHasher::new();
        (&old, &new).hash(&mut hasher);
        let turn = Turn {
            // The lower numbers name patterns.
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
            scope: Scope::Code,
            role: None,
        };
        (turn, old_range.start, new_range.start)
    }
}

/// How many brackets more are opened than closed.
fn depth(tokens: &[Arc<str>]) -> i32 {
    let step = |token: &Arc<str>| match token.as_ref() {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    };
    tokens.iter().map(step).sum()
}

/// The bytes from the end of the token before some to the start of the token behind them. Blanks at the ends of a row
/// are left out.
fn between(tokens: &[Token], range: &Range<usize>, text: &str) -> Range<usize> {
    let before = range.start.checked_sub(1).and_then(|ix| tokens.get(ix));
    let indent = text.len() - text.trim_start().len();
    let start = before.map_or(indent, |token| token.end);
    let last = range.end.checked_sub(1).and_then(|ix| tokens.get(ix));
    let last = last.map_or(start, |token| token.end.max(start));
    let end = tokens.get(range.end).map_or(last, |token| token.start);
    start..end.max(start)
}
