//! Index benchmarks: building, answering queries and following changes.
//!
//! Burin and semble run in turn over the same folder with the same table. Burin is timed from an empty index to a
//! complete one on disk; folding words into tantivy's files, which only makes later starts cheaper, runs afterwards as
//! in the window. Semble is timed without its start and the loading of its table, and keeps its index in memory. Both
//! read the folder from a warm cache. `BURIN_BENCH_TREE` is the folder of about 5,000 chunks (default: `tokio/src` of
//! the annotated repositories), `BURIN_CORPUS` the large one.

mod follow;
mod memory;
mod regex;
mod speed;

use std::path::{Path, PathBuf};

use ::index::{Index, IndexOptions};
use base::AbsPath;

use crate::figure::Figure;

/// Runs the parts named in `BURIN_BENCH_PARTS` (default all: cold, queries, large, follow,
/// worktree, memory, regex) and returns their figures. With `BURIN_BENCH_EVERY=5`, regex times only
/// every fifth pattern.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let tree = tree()?;
    if let Some(cache) = std::env::var_os(memory::ONLY) {
        return memory::report(&tree, Path::new(&cache));
    }
    let parts = std::env::var("BURIN_BENCH_PARTS")
        .unwrap_or_else(|_| "cold,queries,large,follow,worktree,memory,regex".to_owned());
    let mut figures = Vec::new();
    for part in parts.split(',') {
        figures.extend(match part.trim() {
            "cold" => speed::cold(&tree)?,
            "queries" => speed::queries(&tree)?,
            "large" => speed::large()?,
            "follow" => follow::saves(&tree)?,
            "worktree" => follow::worktree(&tree)?,
            "memory" => memory::figures()?,
            "regex" => regex::figures()?,
            other => return Err(format!("there is no part \"{other}\"")),
        });
    }
    Ok(figures)
}

/// Returns a folder of about 5,000 chunks in a git checkout.
fn tree() -> Result<PathBuf, String> {
    if let Some(folder) = std::env::var_os("BURIN_BENCH_TREE") {
        return Ok(folder.into());
    }
    let folder = std::env::var_os("BURIN_SEMBLE")
        .map(|folder| PathBuf::from(folder).join("repos/tokio/tokio/src"));
    folder.filter(|folder| folder.is_dir()).ok_or_else(|| {
        "set BURIN_BENCH_TREE to a folder of about 5,000 chunks, such as tokio/src of a clone of \
         github.com/tokio-rs/tokio"
            .to_owned()
    })
}

/// Returns the real path of a folder.
pub(crate) fn place(folder: &Path) -> Result<AbsPath, String> {
    let real = folder
        .canonicalize()
        .map_err(|error| format!("cannot find {}: {error}", folder.display()))?;
    AbsPath::new(&real).ok_or_else(|| format!("{} is not an absolute path", real.display()))
}

/// Opens the index of a folder, stored in `cache`, and waits until it is complete and idle.
fn settled(tree: &Path, cache: &Path) -> Result<Index, String> {
    let index = Index::open(place(tree)?, IndexOptions::kept_in(&place(cache)?));
    index.wait_until_idle();
    if index.status().is_ready() {
        Ok(index)
    } else {
        Err(format!(
            "the index of {} is not ready: {:?}",
            tree.display(),
            index.status()
        ))
    }
}
