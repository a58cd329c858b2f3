//! What of an edit really changed: the tokens that differ, without those that both texts begin or end with.

use std::ops::Range;

use crate::local::token::{Token, Tokens};

/// Tokens replaced by tokens, in bytes of either text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl Hunk {
    /// It with the blanks on either side, where tokens only come or only go: those then come or go with them.
    pub(super) fn with_blanks(&self, old: &str, new: &str) -> Self {
        if !self.old.is_empty() && !self.new.is_empty() {
            return self.clone();
        }
        let is_blank = |ch: char| ch == ' ' || ch == '\t';
        let wider = |range: &Range<usize>, text: &str| {
            let start = text[..range.start].trim_end_matches(is_blank).len();
            let behind = text[range.end..].trim_start_matches(is_blank).len();
            start..text.len() - behind
        };
        Self {
            old: wider(&self.old, old),
            new: wider(&self.new, new),
        }
    }
}

/// Texts of more tokens are compared by their ends alone.
const MOST_TOKENS: usize = 80;

/// The changed places between two texts. Places that changed in the same way stand for themselves; if they changed in
/// different ways they belong together, like the two halves of a call around something, and are one.
pub(super) fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let (a, b): (Vec<Token>, Vec<Token>) = (Tokens::new(old).collect(), Tokens::new(new).collect());
    let is_same = |x: &Token, y: &Token| x.text(old) == y.text(new);
    let start = a.iter().zip(&b).take_while(|(x, y)| is_same(x, y)).count();
    let end = a[start..]
        .iter()
        .rev()
        .zip(b[start..].iter().rev())
        .take_while(|(x, y)| is_same(x, y))
        .count();
    let (from, to) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    if from.is_empty() && to.is_empty() {
        return Vec::new();
    }
    let whole = Hunk {
        old: bytes(&a, start..a.len() - end, old),
        new: bytes(&b, start..b.len() - end, new),
    };
    if from.len().max(to.len()) > MOST_TOKENS {
        return vec![whole];
    }
    let parts: Vec<Hunk> = changed(from, to, &is_same)
        .into_iter()
        .map(|(x, y)| Hunk {
            old: bytes(&a, start + x.start..start + x.end, old),
            new: bytes(&b, start + y.start..start + y.end, new),
        })
        .collect();
    let texts = |hunk: &Hunk| (&old[hunk.old.clone()], &new[hunk.new.clone()]);
    let is_repeated = parts.windows(2).all(|two| texts(&two[0]) == texts(&two[1]));
    if is_repeated { parts } else { vec![whole] }
}

/// The bytes of some tokens; of none, the place behind the token before.
fn bytes(tokens: &[Token], range: Range<usize>, text: &str) -> Range<usize> {
    match (
        tokens.get(range.start),
        range.end.checked_sub(1).and_then(|ix| tokens.get(ix)),
    ) {
        (Some(first), Some(last)) if !range.is_empty() => first.start..last.end,
        (_, before) => {
            let at = before.map_or(0, |token| token.end).min(text.len());
            at..at
        }
    }
}

/// The runs of tokens that differ, by the longest common subsequence.
pub(super) fn changed(
    a: &[Token],
    b: &[Token],
    is_same: &dyn Fn(&Token, &Token) -> bool,
) -> Vec<(Range<usize>, Range<usize>)> {
    let width = b.len() + 1;
    let mut longest = vec![0_u16; (a.len() + 1) * width];
    for (x, left) in a.iter().enumerate().rev() {
        for (y, right) in b.iter().enumerate().rev() {
            longest[x * width + y] = if is_same(left, right) {
                longest[(x + 1) * width + y + 1] + 1
            } else {
                longest[(x + 1) * width + y].max(longest[x * width + y + 1])
            };
        }
    }
    let mut runs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let (mut x, mut y) = (0, 0);
    let (mut from_x, mut from_y) = (0, 0);
    while x < a.len() || y < b.len() {
        if x < a.len() && y < b.len() && is_same(&a[x], &b[y]) {
            if (from_x, from_y) != (x, y) {
                runs.push((from_x..x, from_y..y));
            }
            (x, y) = (x + 1, y + 1);
            (from_x, from_y) = (x, y);
        } else if y == b.len()
            || x < a.len() && longest[(x + 1) * width + y] >= longest[x * width + y + 1]
        {
            x += 1;
        } else {
            y += 1;
        }
    }
    if (from_x, from_y) != (x, y) {
        runs.push((from_x..x, from_y..y));
    }
    runs
}
