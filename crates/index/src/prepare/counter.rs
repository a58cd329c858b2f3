//! Counts the words of a file's chunks, and spells each word once, however often it comes.
//!
//! Most words of a file come many times. Its text is cut into words once, for what is counted and for what is embedded.
//! Invariant: the tokens are those that `Table::encode` would find in the same text.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::chunk::Chunk;
use crate::delta::WordHasher;
use crate::record::FileWords;
use crate::table::{self, Tokens};
use crate::wordpiece::Vocabulary;
use crate::words::{Word, each, each_word};

use super::{DEFINES, Place, STEM, plain_name};

/// Words of a chunk beyond which nothing is counted.
const MOST_WORDS: usize = 4_000;
/// Behind it there is no place.
const NONE: u32 = u32::MAX;

/// Counts the words of a file's chunks.
pub(super) struct Counter<'a> {
    vocabulary: &'a Vocabulary,
    numbers: HashMap<Box<str>, u32, BuildHasherDefault<WordHasher>>,
    words: Vec<Counted>,
    places: Vec<PlaceOfWord>,
    /// The tokens of all words that were spelt, one behind the other.
    tokens: Vec<u32>,
}

/// A word of the file.
struct Counted {
    /// Its last place in `places`.
    last: u32,
    /// Its tokens in `tokens`, once somebody asked: as an identifier that has parts, and as any other word.
    spelt: [Option<(u32, u32)>; 2],
}

/// A chunk that holds a word, how often, and the place before it.
struct PlaceOfWord {
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

    /// Takes a chunk in and gives the number of its words. `embedded` has the tokens of what is embedded before the
    /// code, which is `before` words long, and gets those of the code.
    pub(super) fn chunk(
        &mut self,
        ix: u32,
        chunk: &Chunk,
        code: &str,
        place: &Place<'_>,
        (embedded, before): (&mut Tokens, usize),
    ) -> u16 {
        let mut left = table::MOST_WORDS.saturating_sub(before);
        let mut length = each(code, MOST_WORDS, |word| {
            let number = self.add(ix, word.text());
            if left > 0 {
                left -= 1;
                self.spell(number, word, embedded);
            }
        });
        let mut count = |name: &str| {
            each_word(name, MOST_WORDS, |word| {
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

    /// Counts a word and gives its number.
    fn add(&mut self, ix: u32, word: &str) -> u32 {
        let number = match self.numbers.get(word) {
            Some(number) => *number,
            None => {
                let number = self.words.len() as u32;
                self.numbers.insert(word.into(), number);
                self.words.push(Counted {
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
                self.places.push(PlaceOfWord {
                    chunk: ix,
                    count: 1,
                    before: counted.last,
                });
                counted.last = self.places.len() as u32 - 1;
            }
        }
        number
    }

    /// Adds the tokens of a word that was counted.
    fn spell(&mut self, number: u32, word: Word<'_>, embedded: &mut Tokens) {
        let is_compound = matches!(
            word,
            Word::Whole {
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
        // The same file gives the same bytes, whatever the map's order.
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
