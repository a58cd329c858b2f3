//! Opens indexes over generated folders and pinned checkouts, and queries them.

use std::path::{Path, PathBuf};

use base::AbsPath;
use index::{Index, IndexOptions, IndexQuery, QueryMode, RankWeights, TextSearch};

use super::score::DEPTH;

/// Number of hits requested, so that `DEPTH` different files remain.
const WANTED: usize = DEPTH * 3;

/// Opens the index of a folder in memory, and waits until it is complete.
pub(super) fn open(root: &Path) -> Result<Index, String> {
    complete(root, IndexOptions::in_memory())
}

/// Opens the index of a folder, stored in `cache`, and waits until it is complete.
pub(super) fn open_kept(root: &Path, cache: &Path) -> Result<Index, String> {
    let options = IndexOptions::kept_in(&real(cache)?);
    let text_search = TextSearch::Unindexed;
    complete(
        root,
        IndexOptions {
            text_search,
            ..options
        },
    )
}

fn real(folder: &Path) -> Result<AbsPath, String> {
    let cannot = |error: std::io::Error| format!("cannot find {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(cannot)?;
    let real = folder.canonicalize().map_err(cannot)?;
    AbsPath::new(&real).ok_or_else(|| "a folder without an absolute path".to_owned())
}

fn complete(root: &Path, options: IndexOptions) -> Result<Index, String> {
    let index = Index::open(real(root)?, options);
    index.wait_until_synced();
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

/// Returns the files found, best first, each once.
pub(super) fn files(
    index: &Index,
    text: &str,
    means: QueryMode,
    weights: &RankWeights,
) -> Vec<PathBuf> {
    let query = IndexQuery {
        mode: means,
        ..IndexQuery::new(text, WANTED)
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
