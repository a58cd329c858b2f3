//! BM25 over what is in sight.

use std::cell::RefCell;

use super::Sight;
use super::best::{Best, Spread};

/// How soon more of a word stops counting, and how much the length of a chunk does.
const SATURATION: f32 = 1.5;
const LENGTH: f32 = 0.75;

/// The score of every chunk that holds a word of the question.
#[derive(Default)]
pub(super) struct WordScores {
    /// By chunk; 0 for those that hold none. Goes back to the thread when dropped.
    scores: Vec<f32>,
    touched: Vec<u32>,
    pub(super) spread: Spread,
}

thread_local! {
    /// Scores of all chunks, all 0: kept, since most questions touch few of many.
    static SCORES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

impl WordScores {
    pub(super) fn of(sight: &Sight<'_>, words: &[(String, f32)]) -> Self {
        let mut scores = SCORES.with_borrow_mut(std::mem::take);
        scores.resize(sight.known.end().max(scores.len()), 0.0);
        let mut found = Self {
            scores,
            touched: Vec::new(),
            spread: Spread::default(),
        };
        let mut places = Vec::new();
        for (word, times) in words {
            places.clear();
            sight.known.each_place(word, |chunk, count| {
                if sight.view.has(chunk) {
                    places.push((chunk, count));
                }
            });
            found.add(sight, &places, *times);
        }
        for chunk in &found.touched {
            found.spread.add(found.scores[*chunk as usize]);
        }
        found.spread.count = u64::from(sight.view.chunks());
        found
    }

    fn add(&mut self, sight: &Sight<'_>, places: &[(u32, u32)], times: f32) {
        let all = sight.view.chunks() as f32;
        let holding = places.len() as f32;
        let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln() * times;
        let average = sight.view.average().max(1.0);
        for (chunk, count) in places {
            let Some(score) = self.scores.get_mut(*chunk as usize) else {
                continue;
            };
            let count = *count as f32;
            let length = f32::from(sight.known.length(*chunk)) / average;
            let least = SATURATION * (1.0 - LENGTH + LENGTH * length);
            if *score == 0.0 {
                self.touched.push(*chunk);
            }
            *score += rarity * count * (SATURATION + 1.0) / (count + least);
        }
    }

    pub(super) fn score(&self, chunk: u32) -> f32 {
        self.scores.get(chunk as usize).copied().unwrap_or(0.0)
    }

    pub(super) fn best(&self, sight: &Sight<'_>, below: &str, most: usize) -> Vec<u32> {
        let mut best = Best::new(most);
        for chunk in &self.touched {
            if sight.is_below(*chunk, below) {
                best.offer(sight, self.score(*chunk), *chunk);
            }
        }
        best.chunks(sight)
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
