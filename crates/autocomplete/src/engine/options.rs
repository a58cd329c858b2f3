//! Engine options from the user's settings and the available models.

use base::AbsPath;
use model::{ModelId, NextEditFormat};

/// Options of the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineOptions {
    /// Project folder; models see paths relative to it.
    pub root: Option<AbsPath>,
    /// Model to query; with `None` only the local tier suggests.
    pub model: Option<TabModel>,
    /// Minimum probability of being kept at which a suggestion is shown unasked, from 0 to 1.
    pub threshold: f32,
}

/// A model used for completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabModel {
    /// Identifier of the model.
    pub id: ModelId,
    /// Kind of request it answers.
    pub kind: TabKind,
}

/// Kind of request that a completion model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabKind {
    /// Fill in the middle at the caret.
    Gap,
    /// Prediction of the next edit.
    NextEdit(NextEditFormat),
}

impl EngineOptions {
    /// Returns options that query no model and show every suggestion.
    pub fn local() -> Self {
        Self {
            root: None,
            model: None,
            threshold: 0.0,
        }
    }
}
