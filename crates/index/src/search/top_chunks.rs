//! Top-k selection, and the distribution of scores.

use std::cmp::Ordering;

use super::SearchContext;

/// Keeps the top `most` chunks; ties are broken by path and index.
pub(super) struct TopChunks {
    most: usize,
    /// Holds at most twice the requested number.
    chunks: Vec<(f32, u32)>,
    /// Scores below this are not among the best.
    least: f32,
}

impl TopChunks {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            chunks: Vec::with_capacity(most.max(1) * 2),
            least: f32::NEG_INFINITY,
        }
    }

    pub(super) fn offer(&mut self, context: &SearchContext<'_>, score: f32, chunk: u32) {
        if score < self.least {
            return;
        }
        self.chunks.push((score, chunk));
        if self.chunks.len() >= self.most * 2 {
            self.cut(context);
        }
    }

    fn cut(&mut self, context: &SearchContext<'_>) {
        let order = |left: &(f32, u32), right: &(f32, u32)| order(context, left, right);
        if self.chunks.len() > self.most {
            self.chunks.select_nth_unstable_by(self.most - 1, order);
            self.chunks.truncate(self.most);
            self.least = self.chunks[self.most - 1].0;
        }
    }

    pub(super) fn take_in(&mut self, context: &SearchContext<'_>, other: TopChunks) {
        for (score, chunk) in other.chunks {
            self.offer(context, score, chunk);
        }
    }

    /// Drops all but the best chunks and returns these, in no particular order.
    pub(super) fn chunks(&mut self, context: &SearchContext<'_>) -> Vec<u32> {
        self.cut(context);
        self.chunks.iter().map(|(_, chunk)| *chunk).collect()
    }
}

fn order(context: &SearchContext<'_>, left: &(f32, u32), right: &(f32, u32)) -> Ordering {
    let by_score = right.0.total_cmp(&left.0);
    by_score.then_with(|| context.location(left.1).cmp(&context.location(right.1)))
}

/// Mean and standard deviation of scores. Sums are integers, so that their order does not matter.
#[derive(Clone, Copy, Default)]
pub(super) struct ScoreSpread {
    /// The number of scores; those that were not added count as 0.
    pub(super) count: u64,
    sum: i64,
    squares: u128,
}

/// Fixed-point steps per unit of a score.
const STEPS: f32 = 65_536.0;

impl ScoreSpread {
    pub(super) fn add(&mut self, score: f32) {
        let steps = (score * STEPS) as i64;
        self.sum += steps;
        self.squares += u128::from(steps.unsigned_abs().pow(2));
    }

    pub(super) fn take_in(&mut self, other: Self) {
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Returns the standard score; 0 if all scores are equal.
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
