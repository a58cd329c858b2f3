//! Counts the words of a file's chunks, and tokenizes each distinct word once.
//!
//! Most words of a file occur many times. Its text is split into words once, both for counting and
//! for the embedding.
//! Invariant: the tokens are those that `Table::encode` would find in the same text.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::chunk::CodeChunk;
use crate::delta::WordHasher;
use crate::embedding::{self, TokenList};
use crate::record::FileWords;
use crate::wordpiece::Vocabulary;
use crate::words::{SplitWord, each, each_word};

use super::{DEFINES, PathParts, STEM, plain_name};

/// Maximum number of words of a chunk that are counted.
const MAX_WORDS: usize = 4_000;
/// Marks the end of a list of postings.
const NONE: u32 = u32::MAX;

/// Counts the words of a file's chunks.
pub(super) struct Counter<'a> {
    vocabulary: &'a Vocabulary,
    numbers: HashMap<Box<str>, u32, BuildHasherDefault<WordHasher>>,
    words: Vec<CountedWord>,
    places: Vec<WordPosting>,
    /// The tokens of all tokenized words, concatenated.
    tokens: Vec<u32>,
}

/// A distinct word of the file.
struct CountedWord {
    /// The index of its last posting in `places`.
    last: u32,
    /// Its ranges in `tokens`, once requested: as a compound identifier, and as any other word.
    spelt: [Option<(u32, u32)>; 2],
}

/// A chunk that contains a word, the count, and the index of the previous posting.
struct WordPosting {
    chunk: u32,
    count: u16,
    before: u32,
}

impl<'a> Counter<'a> {
    pub(super) fn new(vocabulary: &'a Vocabulary) -> Self {
        Self {
            vocabulary,
            numbers: HashMap::default(),
            words: Vec::new(),
            places: Vec::new(),
            tokens: Vec::new(),
        }
    }

    /// Counts a chunk and returns its number of words. `embedded` holds the tokens of the text
    /// embedded before the code, which is `before` words long, and receives those of the code.
    pub(super) fn chunk(
        &mut self,
        ix: u32,
        chunk: &CodeChunk,
        code: &str,
        place: &PathParts<'_>,
        (embedded, before): (&mut TokenList, usize),
    ) -> u16 {
        let mut left = embedding::MAX_WORDS.saturating_sub(before);
        let mut length = each(code, MAX_WORDS, |word| {
            let number = self.add(ix, word.text());
            if left > 0 {
                left -= 1;
                self.spell(number, word, embedded);
            }
        });
        let mut count = |name: &str| {
            each_word(name, MAX_WORDS, |word| {
                length += 1;
                self.add(ix, word);
            });
        };
        if chunk.is_continued {
            chunk
                .around
                .iter()
                .chain(&chunk.symbol)
                .for_each(|name| count(name));
        }
        for name in [place.stem, place.stem].iter().chain(&place.folders) {
            count(name);
        }
        for defined in &chunk.defines {
            self.add(ix, &format!("{DEFINES}{}", defined.name));
        }
        self.add(ix, &format!("{STEM}{}", plain_name(place.stem)));
        u16::try_from(length).unwrap_or(u16::MAX)
    }

    /// Counts a word and returns its number.
    fn add(&mut self, ix: u32, word: &str) -> u32 {
        let number = match self.numbers.get(word) {
            Some(number) => *number,
            None => {
                let number = self.words.len() as u32;
                self.numbers.insert(word.into(), number);
                self.words.push(CountedWord {
                    last: NONE,
                    spelt: [None; 2],
                });
                number
            }
        };
        let counted = &mut self.words[number as usize];
        match self.places.get_mut(counted.last as usize) {
            Some(last) if last.chunk == ix => last.count = last.count.saturating_add(1),
            _ => {
                self.places.push(WordPosting {
                    chunk: ix,
                    count: 1,
                    before: counted.last,
                });
                counted.last = self.places.len() as u32 - 1;
            }
        }
        number
    }

    /// Adds the tokens of a counted word.
    fn spell(&mut self, number: u32, word: SplitWord<'_>, embedded: &mut TokenList) {
        let is_compound = matches!(
            word,
            SplitWord::Whole {
                is_compound: true,
                ..
            }
        );
        let spelt = &mut self.words[number as usize].spelt[usize::from(is_compound)];
        let (start, end) = *spelt.get_or_insert_with(|| {
            let start = self.tokens.len() as u32;
            self.vocabulary
                .spell(word, &mut |token| self.tokens.push(token));
            (start, self.tokens.len() as u32)
        });
        let tokens = &self.tokens[start as usize..end as usize];
        tokens.iter().for_each(|token| embedded.push(*token));
    }

    pub(super) fn finish(self) -> FileWords {
        let mut terms: Vec<(Box<str>, u32)> = self.numbers.into_iter().collect();
        // Makes the bytes independent of the map's order.
        terms.sort_unstable();
        let mut found = FileWords::default();
        let mut places = Vec::new();
        for (term, number) in terms {
            places.clear();
            let mut at = self.words[number as usize].last;
            while let Some(place) = self.places.get(at as usize) {
                places.push((place.chunk, place.count));
                at = place.before;
            }
            found.push(&term, places.iter().rev().copied());
        }
        found
    }
}
