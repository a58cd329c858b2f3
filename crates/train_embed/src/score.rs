//! Measures retrieval of functions by their documentation, with the table alone and combined with
//! BM25.

use std::collections::HashMap;

use index::embedding::DIMS;
use index::wordpiece::Vocabulary;

use super::bags::{self, Bags, masked};
use super::mine::Pair;

/// Number of functions in a sample.
const SAMPLE: usize = 1_500;
/// The table's weight beside BM25.
const SHARE: f32 = 0.7;
const K1: f32 = 1.5;
const B: f32 = 0.75;

/// Queries and functions that belong together pairwise, with the BM25 score of every query for
/// every function.
pub(super) struct Sample {
    queries: Bags,
    functions: Bags,
    words: Vec<f32>,
}

/// Mean reciprocal ranks among the first ten, from 0 to 1, by BM25, by the table, and by both.
pub(super) struct Score {
    pub(super) words: f64,
    pub(super) table: f64,
    pub(super) fused: f64,
}

impl Sample {
    /// Takes up to 1,500 pairs, spread evenly over all. `is_masked` removes the functions' names.
    pub(super) fn new(pairs: &[Pair], vocabulary: &Vocabulary, is_masked: bool) -> Self {
        let count = pairs.len().min(SAMPLE);
        let pairs: Vec<&Pair> = (0..count)
            .map(|number| &pairs[number * pairs.len() / count])
            .collect();
        let code = |pair: &&Pair| {
            if is_masked {
                masked(pair)
            } else {
                pair.code.clone()
            }
        };
        let functions: Vec<String> = pairs.iter().map(code).collect();
        Self {
            queries: Bags::new(vocabulary, pairs.iter().map(|pair| pair.query.as_str())),
            functions: Bags::new(vocabulary, functions.iter().map(String::as_str)),
            words: bm25(pairs.iter().map(|pair| pair.query.as_str()), &functions),
        }
    }

    /// Ranks the functions for each query by BM25, by `table` (a row for each token) and by both.
    pub(super) fn score(&self, table: &[f32]) -> Score {
        let queries = vectors(table, &self.queries);
        let functions = vectors(table, &self.functions);
        let count = self.functions.len();
        let mut score = Score {
            words: 0.0,
            table: 0.0,
            fused: 0.0,
        };
        for (number, query) in queries.chunks_exact(DIMS).enumerate() {
            let words = &self.words[number * count..][..count];
            let dot = |function: &[f32]| {
                function
                    .iter()
                    .zip(query)
                    .map(|(one, other)| one * other)
                    .sum::<f32>()
            };
            let meaning: Vec<f32> = functions.chunks_exact(DIMS).map(dot).collect();
            let (one, other) = (standard(&meaning), standard(words));
            let fused: Vec<f32> = one
                .iter()
                .zip(other)
                .map(|(one, other)| SHARE * one + (1.0 - SHARE) * other)
                .collect();
            score.words += reciprocal(words, number) / count as f64;
            score.table += reciprocal(&meaning, number) / count as f64;
            score.fused += reciprocal(&fused, number) / count as f64;
        }
        score
    }
}

/// Returns the embedding of each text by `table`, scaled to length one, one after another.
fn vectors(table: &[f32], bags: &Bags) -> Vec<f32> {
    let mut vectors = vec![0.0; bags.len() * DIMS];
    for (number, vector) in vectors.chunks_exact_mut(DIMS).enumerate() {
        bags::sum(table, bags.get(number), vector);
        bags::unit(vector);
    }
    vectors
}

/// Returns the reciprocal rank of the score at `right`; ties get their mean rank, ranks beyond ten
/// give 0.
fn reciprocal(scores: &[f32], right: usize) -> f64 {
    let better = scores
        .iter()
        .filter(|score| **score > scores[right])
        .count();
    let same = scores
        .iter()
        .filter(|score| **score == scores[right])
        .count();
    let rank = better as f64 + (same as f64 + 1.0) / 2.0;
    if rank <= 10.0 { 1.0 / rank } else { 0.0 }
}

/// Returns the scores in standard deviations from the mean.
fn standard(scores: &[f32]) -> Vec<f32> {
    let count = scores.len() as f32;
    let mean = scores.iter().sum::<f32>() / count;
    let deviation = (scores
        .iter()
        .map(|score| (score - mean).powi(2))
        .sum::<f32>()
        / count)
        .sqrt()
        .max(1e-9);
    scores
        .iter()
        .map(|score| (score - mean) / deviation)
        .collect()
}

/// Returns the BM25 score of every function for the first query, then for the second, and so on.
fn bm25<'a>(queries: impl Iterator<Item = &'a str>, functions: &[String]) -> Vec<f32> {
    let mut places: HashMap<String, Vec<(usize, f32)>> = HashMap::new();
    let mut lengths = vec![0.0_f32; functions.len()];
    for (number, function) in functions.iter().enumerate() {
        index::words::each_word(function, index::embedding::MAX_WORDS, |word| {
            lengths[number] += 1.0;
            let places = places.entry(word.to_owned()).or_default();
            match places.last_mut() {
                Some((last, count)) if *last == number => *count += 1.0,
                _ => places.push((number, 1.0)),
            }
        });
    }
    let mean = lengths.iter().sum::<f32>() / lengths.len() as f32;
    let mut scores = Vec::new();
    for query in queries {
        let mut line = vec![0.0; functions.len()];
        index::words::each_word(query, index::embedding::MAX_WORDS, |word| {
            let Some(places) = places.get(word) else {
                return;
            };
            let holding = places.len() as f32;
            let rarity = (1.0 + (functions.len() as f32 - holding + 0.5) / (holding + 0.5)).ln();
            for (number, count) in places {
                let norm = K1 * (1.0 - B + B * lengths[*number] / mean);
                line[*number] += rarity * count * (K1 + 1.0) / (count + norm);
            }
        });
        scores.extend(line);
    }
    scores
}
