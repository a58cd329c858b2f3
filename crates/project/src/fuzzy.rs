//! Fuzzy ranking of short texts: paths, symbols, command names.
//!
//! Matching and scores come from `nucleo-matcher`; this module adds threads and a stable order of
//! equal scores. Pure; time grows with the candidates, so keep large lists off the UI thread. Start
//! at `rank`.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// The kind of candidates, which decides what starts a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateKind {
    /// Paths: only `/` is a delimiter. A match at the start or after a `/` scores slightly higher
    /// than at any other start of a word. A match in the file name gets no further bonus.
    Path,
    /// Any other text.
    Text,
}

/// A matching candidate, by its index in the list given to `rank`, and its score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// Index into the candidates.
    pub index: usize,
    /// Score by nucleo; higher is better.
    pub score: u32,
}

/// Minimum number of candidates per thread: below it, another thread costs more than it gains.
const WORTH_A_THREAD: usize = 20_000;
/// Number of candidates matched between two checks of the cancel flag.
const BATCH_SIZE: usize = 4_096;

/// Returns the candidates that match `query`, best first, at most `limit`; equal scores by length,
/// then in input order. An empty query matches everything in input order. Words of the query are
/// matched separately. `^`, `$`, `'` and `!` at the ends of words match literally; if no candidate
/// matches that way, they are nucleo's operators. Returns nothing when cancelled.
pub fn rank<T: AsRef<str> + Sync>(
    query: &str,
    candidates: &[T],
    kind: CandidateKind,
    limit: usize,
    cancel: &AtomicBool,
) -> Vec<Ranked> {
    if query.trim().is_empty() {
        let all = (0..candidates.len()).map(|index| Ranked { index, score: 0 });
        return all.take(limit).collect();
    }
    let mut ranked = match_all(&literal(query), candidates, kind, cancel);
    if ranked.is_empty() && has_operators(query) {
        ranked = match_all(&with_operators(query), candidates, kind, cancel);
    }
    if cancel.load(Ordering::Relaxed) {
        return Vec::new();
    }
    let key = |ranked: &Ranked| {
        let length = candidates[ranked.index].as_ref().len();
        (Reverse(ranked.score), length, ranked.index)
    };
    if ranked.len() > limit && limit > 0 {
        ranked.select_nth_unstable_by_key(limit - 1, key);
    }
    ranked.truncate(limit);
    ranked.sort_unstable_by_key(key);
    ranked
}

/// Returns the indices, in chars, of the letters of `candidate` that `query` matches, sorted and
/// without duplicates; empty if it does not match. For highlighting.
pub fn positions(query: &str, candidate: &str, kind: CandidateKind) -> Vec<u32> {
    let mut buffer = Vec::new();
    let haystack = Utf32Str::new(candidate, &mut buffer);
    let mut matcher = matcher(kind);
    let patterns = [literal, with_operators];
    let matched = patterns.iter().find_map(|pattern| {
        let mut indices = Vec::new();
        let score = pattern(query).indices(haystack, &mut matcher, &mut indices);
        score.map(|_| indices)
    });
    let mut indices = matched.unwrap_or_default();
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// Parses the words of a query without operators.
fn literal(query: &str) -> Pattern {
    Pattern::new(
        query,
        CaseMatching::Smart,
        Normalization::Smart,
        AtomKind::Fuzzy,
    )
}

/// Parses the words of a query with nucleo's operators.
fn with_operators(query: &str) -> Pattern {
    Pattern::parse(query, CaseMatching::Smart, Normalization::Smart)
}

/// Returns whether a word of the query has an operator.
fn has_operators(query: &str) -> bool {
    let mut words = query.split_whitespace();
    words.any(|word| word.starts_with(['!', '^', '\'', '\\']) || word.ends_with('$'))
}

fn match_all<T: AsRef<str> + Sync>(
    pattern: &Pattern,
    candidates: &[T],
    kind: CandidateKind,
    cancel: &AtomicBool,
) -> Vec<Ranked> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(8));
    let share = candidates.len().div_ceil(threads).max(WORTH_A_THREAD);
    if candidates.len() <= share {
        return match_share(pattern, candidates, 0, kind, cancel);
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = candidates
            .chunks(share)
            .enumerate()
            .map(|(ix, chunk)| {
                scope.spawn(move || match_share(pattern, chunk, ix * share, kind, cancel))
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_default())
            .collect()
    })
}

fn match_share<T: AsRef<str>>(
    pattern: &Pattern,
    candidates: &[T],
    first: usize,
    kind: CandidateKind,
    cancel: &AtomicBool,
) -> Vec<Ranked> {
    let mut matcher = matcher(kind);
    let mut buffer = Vec::new();
    let mut ranked = Vec::new();
    for (ix, candidate) in candidates.iter().enumerate() {
        if ix % BATCH_SIZE == 0 && cancel.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let haystack = Utf32Str::new(candidate.as_ref(), &mut buffer);
        if let Some(score) = pattern.score(haystack, &mut matcher) {
            ranked.push(Ranked {
                index: first + ix,
                score,
            });
        }
    }
    ranked
}

fn matcher(kind: CandidateKind) -> Matcher {
    Matcher::new(match kind {
        CandidateKind::Path => Config::DEFAULT.match_paths(),
        CandidateKind::Text => Config::DEFAULT,
    })
}

#[cfg(test)]
mod tests;
