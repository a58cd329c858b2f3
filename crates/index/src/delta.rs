//! The words of recent changes, in memory: searchable at once, folded into the on-disk index later.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use crate::chunk_set::ChunkSet;
use crate::record::{RecordLayout, each_term};

/// The postings of words that are not yet folded into the index on disk, in memory.
#[derive(Default)]
pub(crate) struct TermDelta {
    terms: HashMap<Box<str>, Vec<(u32, u16)>, BuildHasherDefault<WordHasher>>,
    /// The number of (word, chunk) pairs.
    pairs: usize,
    /// The number of records.
    records: usize,
}

impl TermDelta {
    /// Adds the words of a record; `first` is the number of its first chunk.
    pub(crate) fn add(&mut self, layout: &RecordLayout, bytes: &[u8], first: u32) {
        self.records += 1;
        each_term(layout, bytes, |term, places| {
            let postings = match self.terms.get_mut(term) {
                Some(postings) => postings,
                None => self.terms.entry(term.into()).or_default(),
            };
            let before = postings.len();
            postings.extend(places.map(|(chunk, count)| (first + chunk, count)));
            self.pairs += postings.len() - before;
        });
    }

    /// Removes the words of a record. `first` is the number with which the record was added.
    pub(crate) fn remove(&mut self, layout: &RecordLayout, bytes: &[u8], first: u32) {
        self.records = self.records.saturating_sub(1);
        let chunks = first..first + layout.count;
        each_term(layout, bytes, |term, _| {
            if let Some(places) = self.terms.get_mut(term) {
                let before = places.len();
                places.retain(|(chunk, _)| !chunks.contains(chunk));
                self.pairs -= before - places.len();
                if places.is_empty() {
                    self.terms.remove(term);
                }
            }
        });
    }

    /// Removes the words of many records in one pass. Each range holds the chunk numbers of one
    /// record. Every record must have been added before.
    pub(crate) fn remove_all(&mut self, records: &[Range<u32>]) {
        if records.len() >= self.records {
            *self = Self::default();
            return;
        }
        self.records -= records.len();
        let mut gone = ChunkSet::default();
        for chunks in records {
            gone.set(chunks.start, chunks.end - chunks.start, true);
        }
        self.terms.retain(|_, places| {
            let before = places.len();
            places.retain(|(chunk, _)| !gone.has(*chunk));
            self.pairs -= before - places.len();
            !places.is_empty()
        });
        self.terms.shrink_to_fit();
    }

    /// Returns the numbers of the chunks that contain a word, each with the number of occurrences.
    /// Returns an empty slice for an unknown word.
    pub(crate) fn postings(&self, term: &str) -> &[(u32, u16)] {
        self.terms.get(term).map_or(&[], Vec::as_slice)
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        self.terms.len() * 64 + self.pairs * 8
    }
}

/// A fast hasher for words. No attacker gains more from collisions than a slow query.
#[derive(Default)]
pub(crate) struct WordHasher(u64);

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for eight in bytes.chunks(8) {
            let word = eight
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
