//! A vocabulary and the cutting of words into its tokens, longest first (WordPiece).
//!
//! Knows: `words`. Must not know: what a token means.
//! A token that may only continue a word is spelt with `##` before it. Tokens are numbered in the order given.
//! Invariant: a number told is below [`Vocabulary::len`].

use crate::words::{self, LONGEST, Word};

const EMPTY: u32 = u32::MAX;
const CONTINUES: &[u8] = b"##";

/// Tokens and their numbers.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// All tokens, one behind the other.
    text: Vec<u8>,
    /// Where each token ends in `text`.
    ends: Vec<u32>,
    /// Open addressing; a power of two and at least twice as many as tokens.
    slots: Vec<Slot>,
    /// Bytes of the longest token, `##` not counted.
    longest: usize,
}

/// A place for a token, with the hash of how it is spelt, so that most others need not be looked at.
#[derive(Clone, Copy, Debug)]
struct Slot {
    token: u32,
    hash: u32,
}

impl Vocabulary {
    /// Of several tokens that are spelt alike the first has the number.
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Self {
        let mut vocabulary = Self::default();
        for token in tokens {
            vocabulary.text.extend_from_slice(token.as_bytes());
            vocabulary.ends.push(vocabulary.text.len() as u32);
        }
        let empty = Slot {
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
                vocabulary.slots[slot] = Slot { token, hash };
            }
            vocabulary.longest = vocabulary.longest.max(length);
        }
        vocabulary
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How `token` is spelt, with `##` where it continues a word; empty for a number that is not one.
    pub fn spelling(&self, token: u32) -> &str {
        if token as usize >= self.len() {
            return "";
        }
        std::str::from_utf8(self.bytes(token)).unwrap_or_default()
    }

    /// The number of the token that is spelt `word` and begins a word.
    pub fn whole(&self, word: &str) -> Option<u32> {
        let hash = word.bytes().fold(seed(false), step);
        self.find(hash, false, word.as_bytes())
    }

    /// Calls `each` with the tokens of the first `most` words of `text`, and answers how many words there were.
    pub fn each_token(&self, text: &str, most: usize, mut each: impl FnMut(u32)) -> usize {
        if self.is_empty() {
            return 0;
        }
        words::each(text, most, |word| self.spell(word, &mut each))
    }

    /// Calls `each` with the tokens of a word. An identifier that has parts counts as a whole only where it is a token;
    /// otherwise its parts speak for it.
    pub fn spell(&self, word: Word<'_>, each: &mut impl FnMut(u32)) {
        match word {
            Word::Whole {
                text,
                is_compound: true,
            } => {
                if let Some(token) = self.whole(text) {
                    each(token);
                }
            }
            Word::Whole { text, .. } | Word::Part(text) => self.pieces(text, each),
        }
    }

    /// Cuts one word, longest piece first; tells nothing where the letters run out of pieces.
    pub fn pieces(&self, word: &str, each: &mut impl FnMut(u32)) {
        let word = word.as_bytes();
        let word = &word[..word.len().min(LONGEST)];
        let mut found = [0; LONGEST];
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

    /// The longest token at the start of `rest`, and its length.
    fn longest(&self, continues: bool, rest: &[u8]) -> Option<(u32, usize)> {
        let most = rest.len().min(self.longest).min(LONGEST);
        let mut hashes = [0; LONGEST];
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

    fn find(&self, hash: u32, continues: bool, spelling: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let token = self.slots[self.slot(hash, continues, spelling)].token;
        (token != EMPTY).then_some(token)
    }

    /// Where the token is, or where it would be put.
    fn slot(&self, hash: u32, continues: bool, spelling: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        // The high bits of this hash are the better mixed ones.
        let mut slot = (hash ^ (hash >> 15)) as usize & mask;
        loop {
            let Slot { token, hash: known } = self.slots[slot];
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

/// Whether a token continues a word, and its letters.
fn split(token: &[u8]) -> (bool, &[u8]) {
    match token.strip_prefix(CONTINUES) {
        Some(rest) if !rest.is_empty() => (true, rest),
        _ => (false, token),
    }
}

fn seed(continues: bool) -> u32 {
    if continues { 0x9e37_79b9 } else { 0x811c_9dc5 }
}

/// FNV-1a: one multiplication a letter, and the hash of every beginning of a word comes along the way.
fn step(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

#[cfg(test)]
mod tests;
