//! A vocabulary, and splitting words into its tokens, longest first (WordPiece).
//!
//! Knows: `words`. Must not know: the meaning of a token.
//! A token that may only continue a word is spelt with a leading `##`. Tokens are numbered in the
//! order given.
//! Invariant: every returned number is below [`Vocabulary::len`].

use crate::words::{self, MAX_IDENTIFIER_BYTES, SplitWord};

const EMPTY: u32 = u32::MAX;
const CONTINUES: &[u8] = b"##";

/// The tokens of a WordPiece tokenizer and their numbers, which are their positions in the list.
/// Tokens that continue a word begin with `##`.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// The text of all tokens, concatenated.
    text: Vec<u8>,
    /// The end of each token in `text`.
    ends: Vec<u32>,
    /// Open addressing; a power of two, and at least twice the number of tokens.
    slots: Vec<TokenSlot>,
    /// Length in bytes of the longest token, without `##`.
    longest: usize,
}

/// A slot for a token, with its hash, so that most other tokens need not be compared.
#[derive(Clone, Copy, Debug)]
struct TokenSlot {
    token: u32,
    hash: u32,
}

impl Vocabulary {
    /// Builds a vocabulary. Of several tokens with the same spelling the first keeps its number.
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Self {
        let mut vocabulary = Self::default();
        for token in tokens {
            vocabulary.text.extend_from_slice(token.as_bytes());
            vocabulary.ends.push(vocabulary.text.len() as u32);
        }
        let empty = TokenSlot {
            token: EMPTY,
            hash: 0,
        };
        vocabulary.slots = vec![empty; (2 * vocabulary.len()).next_power_of_two()];
        for token in 0..vocabulary.len() as u32 {
            let (continues, spelling) = split(vocabulary.bytes(token));
            let length = spelling.len();
            let hash = spelling
                .iter()
                .fold(seed(continues), |hash, byte| step(hash, *byte));
            let slot = vocabulary.slot(hash, continues, spelling);
            if vocabulary.slots[slot].token == EMPTY {
                vocabulary.slots[slot] = TokenSlot { token, hash };
            }
            vocabulary.longest = vocabulary.longest.max(length);
        }
        vocabulary
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the spelling of `token`, with `##` if it continues a word; empty for an invalid
    /// number.
    pub fn spelling(&self, token: u32) -> &str {
        if token as usize >= self.len() {
            return "";
        }
        std::str::from_utf8(self.bytes(token)).unwrap_or_default()
    }

    /// Returns the number of the token that is spelt `word` and begins a word, or `None` if there
    /// is no such token.
    pub fn whole_token(&self, word: &str) -> Option<u32> {
        let hash = word.bytes().fold(seed(false), step);
        self.find(hash, false, word.as_bytes())
    }

    /// Calls `each` with the tokens of the first `most` words of `text`, and returns the number of
    /// words.
    pub fn each_token(&self, text: &str, most: usize, mut each: impl FnMut(u32)) -> usize {
        if self.is_empty() {
            return 0;
        }
        words::each(text, most, |word| self.spell(word, &mut each))
    }

    /// Calls `each` with the tokens of a word. A compound identifier counts as a whole only if it
    /// is a token; otherwise its parts represent it.
    pub fn spell(&self, word: SplitWord<'_>, each: &mut impl FnMut(u32)) {
        match word {
            SplitWord::Whole {
                text,
                is_compound: true,
            } => {
                if let Some(token) = self.whole_token(text) {
                    each(token);
                }
            }
            SplitWord::Whole { text, .. } | SplitWord::Part(text) => self.split_word(text, each),
        }
    }

    /// Splits one word into tokens, longest piece first, and calls `each` with their numbers. Does
    /// not call `each` if a part of the word matches no token. Ignores the bytes after the first
    /// `MAX_IDENTIFIER_BYTES`.
    pub fn split_word(&self, word: &str, each: &mut impl FnMut(u32)) {
        let word = word.as_bytes();
        let word = &word[..word.len().min(MAX_IDENTIFIER_BYTES)];
        let mut found = [0; MAX_IDENTIFIER_BYTES];
        let mut count = 0;
        let mut at = 0;
        while at < word.len() {
            let Some((token, length)) = self.longest(at > 0, &word[at..]) else {
                return;
            };
            found[count] = token;
            count += 1;
            at += length;
        }
        found[..count].iter().for_each(|token| each(*token));
    }

    /// Returns the longest token at the start of `rest`, and its length.
    fn longest(&self, continues: bool, rest: &[u8]) -> Option<(u32, usize)> {
        let most = rest.len().min(self.longest).min(MAX_IDENTIFIER_BYTES);
        let mut hashes = [0; MAX_IDENTIFIER_BYTES];
        let mut hash = seed(continues);
        for (kept, byte) in hashes.iter_mut().zip(&rest[..most]) {
            hash = step(hash, *byte);
            *kept = hash;
        }
        (1..=most).rev().find_map(|length| {
            let token = self.find(hashes[length - 1], continues, &rest[..length])?;
            Some((token, length))
        })
    }

    /// Returns the number of the token with these letters; `None` if there is none. `continues`
    /// selects the tokens that may only continue a word, and `hash` is the hash of both.
    fn find(&self, hash: u32, continues: bool, spelling: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let token = self.slots[self.slot(hash, continues, spelling)].token;
        (token != EMPTY).then_some(token)
    }

    /// Returns the slot of the token, or the slot where it would be inserted.
    fn slot(&self, hash: u32, continues: bool, spelling: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        // The high bits of this hash are better mixed.
        let mut slot = (hash ^ (hash >> 15)) as usize & mask;
        loop {
            let TokenSlot { token, hash: known } = self.slots[slot];
            let is_it = || known == hash && split(self.bytes(token)) == (continues, spelling);
            if token == EMPTY || is_it() {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn bytes(&self, token: u32) -> &[u8] {
        let token = token as usize;
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[token] as usize]
    }
}

/// Returns whether a token continues a word, and its letters.
fn split(token: &[u8]) -> (bool, &[u8]) {
    match token.strip_prefix(CONTINUES) {
        Some(rest) if !rest.is_empty() => (true, rest),
        _ => (false, token),
    }
}

/// Returns the initial hash. Tokens that continue a word have another one, so that they hash
/// differently.
fn seed(continues: bool) -> u32 {
    if continues { 0x9e37_79b9 } else { 0x811c_9dc5 }
}

/// Updates the FNV-1a hash: one multiplication per letter, which yields the hash of every prefix of
/// a word.
fn step(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

#[cfg(test)]
mod tests;
