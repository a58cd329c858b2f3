//! BM25 over the visible chunks.

use std::cell::RefCell;

use super::SearchContext;
use super::top_chunks::{ScoreSpread, TopChunks};

/// BM25's k1 and b: how fast further occurrences saturate, and the influence of a chunk's length.
const SATURATION: f32 = 1.5;
const LENGTH: f32 = 0.75;

/// The score of every chunk that contains a word of the query.
#[derive(Default)]
pub(super) struct WordScores {
    /// Indexed by chunk; 0 for those without a word. Returned to the thread on drop.
    scores: Vec<f32>,
    touched: Vec<u32>,
    pub(super) spread: ScoreSpread,
}

thread_local! {
    /// A buffer of zero scores for all chunks, kept because most queries touch few of many.
    static SCORES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

impl WordScores {
    pub(super) fn of(context: &SearchContext<'_>, words: &[(String, f32)]) -> Self {
        let mut scores = SCORES.with_borrow_mut(std::mem::take);
        scores.resize(context.contents.chunk_end().max(scores.len()), 0.0);
        let mut found = Self {
            scores,
            touched: Vec::new(),
            spread: ScoreSpread::default(),
        };
        let mut places = Vec::new();
        for (word, times) in words {
            places.clear();
            context.contents.each_posting(word, |chunk, count| {
                if context.view.has(chunk) {
                    places.push((chunk, count));
                }
            });
            found.add(context, &places, *times);
        }
        for chunk in &found.touched {
            found.spread.add(found.scores[*chunk as usize]);
        }
        found.spread.count = u64::from(context.view.chunks());
        found
    }

    fn add(&mut self, context: &SearchContext<'_>, places: &[(u32, u32)], times: f32) {
        let all = context.view.chunks() as f32;
        let holding = places.len() as f32;
        let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln() * times;
        let average = context.view.average().max(1.0);
        for (chunk, count) in places {
            let Some(score) = self.scores.get_mut(*chunk as usize) else {
                continue;
            };
            let count = *count as f32;
            let length = f32::from(context.contents.length(*chunk)) / average;
            let least = SATURATION * (1.0 - LENGTH + LENGTH * length);
            if *score == 0.0 {
                self.touched.push(*chunk);
            }
            *score += rarity * count * (SATURATION + 1.0) / (count + least);
        }
    }

    /// Returns the score of a chunk; 0 if it contains no word of the query.
    pub(super) fn score(&self, chunk: u32) -> f32 {
        self.scores.get(chunk as usize).copied().unwrap_or(0.0)
    }

    /// Returns the best chunks of the files whose path starts with `below`, at most `most`, in
    /// no particular order. Chunks without a word of the query are left out.
    pub(super) fn best(&self, context: &SearchContext<'_>, below: &str, most: usize) -> Vec<u32> {
        let mut best = TopChunks::new(most);
        for chunk in &self.touched {
            if context.is_below(*chunk, below) {
                best.offer(context, self.score(*chunk), *chunk);
            }
        }
        best.chunks(context)
    }
}

impl Drop for WordScores {
    fn drop(&mut self) {
        for chunk in &self.touched {
            if let Some(score) = self.scores.get_mut(*chunk as usize) {
                *score = 0.0;
            }
        }
        SCORES.set(std::mem::take(&mut self.scores));
    }
}
