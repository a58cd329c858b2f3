//! What is found.

use std::ops::Range;
use std::path::PathBuf;

use base::Span;
use syntax::OutlineKind;

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The best first.
    pub hits: Vec<Hit>,
    /// Whether everything was in sight: false while the index is built.
    pub is_complete: bool,
}

/// A place that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Relative to the root.
    pub path: PathBuf,
    /// Rows, from 0, the last one excluded.
    pub rows: Range<u32>,
    /// Bytes of the file.
    pub span: Span,
    /// What is defined there first, or what it is a part of.
    pub symbol: Option<String>,
    /// What that is.
    pub kind: Option<OutlineKind>,
    /// Its text. Empty where the file cannot be read any more.
    pub text: String,
    /// How good it is; comparable within one answer.
    pub score: f32,
    /// What that is made of.
    pub parts: Parts,
}

/// What a score is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// BM25 of its words.
    pub words: f32,
    /// Likeness of meaning, from -1 to 1.
    pub meaning: f32,
    /// The same at a second look, where there was one.
    pub second_look: Option<f32>,
    /// What was added or taken away for its place, by name.
    pub boosts: Vec<(&'static str, f32)>,
}
