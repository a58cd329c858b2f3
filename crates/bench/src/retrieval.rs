//! Retrieval quality of the index: measures its answers and fits its weights.
//!
//! There are three tasks. *Documentation*: the query is the first sentence of a doc comment, the answer its function
//! among 1,500 functions of held-out packages; a second run masks the function's name. *Commits*: the query is the
//! message of a commit, the answers are the files that it changed, in the tree before it. *Annotated*: semble's
//! published questions over pinned repositories, compared with semble itself with the same table.
//!
//! Training, fitting and measuring use different data. The table is trained on packages whose name's md5 is 2, 3 or 4
//! modulo 5. The weights of the ranking are fitted on pairs of packages whose md5 is 1 modulo 5, and on annotated
//! repositories whose name's md5 is 0 modulo 3 (`bench weights`). Pairs of packages whose md5 is 0 modulo 5, Python's
//! standard library, the other annotated repositories and the commits are only measured.
//!
//! Limitations: the current weights combine two such fits by hand, and two of them are set so that a definition
//! ranks above its mentions. The signals were chosen with knowledge of the measured data, so the figures are
//! slightly too good.

mod annotated;
mod commits;
mod fitting;
mod minilm;
mod pairs;
mod sample;
mod score;
pub(crate) mod semble;

use crate::figure::Figure;

/// Runs the parts named in `BURIN_BENCH_PARTS` (default all: documentation, commits, annotated) and
/// returns their figures.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let parts = std::env::var("BURIN_BENCH_PARTS")
        .unwrap_or_else(|_| "documentation,commits,annotated".to_owned());
    let mut figures = Vec::new();
    for part in parts.split(',') {
        figures.extend(match part.trim() {
            "documentation" => pairs::figures()?,
            "commits" => commits::figures()?,
            "annotated" => annotated::figures()?,
            other => return Err(format!("there is no part \"{other}\"")),
        });
    }
    Ok(figures)
}

/// Fits the weights and prints them, without using the measured data.
pub(crate) fn fit() -> Result<Vec<Figure>, String> {
    fitting::figures()
}
