//! Preliminary answers: the words of whole files, before anything is parsed.
//!
//! Reading and counting takes a fraction of the time that parsing does. BM25 ranks the files, the
//! best of them are read again, and the lines with most of the query's words become the hit.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use crate::chunk::{CodeChunk, rough_chunks};
use crate::delta::WordHasher;
use crate::prepare::PathParts;
use crate::words::each_word;

const SATURATION: f32 = 1.5;
const LENGTH: f32 = 0.75;
/// Maximum number of files read again for an answer.
const MAX_READ_FILES: usize = 12;

/// The words of some files that are not indexed yet, for preliminary answers. Immutable once built.
#[derive(Default)]
pub(crate) struct RoughIndex {
    files: Vec<(Arc<str>, u32)>,
    terms: HashMap<Box<str>, Vec<(u32, u16)>, BuildHasherDefault<WordHasher>>,
}

/// A file that contains words of a query, with its score.
pub(crate) struct RoughHit {
    pub(crate) path: Arc<str>,
    pub(crate) score: f32,
    /// The score in standard deviations above the mean.
    pub(crate) z: f32,
}

impl RoughIndex {
    /// Counts the words of a file and adds it.
    pub(crate) fn add(&mut self, path: &str, text: &str) {
        let number = self.files.len() as u32;
        let mut length = 0;
        let mut count = |word: &str| {
            length += 1;
            let places = match self.terms.get_mut(word) {
                Some(places) => places,
                None => self.terms.entry(word.into()).or_default(),
            };
            match places.last_mut() {
                Some((last, count)) if *last == number => *count = count.saturating_add(1),
                _ => places.push((number, 1)),
            }
        };
        each_word(text, usize::MAX, &mut count);
        let place = PathParts::of(path);
        for name in [place.stem, place.stem].iter().chain(&place.folders) {
            each_word(name, 20, &mut count);
        }
        self.files.push((path.into(), length));
    }

    /// Returns the number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        let places: usize = self.terms.values().map(Vec::len).sum();
        self.terms.len() * 64 + places * 8
    }
}

/// Returns the rarity of each word of a query, and the files that contain any, best first.
/// Considers only files accepted by `is_wanted`.
pub(crate) fn best_files(
    parts: &[Arc<RoughIndex>],
    words: &[(String, f32)],
    is_wanted: &dyn Fn(&str) -> bool,
) -> (Vec<f32>, Vec<RoughHit>) {
    let all: usize = parts.iter().map(|part| part.len()).sum();
    let total: u64 = parts
        .iter()
        .flat_map(|part| &part.files)
        .map(|(_, length)| u64::from(*length))
        .sum();
    let average = (total as f32 / all.max(1) as f32).max(1.0);
    let mut scores: Vec<Vec<f32>> = parts.iter().map(|part| vec![0.0; part.len()]).collect();
    let mut rarities = Vec::with_capacity(words.len());
    for (word, times) in words {
        let places = parts.iter().map(|part| part.terms.get(word.as_str()));
        let places: Vec<&[(u32, u16)]> =
            places.map(|it| it.map_or(&[][..], Vec::as_slice)).collect();
        let holding: usize = places.iter().map(|places| places.len()).sum();
        let rarity = (1.0 + (all as f32 - holding as f32 + 0.5) / (holding as f32 + 0.5)).ln();
        rarities.push(rarity);
        for ((part, places), scores) in parts.iter().zip(places).zip(&mut scores) {
            for (file, count) in places {
                let length = part.files[*file as usize].1 as f32 / average;
                let count = f32::from(*count);
                let least = SATURATION * (1.0 - LENGTH + LENGTH * length);
                scores[*file as usize] +=
                    rarity * times * count * (SATURATION + 1.0) / (count + least);
            }
        }
    }
    let sum: f32 = scores.iter().flatten().sum();
    let mean = sum / all.max(1) as f32;
    let squares: f32 = scores
        .iter()
        .flatten()
        .map(|score| (score - mean).powi(2))
        .sum();
    let spread = (squares / all.max(1) as f32).sqrt().max(0.001);
    let mut hits: Vec<RoughHit> = parts
        .iter()
        .zip(&scores)
        .flat_map(|(part, scores)| part.files.iter().zip(scores))
        .filter(|((path, _), score)| **score > 0.0 && is_wanted(path))
        .map(|((path, _), score)| RoughHit {
            path: path.clone(),
            score: *score,
            z: (score - mean) / spread,
        })
        .collect();
    hits.sort_unstable_by(|left, right| {
        let by_score = right.score.total_cmp(&left.score);
        by_score.then_with(|| left.path.cmp(&right.path))
    });
    hits.truncate(MAX_READ_FILES);
    (rarities, hits)
}

/// Returns the chunk of a text that contains the most words of a query, weighted by rarity, or
/// `None` if every chunk lacks these words.
pub(crate) fn best_lines(
    text: &str,
    words: &[(String, f32)],
    rarities: &[f32],
) -> Option<CodeChunk> {
    let worth = |chunk: &CodeChunk| {
        let mut found = vec![false; words.len()];
        let code = text.get(chunk.span.clone()).unwrap_or_default();
        each_word(code, usize::MAX, |word| {
            if let Some(ix) = words.iter().position(|(known, _)| known == word) {
                found[ix] = true;
            }
        });
        let found = found.iter().zip(rarities).filter(|(found, _)| **found);
        found.map(|(_, rarity)| *rarity).sum::<f32>()
    };
    let mut best: Option<(f32, CodeChunk)> = None;
    for chunk in rough_chunks(text) {
        let worth = worth(&chunk);
        if best.as_ref().is_none_or(|(known, _)| worth > *known) {
            best = Some((worth, chunk));
        }
    }
    best.map(|(_, chunk)| chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::QueryTraits;

    #[test]
    fn the_best_file_and_its_best_lines_are_found() {
        let mut part = RoughIndex::default();
        let filler = "let other = 1;\n".repeat(100);
        let text = format!("{filler}\nfn retry_with_backoff() {{ wait(); }}\n{filler}");
        part.add("src/net.rs", &text);
        part.add("src/cart.rs", &filler);
        let parts = [Arc::new(part)];
        let words = QueryTraits::of("retry with backoff").words;
        let (rarities, hits) = best_files(&parts, &words, &|_| true);
        assert_eq!(&*hits[0].path, "src/net.rs");
        assert_eq!(hits.len(), 1);
        let lines = best_lines(&text, &words, &rarities).expect("lines");
        assert!(text[lines.span.clone()].contains("retry_with_backoff"));
        assert!(lines.rows.contains(&101), "{:?}", lines.rows);
        let (_, none) = best_files(&parts, &words, &|_| false);
        assert!(none.is_empty());
    }
}
