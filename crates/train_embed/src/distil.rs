//! The table before training: MiniLM's embedding of each single token, reduced to fewer dimensions and weighted by
//! the rarity of the token, as in model2vec.

use std::path::Path;

use index::embedding::DIMS;
use index::minilm::{MiniLm, WIDTH};
use index::words::{self, SplitWord};

use super::error::Error;
use super::matrix;

/// Tokens with this share of all tokens get half the weight.
const COMMON: f64 = 1e-4;
/// Number of tokens encoded between two lines of progress.
const AT_ONCE: usize = 4_096;
const FILE: &str = "distilled.f32";

/// Reads the table that `run` wrote: a row of [`DIMS`] numbers for each token, concatenated.
pub(super) fn read(folder: &Path) -> Result<Vec<f32>, Error> {
    matrix::read(&folder.join(FILE))
}

/// Computes MiniLM's embedding of each of `tokens` (with their counts), reduces the dimensions,
/// gives rare tokens more weight, and writes the rows to `folder`. Takes minutes.
pub(super) fn run(tokens: &[(String, u32)], model: &MiniLm, folder: &Path) -> Result<(), Error> {
    let mut rows = Vec::with_capacity(tokens.len());
    for some in tokens.chunks(AT_ONCE) {
        let pieces: Vec<Vec<u32>> = some.iter().map(|(token, _)| pieces(model, token)).collect();
        rows.extend(model.means(&pieces)?);
        eprintln!("distilled {} of {} tokens", rows.len(), tokens.len());
    }
    let mut table = reduced(&rows);
    let all: f64 = tokens.iter().map(|(_, count)| f64::from(*count)).sum();
    for ((_, count), row) in tokens.iter().zip(table.chunks_exact_mut(DIMS)) {
        let weight = COMMON / (COMMON + f64::from(*count) / all);
        row.iter_mut().for_each(|number| *number *= weight as f32);
    }
    let length =
        |row: &[f32]| f64::from(row.iter().map(|number| number * number).sum::<f32>()).sqrt();
    let mean = table.chunks_exact(DIMS).map(length).sum::<f64>() / tokens.len() as f64;
    table.iter_mut().for_each(|number| *number /= mean as f32);
    matrix::write(&folder.join(FILE), &table)
}

/// Returns MiniLM's tokens for a token: itself if MiniLM knows it, otherwise the tokens of its
/// parts.
fn pieces(model: &MiniLm, token: &str) -> Vec<u32> {
    let vocabulary = model.vocabulary();
    let mut pieces = Vec::new();
    match known(model, token) {
        Some(known) => pieces.push(known),
        None => {
            words::each(token, 20, |word| match word {
                SplitWord::Whole {
                    is_compound: true, ..
                } => {}
                SplitWord::Whole { text, .. } | SplitWord::Part(text) => {
                    vocabulary.split_word(text, &mut |token| pieces.push(token))
                }
            });
        }
    }
    pieces
}

/// Returns MiniLM's number of a token, spelt with `##` if it continues a word; `None` if MiniLM
/// lacks it.
fn known(model: &MiniLm, token: &str) -> Option<u32> {
    let vocabulary = model.vocabulary();
    match token.strip_prefix("##") {
        Some(_) => {
            (0..vocabulary.len() as u32).find(|number| vocabulary.spelling(*number) == token)
        }
        None => vocabulary.whole_token(token),
    }
}

/// Returns the rows projected onto the directions in which they differ most (PCA).
fn reduced(rows: &[Vec<f32>]) -> Vec<f32> {
    let count = rows.len() as f64;
    let mut mean = vec![0.0; WIDTH];
    for row in rows {
        mean.iter_mut()
            .zip(row)
            .for_each(|(mean, number)| *mean += f64::from(*number) / count);
    }
    let mut covariance = vec![0.0; WIDTH * WIDTH];
    let mut centred = vec![0.0; WIDTH];
    for row in rows {
        centred
            .iter_mut()
            .zip(row)
            .zip(&mean)
            .for_each(|((to, number), mean)| *to = f64::from(*number) - mean);
        for (line, number) in covariance.chunks_exact_mut(WIDTH).zip(&centred) {
            line.iter_mut()
                .zip(&centred)
                .for_each(|(sum, other)| *sum += number * other);
        }
    }
    let axes = matrix::axes(covariance, WIDTH);
    let mut table = Vec::with_capacity(rows.len() * DIMS);
    for row in rows {
        centred
            .iter_mut()
            .zip(row)
            .zip(&mean)
            .for_each(|((to, number), mean)| *to = f64::from(*number) - mean);
        let along = |axis: &Vec<f64>| {
            axis.iter()
                .zip(&centred)
                .map(|(one, other)| one * other)
                .sum::<f64>() as f32
        };
        table.extend(axes[..DIMS].iter().map(along));
    }
    table
}
