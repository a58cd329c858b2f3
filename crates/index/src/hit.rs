//! Search results and their scores.

use std::ops::Range;
use std::path::PathBuf;

use base::Span;
use syntax::OutlineKind;

/// The answer to a query: hits, and whether the whole root could be searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchAnswer {
    /// The hits, best first.
    pub hits: Vec<SearchHit>,
    /// Whether the whole root was searchable; false while the index is being built.
    pub is_complete: bool,
}

/// One search result: a chunk of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// The path relative to the root.
    pub path: PathBuf,
    /// Row range, 0-based, end exclusive.
    pub rows: Range<u32>,
    /// Byte range in the file.
    pub span: Span,
    /// The first symbol defined there, or the one it is a part of.
    pub symbol: Option<String>,
    /// The kind of that symbol.
    pub kind: Option<OutlineKind>,
    /// The text of the chunk. Empty if the file cannot be read any more.
    pub text: String,
    /// The score; comparable only within one answer.
    pub score: f32,
    /// The components of the score.
    pub parts: ScoreParts,
}

/// The components of a hit's score, to explain it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreParts {
    /// The BM25 score of its words.
    pub words: f32,
    /// The cosine similarity of the embeddings, from -1 to 1.
    pub meaning: f32,
    /// The similarity computed by the reranker, if it ran.
    pub rerank: Option<f32>,
    /// Bonuses and penalties by name.
    pub boosts: Vec<(&'static str, f32)>,
}
