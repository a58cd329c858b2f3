//! One step of the training: computes the gradient of a batch's loss and moves the rows against it
//! (Adam).

use index::embedding::DIMS;

use super::{Bag, Tuning};
use crate::{bags, matrix, threads};

const MEAN: f32 = 0.9;
const SQUARE: f32 = 0.999;
const LEAST: f32 = 1e-8;

/// State of the Adam optimiser, with scratch buffers.
pub(super) struct Step {
    temperature: f32,
    batch: usize,
    pull: f32,
    taken: i32,
    /// The initial rows.
    start: Vec<f32>,
    means: Vec<f32>,
    squares: Vec<f32>,
    slopes: Vec<f32>,
    /// The scores of all queries for all functions, `batch` by `batch`.
    scores: Vec<f32>,
    turned: Vec<f32>,
}

struct BatchSide {
    units: Vec<f32>,
    lengths: Vec<f32>,
    slopes: Vec<f32>,
}

impl Step {
    /// Creates the state for training that starts from `table`.
    pub(super) fn new(table: &[f32], tuning: Tuning) -> Self {
        let room = || vec![0.0; table.len()];
        Self {
            temperature: tuning.temperature,
            batch: tuning.batch,
            pull: tuning.pull,
            taken: 0,
            start: table.to_vec(),
            means: room(),
            squares: room(),
            slopes: room(),
            scores: vec![0.0; tuning.batch * tuning.batch],
            turned: vec![0.0; tuning.batch * tuning.batch.max(DIMS)],
        }
    }

    /// Moves `table` by one batch and returns the mean loss. Both lists have the length of a batch;
    /// the nth query belongs to the nth function.
    pub(super) fn take(
        &mut self,
        table: &mut [f32],
        queries: &[Bag],
        functions: &[Bag],
        rate: f32,
    ) -> f64 {
        let batch = self.batch;
        let mut query = BatchSide::new(table, queries);
        let mut function = BatchSide::new(table, functions);
        let turned = &mut self.turned[..batch * DIMS];
        matrix::turned(&function.units, DIMS, turned);
        matrix::product(&query.units, turned, DIMS, batch, &mut self.scores);
        let loss = self.slopes_of_scores();
        matrix::product(
            &self.scores,
            &function.units,
            batch,
            DIMS,
            &mut query.slopes,
        );
        matrix::turned(&self.scores, batch, &mut self.turned[..batch * batch]);
        matrix::product(
            &self.turned[..batch * batch],
            &query.units,
            batch,
            DIMS,
            &mut function.slopes,
        );
        query.through_length();
        function.through_length();
        self.taken += 1;
        self.move_rows(
            table,
            &[(queries, &query.slopes), (functions, &function.slopes)],
            rate,
        );
        loss
    }

    /// Replaces the cosines of all queries and functions by the gradient of the loss; returns the
    /// mean loss.
    fn slopes_of_scores(&mut self) -> f64 {
        let batch = self.batch;
        let heat = 1.0 / self.temperature;
        let mut rows = vec![0.0_f32; batch];
        let some = batch.div_ceil(threads());
        let mut right = vec![0.0_f32; batch];
        for (number, line) in self.scores.chunks_exact(batch).enumerate() {
            right[number] = line[number] * heat;
        }
        std::thread::scope(|scope| {
            for (lines, rows) in self
                .scores
                .chunks_mut(some * batch)
                .zip(rows.chunks_mut(some))
            {
                scope.spawn(move || {
                    for (line, row) in lines.chunks_exact_mut(batch).zip(rows) {
                        *row = heated(line, heat);
                    }
                });
            }
        });
        let mut columns = vec![0.0_f32; batch];
        for line in self.scores.chunks_exact(batch) {
            columns
                .iter_mut()
                .zip(line)
                .for_each(|(sum, number)| *sum += number);
        }
        let mut loss = 0.0;
        for ((right, row), column) in right.iter().zip(&rows).zip(&columns) {
            loss += f64::from(row.ln() + column.ln() - 2.0 * right) / 2.0;
        }
        let scale = heat / (2.0 * batch as f32);
        columns.iter_mut().for_each(|sum| *sum = 1.0 / *sum);
        for (number, (line, row)) in self.scores.chunks_exact_mut(batch).zip(&rows).enumerate() {
            let row = 1.0 / row;
            line.iter_mut()
                .zip(&columns)
                .for_each(|(score, column)| *score *= (row + column) * scale);
            line[number] -= 2.0 * scale;
        }
        loss / batch as f64
    }

    /// Applies Adam to the rows that the batch touched. Each thread owns a range of rows and goes through all
    /// texts.
    fn move_rows(&mut self, table: &mut [f32], sides: &[(&[Bag], &[f32])], rate: f32) {
        let rate = rate * (1.0 - SQUARE.powi(self.taken)).sqrt() / (1.0 - MEAN.powi(self.taken));
        let rows = (table.len() / DIMS).div_ceil(threads());
        let some = rows * DIMS;
        let kept = self
            .means
            .chunks_mut(some)
            .zip(self.squares.chunks_mut(some));
        let moved = table.chunks_mut(some).zip(self.slopes.chunks_mut(some));
        let pull = self.pull;
        std::thread::scope(|scope| {
            for (number, (((table, slopes), (means, squares)), start)) in
                moved.zip(kept).zip(self.start.chunks(some)).enumerate()
            {
                let part = RowRange {
                    first: number * rows,
                    table,
                    start,
                    slopes,
                    means,
                    squares,
                };
                scope.spawn(move || part.move_by(sides, rate, pull));
            }
        });
    }
}

/// The rows of one thread.
struct RowRange<'a> {
    /// Index of the first row.
    first: usize,
    table: &'a mut [f32],
    start: &'a [f32],
    slopes: &'a mut [f32],
    means: &'a mut [f32],
    squares: &'a mut [f32],
}

impl RowRange<'_> {
    fn move_by(mut self, sides: &[(&[Bag], &[f32])], rate: f32, pull: f32) {
        for token in self.gathered(sides) {
            for at in token * DIMS..(token + 1) * DIMS {
                let slope = std::mem::take(&mut self.slopes[at]);
                let mean = MEAN * self.means[at] + (1.0 - MEAN) * slope;
                let square = SQUARE * self.squares[at] + (1.0 - SQUARE) * slope * slope;
                let back = pull * (self.table[at] - self.start[at]);
                self.table[at] -= rate * (mean / (square.sqrt() + LEAST) + back);
                (self.means[at], self.squares[at]) = (mean, square);
            }
        }
    }

    /// Adds up the gradients of the rows; returns the touched rows, counted from the first.
    fn gathered(&mut self, sides: &[(&[Bag], &[f32])]) -> Vec<usize> {
        let count = self.table.len() / DIMS;
        let mut is_touched = vec![false; count];
        let end = self.first + count;
        for (bags, from) in sides {
            for (bag, from) in bags.iter().zip(from.chunks_exact(DIMS)) {
                let start = bag.partition_point(|(token, _)| (*token as usize) < self.first);
                let own = bag[start..]
                    .iter()
                    .take_while(|(token, _)| (*token as usize) < end);
                for (token, weight) in own {
                    let token = *token as usize - self.first;
                    is_touched[token] = true;
                    let slopes = &mut self.slopes[token * DIMS..][..DIMS];
                    slopes
                        .iter_mut()
                        .zip(from)
                        .for_each(|(sum, slope)| *sum += weight * slope);
                }
            }
        }
        (0..count).filter(|token| is_touched[*token]).collect()
    }
}

/// Replaces `line` by the exponentials of its values times `heat`; returns their sum.
fn heated(line: &mut [f32], heat: f32) -> f32 {
    let mut sums = [0.0_f32; 16];
    for some in line.chunks_exact_mut(16) {
        for (number, sum) in some.iter_mut().zip(&mut sums) {
            *number = matrix::exp(*number * heat);
            *sum += *number;
        }
    }
    sums.iter().sum()
}

impl BatchSide {
    fn new(table: &[f32], bags: &[Bag]) -> Self {
        let mut units = vec![0.0; bags.len() * DIMS];
        let mut lengths = vec![0.0; bags.len()];
        let some = bags.len().div_ceil(threads());
        std::thread::scope(|scope| {
            let parts = units.chunks_mut(some * DIMS).zip(lengths.chunks_mut(some));
            for ((units, lengths), bags) in parts.zip(bags.chunks(some)) {
                scope.spawn(move || {
                    for ((unit, length), bag) in units.chunks_exact_mut(DIMS).zip(lengths).zip(bags)
                    {
                        bags::sum(table, bag, unit);
                        *length = bags::unit(unit);
                    }
                });
            }
        });
        let slopes = vec![0.0; units.len()];
        Self {
            units,
            lengths,
            slopes,
        }
    }

    /// Removes the component of the gradient along each vector, because the length of a vector is
    /// irrelevant.
    fn through_length(&mut self) {
        let units = self.units.chunks_exact(DIMS).zip(&self.lengths);
        for (slopes, (unit, length)) in self.slopes.chunks_exact_mut(DIMS).zip(units) {
            let along: f32 = slopes
                .iter()
                .zip(unit)
                .map(|(slope, number)| slope * number)
                .sum();
            slopes
                .iter_mut()
                .zip(unit)
                .for_each(|(slope, number)| *slope = (*slope - along * number) / length);
        }
    }
}
