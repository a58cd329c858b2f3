//! Indexes over made folders and pinned checkouts, and what they answer.

use std::path::{Path, PathBuf};

use base::AbsPath;
use index::{Index, Means, Options, Query, Weights};

use super::score::DEPTH;

/// Hits asked for, so that after those of one file are taken together `DEPTH` files are left.
const WANTED: usize = DEPTH * 3;

/// A folder's index, complete.
pub(super) fn open(root: &Path) -> Result<Index, String> {
    let root = root
        .canonicalize()
        .map_err(|error| format!("cannot find {}: {error}", root.display()))?;
    let root = AbsPath::new(&root).ok_or("a folder without an absolute path")?;
    let index = Index::open(root, Options::in_memory());
    index.settle();
    let status = index.status();
    match status.chunks {
        0 => Err(format!(
            "the index of {} is empty: {:?}",
            index.root(),
            status.phase
        )),
        _ => Ok(index),
    }
}

/// Which files are found, the best first, each once.
pub(super) fn files(index: &Index, text: &str, means: Means, weights: &Weights) -> Vec<PathBuf> {
    let query = Query {
        means,
        ..Query::new(text, WANTED)
    };
    let mut files = Vec::new();
    for hit in index.search_weighted(&query, weights).hits {
        if !files.contains(&hit.path) {
            files.push(hit.path);
        }
    }
    files.truncate(DEPTH);
    files
}
