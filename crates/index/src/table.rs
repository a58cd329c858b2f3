//! The table that gives a text its place among meanings: one row of small integers for every token.
//!
//! Knows: `words`, `wordpiece`. Must not know: files, chunks, how vectors are kept.
//! The vector of a text is the sum of its tokens' rows, brought to length one. A token that comes again counts less
//! each time, one at the beginning more. Nothing here fails on a text: what has no known word has the vector of zeros.
//! Start at [`Table::shipped`] and [`Table::encode`]; the bytes are told in `format`, tables of others in `model2vec`.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use base::never;

use crate::wordpiece::Vocabulary;

mod format;
mod model2vec;

pub use format::{TableError, pack};

/// How many numbers a vector has.
pub const DIMS: usize = 256;

/// So many words of a text are looked at, parts of identifiers counted.
pub const MOST_WORDS: usize = 300;

/// Enough for [`MOST_WORDS`] words; a text of words in many pieces ends here.
const MOST_TOKENS: usize = 512;

/// So many tokens at the beginning count as if they came [`OF_HEAD`] times.
const HEAD: usize = 12;
const OF_HEAD: usize = 3;

static SHIPPED: &[u8] = include_bytes!("../../../assets/models/code-embedding.bin");

/// A text's place: `values[i] * scale` has length one within rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector {
    /// All zero where nothing of the text is known.
    pub values: [i8; DIMS],
    /// Zero where nothing of the text is known.
    pub scale: f32,
}

impl Vector {
    /// Nothing is known.
    pub const ZERO: Self = Self {
        values: [0; DIMS],
        scale: 0.0,
    };

    /// `numbers` need not have length one.
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

    /// How near two texts are: 1 for the same, 0 for strangers.
    pub fn cosine(&self, other: &Self) -> f32 {
        let pairs = self.values.iter().zip(&other.values);
        let dot: i32 = pairs
            .map(|(one, other)| i32::from(*one) * i32::from(*other))
            .sum();
        dot as f32 * self.scale * other.scale
    }
}

/// Tokens and their rows. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Table {
    vocabulary: Arc<Vocabulary>,
    bytes: Cow<'static, [u8]>,
    /// Where the rows begin in `bytes`; they go to the end.
    rows: usize,
    hash: [u8; 8],
}

impl Table {
    /// The table that Burin brings along. Its rows are read where they lie in the program.
    pub fn shipped() -> &'static Table {
        static TABLE: LazyLock<Table> = LazyLock::new(|| {
            Table::parse(SHIPPED).unwrap_or_else(|error| {
                never!("{error}");
                Table::nothing()
            })
        });
        &TABLE
    }

    /// Reads what [`pack`] wrote. Borrowed bytes are not copied.
    ///
    /// # Errors
    /// The bytes are torn, of something else, or of another version; the error says which.
    pub fn parse(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Table, TableError> {
        format::parse(bytes.into())
    }

    /// Reads a table in the layout of model2vec: the bytes of `model.safetensors` and the text of `tokenizer.json`.
    ///
    /// # Errors
    /// The files do not fit each other, are torn, or hold what this cannot use; the error says which.
    pub fn from_model2vec(safetensors: &[u8], tokenizer: &str) -> Result<Table, TableError> {
        model2vec::read(safetensors, tokenizer)
    }

    fn nothing() -> Table {
        Table {
            vocabulary: Arc::default(),
            bytes: Cow::Borrowed(&[]),
            rows: 0,
            hash: [0; 8],
        }
    }

    /// Names the table. Stored beside every vector: vectors of different tables cannot be compared.
    pub fn hash(&self) -> [u8; 8] {
        self.hash
    }

    /// The tokens; a token's number is that of its row.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// How many bytes the table takes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The place of `text` among meanings.
    pub fn encode(&self, text: &str) -> Vector {
        let mut tokens = Tokens::default();
        self.vocabulary
            .each_token(text, MOST_WORDS, |token| tokens.push(token));
        self.encode_tokens(tokens)
    }

    /// The place of the text that has these tokens.
    pub fn encode_tokens(&self, tokens: Tokens) -> Vector {
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
    reason = "the processor is asked whether it has the instructions that the function is compiled for"
)]
fn add_row(row: &[u8; DIMS], weight: i32, sum: &mut [i32; DIMS]) {
    #[target_feature(enable = "avx2")]
    fn wide(row: &[u8; DIMS], weight: i32, sum: &mut [i32; DIMS]) {
        add_each(row, weight, sum);
    }
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the instructions are there.
        return unsafe { wide(row, weight, sum) };
    }
    add_each(row, weight, sum);
}

#[cfg(not(target_arch = "x86_64"))]
fn add_row(row: &[u8; DIMS], weight: i32, sum: &mut [i32; DIMS]) {
    add_each(row, weight, sum);
}

/// [`MOST_TOKENS`] times the largest weight times a byte fits; told to wrap, it is done in wide steps by every build.
#[inline(always)]
fn add_each(row: &[u8; DIMS], weight: i32, sum: &mut [i32; DIMS]) {
    for (sum, byte) in sum.iter_mut().zip(row) {
        *sum = sum.wrapping_add(weight.wrapping_mul(i32::from(*byte as i8)));
    }
}

/// Calls `each` with every token of `text`, each once and in the order of their numbers, and how much it counts.
pub fn each_weighed(vocabulary: &Vocabulary, text: &str, each: impl FnMut(u32, i32)) {
    let mut tokens = Tokens::default();
    vocabulary.each_token(text, MOST_WORDS, |token| tokens.push(token));
    tokens.each_weighed(each);
}

/// The tokens of a text, in its order.
pub struct Tokens {
    tokens: [u32; MOST_TOKENS],
    count: usize,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            tokens: [0; MOST_TOKENS],
            count: 0,
        }
    }
}

impl Tokens {
    /// Adds the next token. What is beyond the most that counts is left out.
    pub fn push(&mut self, token: u32) {
        // What a text begins with says most: a path, a name, its arguments.
        let is_head = self.count < HEAD * OF_HEAD;
        let times = if is_head { OF_HEAD } else { 1 };
        for slot in self.tokens.iter_mut().skip(self.count).take(times) {
            *slot = token;
            self.count += 1;
        }
    }

    /// Calls `each` with every token, each once and in the order of their numbers, and how much it counts.
    fn each_weighed(mut self, mut each: impl FnMut(u32, i32)) {
        let tokens = &mut self.tokens[..self.count];
        tokens.sort_unstable();
        for same in tokens.chunk_by(|one, other| one == other) {
            each(same[0], weight(same.len()));
        }
    }
}

/// How much a token counts that comes `count` times, in sixteenths: a body that says `self` thirty times is not
/// about that. Integers, so that every machine gives the same vector.
fn weight(count: usize) -> i32 {
    let square = 256 * count.min(MOST_TOKENS) as u32;
    square.isqrt() as i32
}

#[cfg(test)]
mod tests;
