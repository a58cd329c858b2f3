//! The best of many, and how many are spread.

use std::cmp::Ordering;

use super::Sight;

/// Keeps the best so many chunks; of equals those whose place comes first.
pub(super) struct Best {
    most: usize,
    /// At most twice as many as wanted.
    chunks: Vec<(f32, u32)>,
    /// Nothing below it is among the best.
    least: f32,
}

impl Best {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            chunks: Vec::with_capacity(most.max(1) * 2),
            least: f32::NEG_INFINITY,
        }
    }

    pub(super) fn offer(&mut self, sight: &Sight<'_>, score: f32, chunk: u32) {
        if score < self.least {
            return;
        }
        self.chunks.push((score, chunk));
        if self.chunks.len() >= self.most * 2 {
            self.cut(sight);
        }
    }

    fn cut(&mut self, sight: &Sight<'_>) {
        let order = |left: &(f32, u32), right: &(f32, u32)| order(sight, left, right);
        if self.chunks.len() > self.most {
            self.chunks.select_nth_unstable_by(self.most - 1, order);
            self.chunks.truncate(self.most);
            self.least = self.chunks[self.most - 1].0;
        }
    }

    pub(super) fn take_in(&mut self, sight: &Sight<'_>, other: Best) {
        for (score, chunk) in other.chunks {
            self.offer(sight, score, chunk);
        }
    }

    pub(super) fn chunks(&mut self, sight: &Sight<'_>) -> Vec<u32> {
        self.cut(sight);
        self.chunks.iter().map(|(_, chunk)| *chunk).collect()
    }
}

fn order(sight: &Sight<'_>, left: &(f32, u32), right: &(f32, u32)) -> Ordering {
    let by_score = right.0.total_cmp(&left.0);
    by_score.then_with(|| sight.place(left.1).cmp(&sight.place(right.1)))
}

/// Mean and spread of scores. Sums are of whole numbers, so that their order does not matter.
#[derive(Clone, Copy, Default)]
pub(super) struct Spread {
    /// Of how many; those that were not added count as 0.
    pub(super) count: u64,
    sum: i64,
    squares: u128,
}

/// Steps in one unit of a score.
const STEPS: f32 = 65_536.0;

impl Spread {
    pub(super) fn add(&mut self, score: f32) {
        let steps = (score * STEPS) as i64;
        self.sum += steps;
        self.squares += u128::from(steps.unsigned_abs().pow(2));
    }

    pub(super) fn take_in(&mut self, other: Self) {
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// How many standard deviations a score is above the mean; 0 where all are alike.
    pub(super) fn z(&self, score: f32) -> f32 {
        let count = self.count.max(1) as f64;
        let mean = self.sum as f64 / count;
        let variance = self.squares as f64 / count - mean * mean;
        if variance <= 1.0 {
            return 0.0;
        }
        ((f64::from(score * STEPS) - mean) / variance.sqrt()) as f32
    }
}
