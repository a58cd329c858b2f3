//! The embedding table: one row of small integers for every token.
//!
//! Knows: `words`, `wordpiece`. Must not know: files, chunks, how vectors are stored.
//! The vector of a text is the normalized sum of its tokens' rows. A repeated token counts less
//! each time, one at the beginning more. No text is an error: a text without known words has the
//! zero vector.
//! Start at [`Table::shipped`] and [`Table::encode`]; `format` describes the bytes, `model2vec`
//! reads third-party tables.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use base::never;

use crate::wordpiece::Vocabulary;

mod format;
mod model2vec;

pub use format::{TableError, pack};

/// The dimension of a vector.
pub const DIMS: usize = 256;

/// Maximum number of words of a text that are used, including parts of identifiers.
pub const MAX_WORDS: usize = 300;

/// Enough for [`MAX_WORDS`] words; a text whose words have many pieces is cut here.
const MAX_TOKENS: usize = 512;

/// This many tokens at the beginning count as if they occurred [`OF_HEAD`] times.
const HEAD: usize = 12;
const OF_HEAD: usize = 3;

static SHIPPED: &[u8] = include_bytes!("../../../assets/models/code-embedding.bin");

/// The embedding of a text, quantised to bytes: the vector of all `values[i] * scale` has length
/// one, up to rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector {
    /// All zero if no word of the text is known.
    pub values: [i8; DIMS],
    /// Zero if no word of the text is known.
    pub scale: f32,
}

impl Vector {
    /// The vector of a text without known words.
    pub const ZERO: Self = Self {
        values: [0; DIMS],
        scale: 0.0,
    };

    /// Normalizes and quantizes a vector of any length. Returns `ZERO` if all numbers are zero or
    /// the length is not finite.
    pub fn new(numbers: &[f32; DIMS]) -> Self {
        let most = numbers
            .iter()
            .fold(0.0_f32, |most, number| most.max(number.abs()));
        let length = numbers
            .iter()
            .map(|number| number * number)
            .sum::<f32>()
            .sqrt();
        if most <= 0.0 || !length.is_finite() {
            return Self::ZERO;
        }
        Self {
            values: numbers.map(|number| (number * (127.0 / most)).round() as i8),
            scale: most / (127.0 * length),
        }
    }

    /// Returns the cosine similarity of two vectors of the same table, from -1 to 1: 1 for equal
    /// texts, about 0 for unrelated ones, and 0 if one vector is `ZERO`.
    pub fn cosine(&self, other: &Self) -> f32 {
        let pairs = self.values.iter().zip(&other.values);
        let dot: i32 = pairs
            .map(|(one, other)| i32::from(*one) * i32::from(*other))
            .sum();
        dot as f32 * self.scale * other.scale
    }
}

/// A table of tokens and their vectors, from which texts are embedded without a neural network.
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct EmbeddingTable {
    vocabulary: Arc<Vocabulary>,
    bytes: Cow<'static, [u8]>,
    /// The offset in `bytes` where the rows begin; they extend to the end.
    rows: usize,
    hash: [u8; 8],
}

impl EmbeddingTable {
    /// Returns the table that ships with Burin. Its rows are read in place from the program.
    pub fn shipped() -> &'static EmbeddingTable {
        static TABLE: LazyLock<EmbeddingTable> = LazyLock::new(|| {
            EmbeddingTable::parse(SHIPPED).unwrap_or_else(|error| {
                never!("{error}");
                EmbeddingTable::nothing()
            })
        });
        &TABLE
    }

    /// Parses a table written by [`pack`]. Borrowed bytes are not copied.
    ///
    /// # Errors
    /// The bytes are damaged, not a table, or of another version; the error says which.
    pub fn parse(bytes: impl Into<Cow<'static, [u8]>>) -> Result<EmbeddingTable, TableError> {
        format::parse(bytes.into())
    }

    /// Parses a table in the layout of model2vec: the bytes of `model.safetensors` and the text of
    /// `tokenizer.json`.
    ///
    /// # Errors
    /// The files do not fit each other, are damaged, or have unsupported contents; the error says
    /// which.
    pub fn from_model2vec(
        safetensors: &[u8],
        tokenizer: &str,
    ) -> Result<EmbeddingTable, TableError> {
        model2vec::read(safetensors, tokenizer)
    }

    fn nothing() -> EmbeddingTable {
        EmbeddingTable {
            vocabulary: Arc::default(),
            bytes: Cow::Borrowed(&[]),
            rows: 0,
            hash: [0; 8],
        }
    }

    /// Returns a hash that identifies the table. The hash is stored with the vectors, because
    /// vectors of different tables cannot be compared.
    pub fn hash(&self) -> [u8; 8] {
        self.hash
    }

    /// Returns the tokens; a token's number is that of its row.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the size of the table in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the embedding of `text`: the weighted sum of the vectors of the tokens in its first
    /// `MAX_WORDS` words. Returns `Vector::ZERO` if all of these words are unknown.
    pub fn encode(&self, text: &str) -> Vector {
        let mut tokens = TokenList::default();
        self.vocabulary
            .each_token(text, MAX_WORDS, |token| tokens.push(token));
        self.encode_tokens(tokens)
    }

    /// Embeds the text that has these tokens.
    pub fn encode_tokens(&self, tokens: TokenList) -> Vector {
        let mut sum = [0_i32; DIMS];
        tokens.each_weighed(|token, weight| self.add(token, weight, &mut sum));
        Vector::new(&sum.map(|number| number as f32))
    }

    fn add(&self, token: u32, weight: i32, sum: &mut [i32; DIMS]) {
        let start = self.rows + token as usize * DIMS;
        let row = self.bytes.get(start..start + DIMS);
        if let Some(row) = row.and_then(|row| row.as_array::<DIMS>()) {
            add_row(row, weight, sum);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "the required processor features are checked at run time"
)]
fn add_row(row: &[u8; DIMS], weight: i32, sum: &mut [i32; DIMS]) {
    #[target_feature(enable = "avx2")]
    fn wide(row: &[u8; DIMS], weight: i32, sum: &mut [i32; DIMS]) {
        add_each(row, weight, sum);
    }
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the required instructions were detected.
        return unsafe { wide(row, weight, sum) };
    }
    add_each(row, weight, sum);
}

#[cfg(not(target_arch = "x86_64"))]
fn add_row(row: &[u8; DIMS], weight: i32, sum: &mut [i32; DIMS]) {
    add_each(row, weight, sum);
}

/// Adds a row. [`MOST_TOKENS`] times the largest weight times a byte cannot overflow; wrapping
/// addition lets every build vectorize it.
#[inline(always)]
fn add_each(row: &[u8; DIMS], weight: i32, sum: &mut [i32; DIMS]) {
    for (sum, byte) in sum.iter_mut().zip(row) {
        *sum = sum.wrapping_add(weight.wrapping_mul(i32::from(*byte as i8)));
    }
}

/// Calls `each` with every distinct token of `text`, in numerical order, with its weight. The
/// weight grows with the number of occurrences, and the first words count several times.
pub fn each_weighed(vocabulary: &Vocabulary, text: &str, each: impl FnMut(u32, i32)) {
    let mut tokens = TokenList::default();
    vocabulary.each_token(text, MAX_WORDS, |token| tokens.push(token));
    tokens.each_weighed(each);
}

/// The tokens of a text, in order, in a list of fixed capacity. The first tokens are entered
/// several times, which gives them more weight.
pub struct TokenList {
    tokens: [u32; MAX_TOKENS],
    count: usize,
}

impl Default for TokenList {
    fn default() -> Self {
        Self {
            tokens: [0; MAX_TOKENS],
            count: 0,
        }
    }
}

impl TokenList {
    /// Adds the next token. Tokens beyond the maximum are dropped.
    pub fn push(&mut self, token: u32) {
        // The beginning of a text is the most significant: a path, a name, its arguments.
        let is_head = self.count < HEAD * OF_HEAD;
        let times = if is_head { OF_HEAD } else { 1 };
        for slot in self.tokens.iter_mut().skip(self.count).take(times) {
            *slot = token;
            self.count += 1;
        }
    }

    /// Calls `each` with every distinct token, in numerical order, and its weight.
    fn each_weighed(mut self, mut each: impl FnMut(u32, i32)) {
        let tokens = &mut self.tokens[..self.count];
        tokens.sort_unstable();
        for same in tokens.chunk_by(|one, other| one == other) {
            each(same[0], weight(same.len()));
        }
    }
}

/// Returns the weight, in sixteenths, of a token that occurs `count` times: a body that says `self`
/// thirty times is not about that. Integers, so that every machine computes the same vector.
fn weight(count: usize) -> i32 {
    let square = 256 * count.min(MAX_TOKENS) as u32;
    square.isqrt() as i32
}

#[cfg(test)]
mod tests;
