//! Writes the trained table as the shipped file, and measures it.

use std::path::Path;
use std::time::Instant;

use index::embedding::{DIMS, EmbeddingTable, MAX_WORDS, Vector, pack};
use index::wordpiece::Vocabulary;

use super::error::Error;
use super::mine::{self, Side};
use super::{matrix, tune, vocabulary};

/// File name of the trained table in the folder of intermediate files.
pub(super) const TUNED: &str = "tuned.f32";
const SHIPPED: &str = "assets/models/code-embedding.bin";
/// Numbers are clamped to this many standard deviations, because a few large ones would coarsen all others.
const WIDEST: f32 = 6.0;

/// Quantises the trained table in `folder`, writes it as the shipped table, and prints its name and
/// size.
pub(super) fn run(folder: &Path) -> Result<(), Error> {
    let tokens: Vec<String> = vocabulary::read(folder)?
        .into_iter()
        .map(|(token, _)| token)
        .collect();
    let mut table = matrix::read(&folder.join(TUNED))?;
    let square = table
        .iter()
        .map(|number| f64::from(*number).powi(2))
        .sum::<f64>()
        / table.len() as f64;
    let most = WIDEST * square.sqrt() as f32;
    table
        .iter_mut()
        .for_each(|number| *number = number.clamp(-most, most));
    let bytes = pack(&tokens, &table)?;
    let size = bytes.len();
    let packed = EmbeddingTable::parse(bytes.clone())?;
    std::fs::write(SHIPPED, bytes).map_err(Error::io("write", Path::new(SHIPPED)))?;
    let name: String = packed
        .hash()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    eprintln!(
        "{SHIPPED}: {} tokens, {size} bytes, named {name}",
        packed.vocabulary().len()
    );
    Ok(())
}

/// Prints the retrieval scores of BM25, the table and both on pairs that were not trained on, for
/// the shipped table and, if it exists, the trained one.
pub(super) fn score(folder: &Path) -> Result<(), Error> {
    let pairs = mine::read(folder)?;
    let bytes = std::fs::read(SHIPPED).map_err(Error::io("read", Path::new(SHIPPED)))?;
    let shipped = EmbeddingTable::parse(bytes.clone())?;
    let vocabulary: &Vocabulary = shipped.vocabulary();
    let rows = &bytes[bytes.len() - vocabulary.len() * DIMS..];
    let rows: Vec<f32> = rows.iter().map(|byte| f32::from(*byte as i8)).collect();
    let trained = matrix::read(&folder.join(TUNED))
        .ok()
        .filter(|table| table.len() == rows.len());
    speed(&shipped, &pairs);
    eprintln!("language (* without names): BM25, table, both; MRR@10");
    for side in [Side::Weights, Side::HeldOut] {
        let samples = tune::samples(&pairs, vocabulary, side);
        if let Some(trained) = &trained {
            eprintln!("{}, as trained", side.name());
            tune::report(&samples, trained);
        }
        eprintln!("{}, as shipped", side.name());
        tune::report(&samples, &rows);
    }
    Ok(())
}

/// Prints how fast functions are encoded, on one thread.
fn speed(table: &EmbeddingTable, pairs: &mine::Pairs) {
    let functions: Vec<&str> = pairs
        .values()
        .flatten()
        .map(|pair| pair.code.as_str())
        .take(20_000)
        .collect();
    let mut tokens = 0;
    for function in &functions {
        table
            .vocabulary()
            .each_token(function, MAX_WORDS, |_| tokens += 1);
    }
    let start = Instant::now();
    let known = functions
        .iter()
        .filter(|function| table.encode(function) != Vector::ZERO)
        .count();
    let seconds = start.elapsed().as_secs_f64();
    let rate = f64::from(tokens) / seconds / 1e6;
    eprintln!(
        "{known} functions, {tokens} tokens in {seconds:.2} s: {rate:.1} million tokens a second"
    );
}
