//! The words of what changed lately, in memory: found at once, folded into the index on disk later.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::bits::Bits;
use crate::record::{Layout, each_term};
use crate::store::Known;

/// Words and the chunks that hold them.
#[derive(Default)]
pub(crate) struct Delta {
    terms: HashMap<Box<str>, Vec<(u32, u16)>, BuildHasherDefault<WordHasher>>,
    /// How many pairs of a word and a chunk it holds.
    pairs: usize,
    /// How many records it holds.
    records: usize,
}

impl Delta {
    /// Takes a record in, whose first chunk has the number `first`.
    pub(crate) fn add(&mut self, layout: &Layout, bytes: &[u8], first: u32) {
        self.records += 1;
        each_term(layout, bytes, |term, places| {
            let known = match self.terms.get_mut(term) {
                Some(known) => known,
                None => self.terms.entry(term.into()).or_default(),
            };
            let before = known.len();
            known.extend(places.map(|(chunk, count)| (first + chunk, count)));
            self.pairs += known.len() - before;
        });
    }

    /// Takes a record out again.
    pub(crate) fn remove(&mut self, layout: &Layout, bytes: &[u8], first: u32) {
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

    /// Takes the records of entries out, all of which it holds.
    pub(crate) fn remove_all(&mut self, known: &Known, ids: &[u32]) {
        if ids.len() >= self.records {
            *self = Self::default();
            return;
        }
        self.records -= ids.len();
        let mut gone = Bits::default();
        for entry in ids.iter().filter_map(|id| known.entry(*id)) {
            gone.set(entry.first, entry.layout.count, true);
        }
        self.terms.retain(|_, places| {
            let before = places.len();
            places.retain(|(chunk, _)| !gone.has(*chunk));
            self.pairs -= before - places.len();
            !places.is_empty()
        });
        self.terms.shrink_to_fit();
    }

    /// The chunks that hold a word, and how often.
    pub(crate) fn places(&self, term: &str) -> &[(u32, u16)] {
        self.terms.get(term).map_or(&[], Vec::as_slice)
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        self.terms.len() * 64 + self.pairs * 8
    }
}

/// A quick hash for words: nobody outside chooses them to collide, and a slow query is all they would gain.
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
