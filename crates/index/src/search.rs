//! Answers queries: computes both scores over all visible chunks, then ranks.
//!
//! BM25 counts the documents and lengths of exactly the view, and sums are integers, so that an
//! answer does not depend on the history of the index.

mod bm25;
mod top_chunks;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::embedding::EmbeddingTable;
use crate::prepare::{DEFINES, STEM, plain_name};
use crate::query::{IndexQuery, QueryMode, QueryTraits};
use crate::rank::{RankCandidate, RankWeights, Ranked, ranked};
use crate::record::symbol_of;
use crate::similarity::{QueryVector, prefetch};
use crate::store::{StoreContents, StoredFile};
use crate::view::WorktreeView;

use bm25::WordScores;
use top_chunks::{ScoreSpread, TopChunks};

/// Number of chunks above which two threads compare vectors.
const WORTH_A_THREAD: u32 = 50_000;
/// Minimum number of candidates to rank.
const MIN_CANDIDATES: usize = 50;
/// Maximum number of chunks added because they define a named symbol, or because of their file's
/// name.
const MAX_NAMED_CHUNKS: usize = 100;

/// Number of entries that a thread takes at a time.
const AT_ONCE: usize = 32;

/// The chunks whose vectors are most similar to the query's, and the distribution of all scores.
#[derive(Default)]
struct Nearest {
    chunks: Vec<u32>,
    spread: ScoreSpread,
}

/// The view and the data needed to search it, borrowed for one query.
#[derive(Clone, Copy)]
pub(crate) struct SearchContext<'a> {
    pub(crate) contents: &'a StoreContents,
    pub(crate) view: &'a WorktreeView,
    pub(crate) table: &'a EmbeddingTable,
    pub(crate) weights: &'a RankWeights,
    /// The prefix of every visible path, `src/` or empty.
    pub(crate) prefix: &'a str,
}

impl<'a> SearchContext<'a> {
    /// Returns the best chunks for a query, best first, at most `query.limit`. Ranks the best
    /// matches by words, by vectors or by both, as `query.mode` says, and the chunks that define a
    /// named symbol or belong to a file of that name. Empty if nothing is found, if the query has
    /// neither words nor a symbol, or if the limit is 0.
    pub(crate) fn answer(&self, query: &IndexQuery) -> Vec<Ranked<'a>> {
        let traits = QueryTraits::of(&query.text);
        if traits.words.is_empty() && traits.symbol.is_none() || query.limit == 0 {
            return Vec::new();
        }
        let below = self.folder(query);
        let most = (query.limit * self.weights.candidates).max(MIN_CANDIDATES);
        let query_vector = QueryVector::of(&self.table.encode(&query.text));
        let (words, nearest) = self.scores(query, &traits, &query_vector, &below, most);
        let mut chunks: Vec<u32> = words.best(self, &below, most);
        chunks.extend(nearest.chunks);
        let defining = self.defining(&traits, &below);
        chunks.extend(&defining);
        chunks.extend(self.of_stem(&traits, &below));
        chunks.sort_unstable();
        chunks.dedup();
        let scored = chunks.into_iter().filter_map(|chunk| {
            let entry = self.contents.owner(chunk)?;
            let place = chunk - entry.first;
            let meaning = match query.mode {
                QueryMode::Words => 0.0,
                QueryMode::Meaning | QueryMode::Fused => similarity(&query_vector, entry, place),
            };
            let score = words.score(chunk);
            Some(RankCandidate {
                chunk,
                path: &entry.path,
                symbol: symbol_of(&entry.layout, &entry.bytes, place).unwrap_or_default(),
                place,
                flags: self.contents.flags(chunk),
                words: score,
                meaning,
                words_z: words.spread.z(score),
                meaning_z: nearest.spread.z(meaning),
                defines: defining.binary_search(&chunk).is_ok(),
            })
        });
        let share = match (query.mode, &traits.symbol) {
            (QueryMode::Words, _) => 0.0,
            (QueryMode::Meaning, _) => 1.0,
            (QueryMode::Fused, Some(_)) => self.weights.meaning_symbol,
            (QueryMode::Fused, None) => self.weights.meaning_plain,
        };
        let signals = query.mode == QueryMode::Fused;
        let scored = scored.collect();
        ranked(scored, &traits, self.weights, share, signals, query.limit)
    }

    /// Returns the path prefix of the requested folder.
    fn folder(&self, query: &IndexQuery) -> String {
        let folder = query.folder.as_deref().unwrap_or(Path::new(""));
        let folder = folder.to_string_lossy();
        let folder = folder.trim_start_matches("./").trim_matches('/');
        match folder {
            "" | "." => self.prefix.to_owned(),
            folder => format!("{}{folder}/", self.prefix),
        }
    }

    /// Computes the word scores and the embedding scores, as far as each is used.
    fn scores(
        &self,
        query: &IndexQuery,
        traits: &QueryTraits,
        query_vector: &QueryVector,
        below: &str,
        most: usize,
    ) -> (WordScores, Nearest) {
        let words = || match query.mode {
            QueryMode::Meaning => WordScores::default(),
            QueryMode::Words | QueryMode::Fused => WordScores::of(self, &traits.words),
        };
        if query.mode == QueryMode::Words {
            return (words(), Nearest::default());
        }
        let is_visible = |entry: &&StoredFile| entry.layout.count > 0 && self.view.has(entry.first);
        let entries: Vec<&StoredFile> = self.contents.entries().filter(is_visible).collect();
        let next = AtomicUsize::new(0);
        let scan = || self.scan(&entries, &next, query_vector, below, most);
        if self.view.chunks() < WORTH_A_THREAD {
            let words = words();
            return (words, self.nearest(scan()));
        }
        std::thread::scope(|threads| {
            // Whichever of the two finishes first continues with the other's work.
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

    /// Compares entries until `next` is exhausted.
    fn scan(
        &self,
        entries: &[&StoredFile],
        next: &AtomicUsize,
        query_vector: &QueryVector,
        below: &str,
        most: usize,
    ) -> (TopChunks, ScoreSpread) {
        let mut best = TopChunks::new(most);
        let mut spread = ScoreSpread::default();
        loop {
            let start = next.fetch_add(AT_ONCE, Ordering::Relaxed);
            let end = entries.len().min(start.saturating_add(AT_ONCE));
            let Some(some) = entries.get(start..end).filter(|some| !some.is_empty()) else {
                return (best, spread);
            };
            for (ix, entry) in some.iter().enumerate() {
                let is_in = below.is_empty() || entry.path.starts_with(below);
                if let Some(next) = some.get(ix + 1) {
                    prefetch(vectors(next).0);
                }
                let (values, scales) = vectors(entry);
                query_vector.compare(values, scales, |row, similarity| {
                    spread.add(similarity);
                    if is_in {
                        best.offer(self, similarity, entry.first + row as u32);
                    }
                });
            }
        }
    }

    fn nearest(&self, (mut best, mut spread): (TopChunks, ScoreSpread)) -> Nearest {
        spread.count = u64::from(self.view.chunks());
        Nearest {
            chunks: best.chunks(self),
            spread,
        }
    }

    /// Returns the chunks that define a symbol named by the query, sorted.
    fn defining(&self, traits: &QueryTraits, below: &str) -> Vec<u32> {
        let mut chunks = Vec::new();
        for name in traits.symbol.iter().chain(&traits.named) {
            self.with_term(&format!("{DEFINES}{name}"), below, &mut chunks);
        }
        chunks.sort_unstable();
        chunks.dedup();
        chunks
    }

    /// Returns the chunks of files with the requested name.
    fn of_stem(&self, traits: &QueryTraits, below: &str) -> Vec<u32> {
        let mut chunks = Vec::new();
        if let Some(symbol) = &traits.symbol {
            self.with_term(&format!("{STEM}{}", plain_name(symbol)), below, &mut chunks);
        }
        chunks
    }

    /// Adds the visible chunks below a folder that contain a term; if there are too many, the first
    /// `MAX_NAMED_CHUNKS` by path and position.
    fn with_term(&self, term: &str, below: &str, chunks: &mut Vec<u32>) {
        let mut found = Vec::new();
        self.contents.each_posting(term, |chunk, _| {
            if self.view.has(chunk) && self.is_below(chunk, below) {
                found.push(chunk);
            }
        });
        // The selection must not depend on chunk numbers, which differ between indexes.
        if found.len() > MAX_NAMED_CHUNKS {
            found.sort_unstable_by_key(|chunk| self.location(*chunk));
            found.truncate(MAX_NAMED_CHUNKS);
        }
        chunks.append(&mut found);
    }

    /// Returns whether the path of a chunk's file starts with `below`; an empty `below` accepts
    /// all.
    fn is_below(&self, chunk: u32, below: &str) -> bool {
        let is_in = |entry: &StoredFile| entry.path.starts_with(below);
        below.is_empty() || self.contents.owner(chunk).is_some_and(is_in)
    }

    /// Returns a chunk's path and index, which are the same in every index.
    pub(super) fn location(&self, chunk: u32) -> (&'a str, u32) {
        let owner = self.contents.owner(chunk);
        owner.map_or(("", chunk), |entry| (&entry.path, chunk - entry.first))
    }
}

/// Returns the vectors of an entry's chunks, and their scales.
fn vectors(entry: &StoredFile) -> (&[u8], &[u8]) {
    let bytes: &[u8] = &entry.bytes;
    let values = bytes.get(entry.layout.values()).unwrap_or_default();
    (values, bytes.get(entry.layout.scales()).unwrap_or_default())
}

/// Returns the similarity of a query and the chunk at `place` in a file; 0 if it has no vector.
fn similarity(query_vector: &QueryVector, entry: &StoredFile, place: u32) -> f32 {
    let (values, scales) = vectors(entry);
    let row = place as usize;
    let size = crate::embedding::DIMS;
    let values = values.get(row * size..(row + 1) * size).unwrap_or_default();
    let scales = scales.get(row * 4..(row + 1) * 4).unwrap_or_default();
    let mut found = 0.0;
    query_vector.compare(values, scales, |_, similarity| found = similarity);
    found
}

#[cfg(test)]
mod tests;
