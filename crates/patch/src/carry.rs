//! The typographic signs of a file, carried over to new text that was written with plain ones.
//!
//! A model quotes typographic quotes and dashes as plain ones. What its change leaves alone is still to read as the file
//! has it; what it writes anew reads as written.

use crate::diff::diff;
use crate::fold;

/// Less of a new line than this that the old one has too, and it is another line.
const ALIKE: f32 = 0.5;

/// The new text with the signs of the file wherever it keeps the old text. `None` where it is not
/// told which of several like signs is kept, or where old and file differ in more than signs.
pub(crate) fn text(old: &str, there: &str, new: &str) -> Option<String> {
    let (olds, theirs): (Vec<char>, Vec<char>) = (old.chars().collect(), there.chars().collect());
    let differ = |(a, b): (&char, &char)| fold::plain(*a) != fold::plain(*b);
    if olds.len() != theirs.len() || olds.iter().zip(&theirs).any(differ) {
        return None;
    }
    let (old, new) = (Tokens::of(old), Tokens::of(new));
    let forward = kept(&old, &new);
    let first = carried(&old, &theirs, &new, &forward);
    let backward = kept(&old.reversed(), &new.reversed());
    let backward = mirrored(&backward, old.0.len(), new.0.len());
    (first == carried(&old, &theirs, &new, &backward)).then_some(first)
}

/// How much of a new line an old one has too, from 0 to 1: by the words of both.
pub(crate) fn likeness(old: &str, new: &str) -> f32 {
    let (old, new) = (Tokens::of(old), Tokens::of(new));
    let words = |tokens: &Tokens| tokens.0.iter().filter(|token| is_word(token)).count();
    let shared = kept(&old, &new);
    let shared = shared.iter().filter(|(_, ix)| is_word(&new.0[*ix])).count();
    let all = words(&old).max(words(&new));
    match all {
        0 => 0.0,
        all => shared as f32 / all as f32,
    }
}

/// Whether a new line is an old one with a change in it.
pub(crate) fn is_changed(likeness: f32) -> bool {
    likeness >= ALIKE
}

/// Words, and every other sign by itself.
struct Tokens(Vec<String>);

impl Tokens {
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

fn is_letter(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

fn is_word(token: &str) -> bool {
    token.chars().next().is_some_and(is_letter)
}

/// The tokens of the old text that the new one keeps, by their places in both.
fn kept(old: &Tokens, new: &Tokens) -> Vec<(usize, usize)> {
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

/// Pairs of reversed sequences as pairs of the sequences.
fn mirrored(pairs: &[(usize, usize)], old: usize, new: usize) -> Vec<(usize, usize)> {
    let pairs = pairs.iter().rev();
    pairs.map(|(a, b)| (old - 1 - a, new - 1 - b)).collect()
}

/// The new text, kept tokens as the file has them.
fn carried(old: &Tokens, theirs: &[char], new: &Tokens, kept: &[(usize, usize)]) -> String {
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
