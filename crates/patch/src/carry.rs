//! Carries typographic characters of a file over to new text that uses plain ones.
//!
//! Models quote typographic quotes and dashes as plain ones. Text that a change keeps must read as
//! in the file; text that it adds stays as written.

use crate::diff::diff;
use crate::fold;

/// Minimum similarity at which a new line counts as a changed version of an old one.
const ALIKE: f32 = 0.5;

/// Returns the new text with the file's characters wherever it keeps old text. `None` if it is
/// ambiguous which of several equal characters is kept, or if old text and file differ in more than
/// punctuation.
pub(crate) fn text(old: &str, there: &str, new: &str) -> Option<String> {
    let (olds, theirs): (Vec<char>, Vec<char>) = (old.chars().collect(), there.chars().collect());
    let differ = |(a, b): (&char, &char)| fold::plain(*a) != fold::plain(*b);
    if olds.len() != theirs.len() || olds.iter().zip(&theirs).any(differ) {
        return None;
    }
    let (old, new) = (WordTokens::of(old), WordTokens::of(new));
    let forward = common_tokens(&old, &new);
    let first = carried(&old, &theirs, &new, &forward);
    let backward = common_tokens(&old.reversed(), &new.reversed());
    let backward = mirrored(&backward, old.0.len(), new.0.len());
    (first == carried(&old, &theirs, &new, &backward)).then_some(first)
}

/// Returns the similarity of two lines, from 0 to 1: the share of words that they have in common,
/// in order. Returns 0 if neither line has words.
pub(crate) fn likeness(old: &str, new: &str) -> f32 {
    let (old, new) = (WordTokens::of(old), WordTokens::of(new));
    let words = |tokens: &WordTokens| tokens.0.iter().filter(|token| is_word(token)).count();
    let shared = common_tokens(&old, &new);
    let shared = shared.iter().filter(|(_, ix)| is_word(&new.0[*ix])).count();
    let all = words(&old).max(words(&new));
    match all {
        0 => 0.0,
        all => shared as f32 / all as f32,
    }
}

/// Whether a similarity is high enough for a changed version of the same line.
pub(crate) fn is_changed(likeness: f32) -> bool {
    likeness >= ALIKE
}

/// Words, and every other character separately.
struct WordTokens(Vec<String>);

impl WordTokens {
    fn of(text: &str) -> Self {
        let mut tokens: Vec<String> = Vec::new();
        for sign in text.chars() {
            match tokens.last_mut() {
                Some(last) if is_letter(sign) && is_word(last) => last.push(sign),
                _ => tokens.push(sign.to_string()),
            }
        }
        Self(tokens)
    }

    fn reversed(&self) -> Self {
        Self(self.0.iter().rev().cloned().collect())
    }
}

/// Returns whether a char belongs to a word.
fn is_letter(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Returns whether a token of `WordTokens` is a word; `false` for other characters and an empty
/// text.
fn is_word(token: &str) -> bool {
    token.chars().next().is_some_and(is_letter)
}

/// Returns the index pairs of the tokens that both texts share.
fn common_tokens(old: &WordTokens, new: &WordTokens) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (0, 0);
    let mut kept = Vec::new();
    let runs = diff(old.0.len(), new.0.len(), |a, b| old.0[a] == new.0[b]);
    let end = (old.0.len(), new.0.len());
    let ends = runs.iter().map(|run| (run.old.clone(), run.new.clone()));
    for (gone, come) in ends.chain([(end.0..end.0, end.1..end.1)]) {
        kept.extend((x..gone.start).zip(y..come.start));
        (x, y) = (gone.end, come.end);
    }
    kept
}

/// Maps index pairs of reversed sequences to the original order.
fn mirrored(pairs: &[(usize, usize)], old: usize, new: usize) -> Vec<(usize, usize)> {
    let pairs = pairs.iter().rev();
    pairs.map(|(a, b)| (old - 1 - a, new - 1 - b)).collect()
}

/// Returns the new text with kept tokens as in the file.
fn carried(old: &WordTokens, theirs: &[char], new: &WordTokens, kept: &[(usize, usize)]) -> String {
    let mut starts = Vec::new();
    let mut at = 0;
    for token in &old.0 {
        starts.push(at);
        at += token.chars().count();
    }
    let mut result = String::new();
    let mut kept = kept.iter().peekable();
    for (ix, token) in new.0.iter().enumerate() {
        match kept.next_if(|(_, new)| *new == ix) {
            Some((old, _)) => {
                let start = starts[*old];
                result.extend(&theirs[start..start + token.chars().count()]);
            }
            None => result.push_str(token),
        }
    }
    result
}

#[cfg(test)]
mod tests;
