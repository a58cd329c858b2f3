//! Words of the text around the caret.
//!
//! Invariant: at most `WINDOW` bytes are read, whatever the length of the text.

use std::collections::HashMap;

use base::{Bias, ByteOffset, Span};
use text::Snapshot;

/// Bytes read before and after the caret.
const WINDOW: usize = 32 * 1024;

/// Longer words are not offered, in bytes.
const MAX_WORD: usize = 100;

/// Returns whether a character is part of an identifier.
pub(crate) fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Returns the start of the word that ends at or contains `offset`; `offset` itself if no word
/// precedes it. Reads at most `MAX_WORD` bytes.
pub(crate) fn word_start(snapshot: &Snapshot, offset: ByteOffset) -> ByteOffset {
    let mut start = offset;
    for char in snapshot.chars_before(offset) {
        if !is_word_char(char) || offset - start >= MAX_WORD {
            break;
        }
        start = ByteOffset(start.0 - char.len_utf8());
    }
    start
}

/// Returns the words near `offset` with the distance of their nearest use in bytes, except the word
/// at `offset` itself and words shorter than `min` characters. Words that begin with a digit are
/// left out. The order is not defined.
pub(crate) fn nearby_words(
    snapshot: &Snapshot,
    offset: ByteOffset,
    min: usize,
) -> Vec<(String, u32)> {
    let start = ByteOffset(offset.0.saturating_sub(WINDOW));
    let end = (offset + WINDOW).min(snapshot.len());
    let span = Span::new(
        snapshot.clip(start, Bias::Right),
        snapshot.clip(end, Bias::Left),
    );
    let text = snapshot.text(span);
    let caret = offset.0 - span.start.0;
    let mut nearest: HashMap<&str, u32> = HashMap::new();
    for (at, word) in words(&text) {
        let is_cut = at == 0 && span.start.0 > 0
            || at + word.len() == text.len() && span.end < snapshot.len();
        let is_at_caret = at <= caret && caret <= at + word.len();
        let begins_with_digit = word.starts_with(|char: char| char.is_numeric());
        let is_offered = word.len() >= min && word.chars().nth(min.saturating_sub(1)).is_some();
        if is_cut || is_at_caret || begins_with_digit || !is_offered || word.len() > MAX_WORD {
            continue;
        }
        let distance = u32::try_from(at.abs_diff(caret)).unwrap_or(u32::MAX);
        let known = nearest.entry(word).or_insert(distance);
        *known = (*known).min(distance);
    }
    let owned = nearest.into_iter();
    owned
        .map(|(word, distance)| (word.to_owned(), distance))
        .collect()
}

/// Iterates over the words of a text and their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(is_word_char)?;
        let rest = &text[at..];
        let len = rest.find(|char| !is_word_char(char)).unwrap_or(rest.len());
        let word = (at, &rest[..len]);
        at += len;
        Some(word)
    })
}
