//! Counting tokens without a tokenizer, and cutting text into the pieces a stream brings.

use crate::rng::Rng;

/// The number of bytes per token. Real tokenizers are near four for English and code; here it only
/// matters that equal text has equal counts in a prompt, a cache and an answer.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;

/// The tokens of so many bytes.
pub(crate) fn of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// The tokens of a text.
pub(crate) fn of_text(text: &str) -> u64 {
    of_bytes(text.len() as u64)
}

/// A piece of a text and the tokens it brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenFragment<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: u64,
}

/// Cuts a text into pieces of about `tokens_per_event` tokens, uneven as real ones are. Pieces end between
/// characters, and their tokens add up to those of the text.
pub(crate) fn fragments<'a>(
    text: &'a str,
    tokens_per_event: u32,
    rng: &mut Rng,
) -> Vec<TokenFragment<'a>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let wanted: u64 = (0..tokens_per_event.max(1))
            .map(|_| 1 + rng.next_below(7))
            .sum();
        let mut end = (start + wanted as usize).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        pieces.push(TokenFragment {
            text: &text[start..end],
            tokens: of_bytes(end as u64) - of_bytes(start as u64),
        });
        start = end;
    }
    pieces
}

/// The longest prefix of a text of at most so many tokens.
pub(crate) fn prefix(text: &str, tokens: u64) -> &str {
    let mut end = ((tokens * BYTES_PER_TOKEN) as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
