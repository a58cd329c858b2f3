//! Reduces an edit to the tokens that differ, without common tokens at both ends.

use std::ops::Range;

use crate::local::token::{CodeToken, CodeTokens};

/// Replaced tokens, in bytes of either text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenHunk {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl TokenHunk {
    /// Adds the adjacent blanks if tokens are only inserted or only removed.
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

/// Maximum number of tokens of a text that is compared in full; longer ones are trimmed at both
/// ends only.
const MAX_TOKENS: usize = 80;

/// Returns the differences between two texts. Places that changed in the same way are separate
/// hunks; places that changed differently belong together, such as the two halves of a call around
/// an expression, and form one hunk.
pub(super) fn hunks(old: &str, new: &str) -> Vec<TokenHunk> {
    let (a, b): (Vec<CodeToken>, Vec<CodeToken>) = (
        CodeTokens::new(old).collect(),
        CodeTokens::new(new).collect(),
    );
    let is_same = |x: &CodeToken, y: &CodeToken| x.text(old) == y.text(new);
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
    let whole = TokenHunk {
        old: bytes(&a, start..a.len() - end, old),
        new: bytes(&b, start..b.len() - end, new),
    };
    if from.len().max(to.len()) > MAX_TOKENS {
        return vec![whole];
    }
    let parts: Vec<TokenHunk> = changed(from, to, &is_same)
        .into_iter()
        .map(|(x, y)| TokenHunk {
            old: bytes(&a, start + x.start..start + x.end, old),
            new: bytes(&b, start + y.start..start + y.end, new),
        })
        .collect();
    let texts = |hunk: &TokenHunk| (&old[hunk.old.clone()], &new[hunk.new.clone()]);
    let is_repeated = parts.windows(2).all(|two| texts(&two[0]) == texts(&two[1]));
    if is_repeated { parts } else { vec![whole] }
}

/// Returns the bytes of some tokens; for an empty range, the offset after the preceding token.
fn bytes(tokens: &[CodeToken], range: Range<usize>, text: &str) -> Range<usize> {
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

/// Returns the runs of tokens that differ, computed by longest common subsequence.
pub(super) fn changed(
    a: &[CodeToken],
    b: &[CodeToken],
    is_same: &dyn Fn(&CodeToken, &CodeToken) -> bool,
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
