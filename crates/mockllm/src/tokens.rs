//! Counts tokens without a tokenizer, and splits text into the fragments of a stream.

use crate::rng::Rng;

/// The number of bytes per token. Real tokenizers are near four for English and code; here it only
/// matters that equal text has equal counts in a prompt, a cache and an answer.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;

/// Returns the number of tokens of a text of this length in bytes, rounded up.
pub(crate) fn of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Returns the number of tokens of a text.
pub(crate) fn of_text(text: &str) -> u64 {
    of_bytes(text.len() as u64)
}

/// A fragment of a text and the number of tokens that it counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenFragment<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: u64,
}

/// Splits a text into fragments of about `tokens_per_event` tokens, uneven as real ones are. Fragments end between
/// characters, and their tokens add up to those of the text.
pub(crate) fn fragments<'a>(
    text: &'a str,
    tokens_per_event: u32,
    rng: &mut Rng,
) -> Vec<TokenFragment<'a>> {
    let mut fragments = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let length: u64 = (0..tokens_per_event.max(1))
            .map(|_| 1 + rng.next_below(7))
            .sum();
        let mut end = (start + length as usize).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        fragments.push(TokenFragment {
            text: &text[start..end],
            tokens: of_bytes(end as u64) - of_bytes(start as u64),
        });
        start = end;
    }
    fragments
}

/// Returns the longest prefix of a text with at most `tokens` tokens, cut at a char boundary.
pub(crate) fn prefix(text: &str, tokens: u64) -> &str {
    let mut end = ((tokens * BYTES_PER_TOKEN) as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
