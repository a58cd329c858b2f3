//! The options of an index, and the folders of its data.

use std::sync::Arc;

use base::AbsPath;

use crate::rank::RankWeights;
use crate::rerank::Reranker;

/// Options for opening an index: where data are stored, ranking, text search, and the reranker.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// The folder for the data of all roots; without it everything is in memory.
    pub folder: Option<AbsPath>,
    /// Whether the index starts paused, reading no files until it is resumed.
    pub is_paused: bool,
    /// The weights of the ranking signals.
    pub weights: RankWeights,
    /// Whether a trigram index for text search is kept too.
    pub text_search: TextSearch,
    /// The reranker for the best results, used by callers that can wait for it.
    pub reranker: Option<Arc<Reranker>>,
}

/// Whether a trigram index is maintained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSearch {
    /// Maintained: for a root that stays open.
    Indexed,
    /// Not maintained: for a few queries.
    Unindexed,
}

impl IndexOptions {
    /// Returns options that store the index below Burin's cache folder, for a root that stays open.
    pub fn kept_in(cache: &AbsPath) -> Self {
        Self {
            folder: Some(cache.join("index")),
            text_search: TextSearch::Indexed,
            ..Self::in_memory()
        }
    }

    /// Returns options for an index in memory.
    pub fn in_memory() -> Self {
        Self {
            folder: None,
            is_paused: false,
            weights: RankWeights::default(),
            text_search: TextSearch::Unindexed,
            reranker: None,
        }
    }
}

/// Returns the folder for data that belong to one root only, such as the trigram index. `folder` is
/// the folder in the options. Does not create the folder.
pub fn root_folder(folder: &AbsPath, root: &AbsPath) -> AbsPath {
    crate::repo_layout::folder_for(&folder.join("roots"), root)
}

/// Returns the folder of a root's trigram index. `folder` is the folder in the options. Does not
/// create the folder.
pub fn trigram_folder(folder: &AbsPath, root: &AbsPath) -> AbsPath {
    root_folder(folder, root).join("trigram")
}
