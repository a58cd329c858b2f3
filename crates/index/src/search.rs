//! Answers: both scores over everything in sight, then the order.
//!
//! BM25 counts documents and lengths of exactly the view, and sums are taken in whole numbers, so that an answer is the
//! same whatever way the index came to what it holds.

mod best;
mod words;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::meaning::{Probe, expect_soon};
use crate::prepare::{DEFINES, STEM, plain_name};
use crate::query::{Means, Query, Traits};
use crate::rank::{Candidate, Ranked, Weights, ranked};
use crate::record::symbol_of;
use crate::store::{Entry, Known};
use crate::table::Table;
use crate::view::View;

use best::{Best, Spread};
use words::WordScores;

/// Chunks beyond which two threads compare vectors.
const WORTH_A_THREAD: u32 = 50_000;
/// Fewer candidates than this are not worth ranking.
const LEAST_CANDIDATES: usize = 50;
/// Chunks that are taken in for defining what the question names, or for their file's name.
const MOST_NAMED: usize = 100;

/// Entries that a thread compares before it asks for more.
const AT_ONCE: usize = 32;

/// The chunks whose vectors are most like the question's, and how all are spread.
#[derive(Default)]
struct Nearest {
    chunks: Vec<u32>,
    spread: Spread,
}

/// The view and what it is of.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) known: &'a Known,
    pub(crate) view: &'a View,
    pub(crate) table: &'a Table,
    pub(crate) weights: &'a Weights,
    /// What every path in sight begins with, `src/` or nothing.
    pub(crate) below: &'a str,
}

impl<'a> Sight<'a> {
    /// The best chunks for a question.
    pub(crate) fn answer(&self, query: &Query) -> Vec<Ranked<'a>> {
        let traits = Traits::of(&query.text);
        if traits.words.is_empty() && traits.symbol.is_none() || query.limit == 0 {
            return Vec::new();
        }
        let below = self.folder(query);
        let most = (query.limit * self.weights.candidates).max(LEAST_CANDIDATES);
        let probe = Probe::of(&self.table.encode(&query.text));
        let (words, nearest) = self.scores(query, &traits, &probe, &below, most);
        let mut chunks: Vec<u32> = words.best(self, &below, most);
        chunks.extend(nearest.chunks);
        let defining = self.defining(&traits, &below);
        chunks.extend(&defining);
        chunks.extend(self.of_stem(&traits, &below));
        chunks.sort_unstable();
        chunks.dedup();
        let scored = chunks.into_iter().filter_map(|chunk| {
            let entry = self.known.owner(chunk)?;
            let place = chunk - entry.first;
            let meaning = match query.means {
                Means::Words => 0.0,
                Means::Meaning | Means::Fused => likeness(&probe, entry, place),
            };
            let score = words.score(chunk);
            Some(Candidate {
                chunk,
                path: &entry.path,
                symbol: symbol_of(&entry.layout, &entry.bytes, place).unwrap_or_default(),
                place,
                flags: self.known.flags(chunk),
                words: score,
                meaning,
                words_z: words.spread.z(score),
                meaning_z: nearest.spread.z(meaning),
                defines: defining.binary_search(&chunk).is_ok(),
            })
        });
        let share = match (query.means, &traits.symbol) {
            (Means::Words, _) => 0.0,
            (Means::Meaning, _) => 1.0,
            (Means::Fused, Some(_)) => self.weights.meaning_symbol,
            (Means::Fused, None) => self.weights.meaning_plain,
        };
        let signals = query.means == Means::Fused;
        let scored = scored.collect();
        ranked(scored, &traits, self.weights, share, signals, query.limit)
    }

    /// What the paths of the folder asked for begin with.
    fn folder(&self, query: &Query) -> String {
        let folder = query.folder.as_deref().unwrap_or(Path::new(""));
        let folder = folder.to_string_lossy();
        let folder = folder.trim_start_matches("./").trim_matches('/');
        match folder {
            "" | "." => self.below.to_owned(),
            folder => format!("{}{folder}/", self.below),
        }
    }

    /// What words say and what vectors say, where either counts.
    fn scores(
        &self,
        query: &Query,
        traits: &Traits,
        probe: &Probe,
        below: &str,
        most: usize,
    ) -> (WordScores, Nearest) {
        let words = || match query.means {
            Means::Meaning => WordScores::default(),
            Means::Words | Means::Fused => WordScores::of(self, &traits.words),
        };
        if query.means == Means::Words {
            return (words(), Nearest::default());
        }
        let is_in_sight = |entry: &&Entry| entry.layout.count > 0 && self.view.has(entry.first);
        let entries: Vec<&Entry> = self.known.entries().filter(is_in_sight).collect();
        let next = AtomicUsize::new(0);
        let scan = || self.scan(&entries, &next, probe, below, most);
        if self.view.chunks() < WORTH_A_THREAD {
            let words = words();
            return (words, self.nearest(scan()));
        }
        std::thread::scope(|threads| {
            // What one of the two has done first, the other goes on with.
            let other = threads.spawn(scan);
            let words = words();
            let (mut best, mut spread) = scan();
            if let Ok((others, theirs)) = other.join() {
                best.take_in(self, others);
                spread.take_in(theirs);
            }
            (words, self.nearest((best, spread)))
        })
    }

    /// Compares entries until `next` says that there are no more.
    fn scan(
        &self,
        entries: &[&Entry],
        next: &AtomicUsize,
        probe: &Probe,
        below: &str,
        most: usize,
    ) -> (Best, Spread) {
        let mut best = Best::new(most);
        let mut spread = Spread::default();
        loop {
            let start = next.fetch_add(AT_ONCE, Ordering::Relaxed);
            let end = entries.len().min(start.saturating_add(AT_ONCE));
            let Some(some) = entries.get(start..end).filter(|some| !some.is_empty()) else {
                return (best, spread);
            };
            for (ix, entry) in some.iter().enumerate() {
                let is_in = below.is_empty() || entry.path.starts_with(below);
                if let Some(next) = some.get(ix + 1) {
                    expect_soon(vectors(next).0);
                }
                let (values, scales) = vectors(entry);
                probe.compare(values, scales, |row, likeness| {
                    spread.add(likeness);
                    if is_in {
                        best.offer(self, likeness, entry.first + row as u32);
                    }
                });
            }
        }
    }

    fn nearest(&self, (mut best, mut spread): (Best, Spread)) -> Nearest {
        spread.count = u64::from(self.view.chunks());
        Nearest {
            chunks: best.chunks(self),
            spread,
        }
    }

    /// The chunks that define what the question names, sorted.
    fn defining(&self, traits: &Traits, below: &str) -> Vec<u32> {
        let mut chunks = Vec::new();
        for name in traits.symbol.iter().chain(&traits.named) {
            self.with_term(&format!("{DEFINES}{name}"), below, &mut chunks);
        }
        chunks.sort_unstable();
        chunks.dedup();
        chunks
    }

    /// The chunks of files that have the name asked for.
    fn of_stem(&self, traits: &Traits, below: &str) -> Vec<u32> {
        let mut chunks = Vec::new();
        if let Some(symbol) = &traits.symbol {
            self.with_term(&format!("{STEM}{}", plain_name(symbol)), below, &mut chunks);
        }
        chunks
    }

    fn with_term(&self, term: &str, below: &str, chunks: &mut Vec<u32>) {
        let mut found = Vec::new();
        self.known.each_place(term, |chunk, _| {
            if self.view.has(chunk) && self.is_below(chunk, below) {
                found.push(chunk);
            }
        });
        // Which of many are taken must not depend on their numbers, which differ from index to index.
        if found.len() > MOST_NAMED {
            found.sort_unstable_by_key(|chunk| self.place(*chunk));
            found.truncate(MOST_NAMED);
        }
        chunks.append(&mut found);
    }

    fn is_below(&self, chunk: u32, below: &str) -> bool {
        let is_in = |entry: &Entry| entry.path.starts_with(below);
        below.is_empty() || self.known.owner(chunk).is_some_and(is_in)
    }

    /// Where a chunk stands, which is the same in every index.
    pub(super) fn place(&self, chunk: u32) -> (&'a str, u32) {
        let owner = self.known.owner(chunk);
        owner.map_or(("", chunk), |entry| (&entry.path, chunk - entry.first))
    }
}

/// The vectors of an entry's chunks, and what each is multiplied by.
fn vectors(entry: &Entry) -> (&[u8], &[u8]) {
    let bytes: &[u8] = &entry.bytes;
    let values = bytes.get(entry.layout.values()).unwrap_or_default();
    (values, bytes.get(entry.layout.scales()).unwrap_or_default())
}

fn likeness(probe: &Probe, entry: &Entry, place: u32) -> f32 {
    let (values, scales) = vectors(entry);
    let row = place as usize;
    let size = crate::table::DIMS;
    let values = values.get(row * size..(row + 1) * size).unwrap_or_default();
    let scales = scales.get(row * 4..(row + 1) * 4).unwrap_or_default();
    let mut found = 0.0;
    probe.compare(values, scales, |_, likeness| found = likeness);
    found
}

#[cfg(test)]
mod tests;
