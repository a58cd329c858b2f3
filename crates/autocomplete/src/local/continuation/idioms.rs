//! Idioms of languages: tokens that follow a few others in the code of many projects.
//!
//! A table of contexts, each the hash of up to `MAX_ORDER` tokens and a language, with the tokens
//! that most often follow. It holds for every project, so a new one without similar code has
//! candidates, too. `cargo xtask train-tab` counts it in the packages that the tables are fitted to.
//! Invariant: a lookup takes the time of a binary search for each order.

use super::features;
use super::tables::{self, TableError, sealed, unsealed};
use crate::local::corpus::stream::{NEWLINE, PackedToken, TokenGap};

const MAGIC: &[u8; 8] = b"TABIDIO2";

/// Largest number of tokens of a context.
pub const MAX_ORDER: usize = 4;

/// Largest number of tokens known to follow a context.
pub const MAX_FOLLOWERS: usize = 3;

/// Tokens that follow contexts in the code of many projects.
#[derive(Default)]
pub struct IdiomTable {
    texts: Vec<String>,
    /// Sorted by hash.
    contexts: Vec<(u32, [IdiomFollower; MAX_FOLLOWERS])>,
}

/// A token that follows a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdiomFollower {
    /// Index of its text; `u16::MAX` for none.
    pub text: u16,
    /// White space before it, as the corpus packs it.
    pub gap: u8,
    /// How often the context is followed by it, in 250ths.
    pub share: u8,
}

/// Hashes of the contexts that end at a token, the shortest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdiomContext {
    language: i16,
    /// Hashes of the tokens before, the nearest first.
    tokens: [u32; MAX_ORDER],
}

/// A candidate of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Idiom<'a> {
    pub(super) text: &'a str,
    pub(super) gap: TokenGap,
    /// From 0 to 1.
    pub(super) share: f32,
    /// Tokens of the context.
    pub(super) order: usize,
}

impl Idiom<'_> {
    /// Whether it is this token. Line breaks with different indentation are different ones; the
    /// blanks before other tokens do not count.
    pub(super) fn is(&self, text: &str, gap: TokenGap) -> bool {
        let is_newline = |gap| matches!(gap, TokenGap::Line { .. });
        self.text == text && (self.gap == gap || !is_newline(self.gap) && !is_newline(gap))
    }
}

impl IdiomContext {
    /// Returns the context at the start of a text in the language `name`.
    pub fn new(name: &str) -> Self {
        Self::of_class(features::language_class(name))
    }

    pub(super) fn of_class(language: i16) -> Self {
        Self {
            language,
            tokens: [0; MAX_ORDER],
        }
    }

    /// Appends a token; numbers are alike, and a line break is `"\n"`.
    pub fn push(&mut self, token: &str) {
        self.tokens.rotate_right(1);
        let is_number = token.starts_with(|ch: char| ch.is_ascii_digit());
        self.tokens[0] = tables::hash(if is_number { b"0" } else { token.as_bytes() });
    }

    /// Returns the hashes of its contexts, the shortest first.
    pub fn hashes(&self) -> [u32; MAX_ORDER] {
        // The dialects of JavaScript share their idioms.
        let language = if self.language == 5 { 4 } else { self.language };
        let mut all = language.unsigned_abs().into();
        self.tokens.map(|token| {
            all = hash_number(all ^ token.rotate_left(7));
            all
        })
    }
}

/// Mixes the bits of a number.
fn hash_number(number: u32) -> u32 {
    let mut hash = number.wrapping_mul(0x9e37_79b1);
    hash ^= hash >> 15;
    hash = hash.wrapping_mul(0x85eb_ca77);
    hash ^ hash >> 13
}

impl IdiomTable {
    /// Makes a table; `contexts` may be in any order, and of equal hashes the first counts.
    pub fn new(
        texts: Vec<String>,
        mut contexts: Vec<(u32, [IdiomFollower; MAX_FOLLOWERS])>,
    ) -> Self {
        contexts.sort_by_key(|(hash, _)| *hash);
        contexts.dedup_by_key(|(hash, _)| *hash);
        Self { texts, contexts }
    }

    /// Whether it knows no context.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.contexts.is_empty()
    }

    /// Returns the tokens known to follow the longest known context, the most frequent first, and
    /// those known to follow its longest context of at most two tokens.
    pub(super) fn followers(&self, context: &IdiomContext) -> [Vec<Idiom<'_>>; 2] {
        let hashes = context.hashes();
        let longest = |most: usize| {
            let orders = (1..=most).rev();
            let mut found = orders.map(|order| self.of_order(&hashes, order));
            found.find(|found| !found.is_empty()).unwrap_or_default()
        };
        [longest(MAX_ORDER), longest(2)]
    }

    fn of_order(&self, hashes: &[u32; MAX_ORDER], order: usize) -> Vec<Idiom<'_>> {
        let ix = self
            .contexts
            .binary_search_by_key(&hashes[order - 1], |(hash, _)| *hash);
        let followers = ix.ok().and_then(|ix| self.contexts.get(ix));
        let followers = followers.map_or(&[] as &[_], |(_, followers)| followers);
        let idiom = |follower: &IdiomFollower| {
            let text = self.texts.get(usize::from(follower.text))?;
            let gap = PackedToken::unpacked(text == "\n", follower.gap);
            (gap != TokenGap::Odd).then(|| Idiom {
                text: if text == "\n" { "" } else { text },
                gap,
                share: f32::from(follower.share) / 250.0,
                order,
            })
        };
        followers.iter().filter_map(idiom).collect()
    }

    /// Reads a table written by `to_bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TableError> {
        let mut reader = unsealed(MAGIC, bytes)?;
        let count = u32::from_le_bytes(reader.take()?);
        let mut texts = Vec::new();
        for _ in 0..count {
            let [length] = reader.take()?;
            let text = reader.split(usize::from(length))?;
            let text = std::str::from_utf8(text).map_err(|_| TableError::Damaged)?;
            texts.push(text.to_owned());
        }
        let count = u32::from_le_bytes(reader.take()?);
        let mut contexts = Vec::new();
        for _ in 0..count {
            let hash = u32::from_le_bytes(reader.take()?);
            let mut followers = [IdiomFollower::default(); MAX_FOLLOWERS];
            for follower in &mut followers {
                follower.text = u16::from_le_bytes(reader.take()?);
                [follower.gap, follower.share] = reader.take()?;
            }
            contexts.push((hash, followers));
        }
        Ok(Self::new(texts, contexts))
    }

    /// Returns the bytes of the file that ships.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((self.texts.len() as u32).to_le_bytes());
        for text in &self.texts {
            bytes.push(text.len() as u8);
            bytes.extend(text.as_bytes());
        }
        bytes.extend((self.contexts.len() as u32).to_le_bytes());
        for (hash, followers) in &self.contexts {
            bytes.extend(hash.to_le_bytes());
            for follower in followers {
                bytes.extend(follower.text.to_le_bytes());
                bytes.extend([follower.gap, follower.share]);
            }
        }
        sealed(MAGIC, &bytes)
    }
}

/// Calls `each` with the context before every token of a text in the language `name`, the token's
/// text (`"\n"` for a line break) and the white space before it, as a table holds it.
pub fn each_idiom(text: &str, name: &str, each: &mut dyn FnMut(&IdiomContext, &str, u8)) {
    let mut words: Vec<String> = Vec::new();
    let items = crate::local::corpus::stream::items(text, |word| {
        words.push(word.to_owned());
        crate::local::corpus::stream::FIRST_WORD
    });
    let mut words = words.into_iter();
    let mut context = IdiomContext::new(name);
    for item in items {
        let word = match item.word_number() {
            NEWLINE => "\n".to_owned(),
            _ => words.next().unwrap_or_default(),
        };
        each(&context, &word, item.packed_gap());
        context.push(&word);
    }
}

#[cfg(test)]
mod tests {
    use super::{IdiomContext, IdiomFollower, IdiomTable, each_idiom};
    use crate::local::corpus::stream::TokenGap;

    /// A table of all that follows in one text.
    fn table(text: &str) -> IdiomTable {
        let mut texts: Vec<String> = Vec::new();
        let mut contexts = Vec::new();
        each_idiom(text, "Go", &mut |context, token, gap| {
            texts.push(token.to_owned());
            let mut followers = [IdiomFollower {
                text: u16::MAX,
                ..IdiomFollower::default()
            }; 3];
            followers[0] = IdiomFollower {
                text: texts.len() as u16 - 1,
                gap,
                share: 250,
            };
            contexts.push((context.hashes()[2], followers));
        });
        IdiomTable::new(texts, contexts)
    }

    #[test]
    fn a_known_context_is_followed_by_its_token() {
        let table = table("\tif err != nil {\n\t\treturn err\n\t}\n");
        let table = IdiomTable::from_bytes(&table.to_bytes()).expect("a table");
        let mut context = IdiomContext::new("Go");
        for token in ["x", "if", "err", "!="] {
            context.push(token);
        }
        let [found, _] = table.followers(&context);
        assert_eq!((found[0].text, found[0].gap), ("nil", TokenGap::Spaces(1)));
        context.push("nil");
        context.push("{");
        let [found, _] = table.followers(&context);
        let deeper = TokenGap::Line {
            steps: 1,
            is_blank: false,
        };
        assert_eq!((found[0].text, found[0].gap), ("", deeper));
        let mut other = IdiomContext::new("Rust");
        for token in ["if", "err", "!="] {
            other.push(token);
        }
        assert!(table.followers(&other)[0].is_empty());
    }
}
