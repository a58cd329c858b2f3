//! What the index finds: the measurements of its answers, and the fitting of its weights.
//!
//! Three tasks. *Documentation*: the first sentence of a documentation is the question, its function the answer, among
//! 1,500 of held-out packages; once more with the function's own name masked. *Commits*: the message is the question,
//! the files that it touched are the answer, in the tree before it. *Annotated*: semble's published questions over
//! pinned repositories, next to semble itself with the same table.
//!
//! What is fitted on what: the table is trained on packages whose md5 is 2, 3 or 4 modulo 5. The weights of the
//! ranking are fitted on the pairs of packages whose md5 is 1, and on those annotated repositories whose name's md5 is
//! 0 modulo 3 (`bench weights`). Measured are the pairs of packages whose md5 is 0, Python's standard library, and the
//! other annotated repositories; commits are fitted on by nobody.
//!
//! What that is worth: today's weights are two such fits joined by hand, with two of them set so that a definition
//! comes before what mentions it. Which signals there are was chosen after looks at what is measured, so the figures
//! flatter a little.

mod annotated;
mod commits;
mod fitting;
mod minilm;
mod pairs;
mod sample;
mod score;
pub(crate) mod semble;

use crate::figure::Figure;

/// The figures. `BURIN_BENCH_PARTS` names those wanted: documentation, commits, annotated.
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

/// Fits the weights and prints them. Nothing that is measured is looked at.
pub(crate) fn fit() -> Result<Vec<Figure>, String> {
    fitting::figures()
}
