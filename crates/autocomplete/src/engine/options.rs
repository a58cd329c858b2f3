//! Engine options from the user's settings and the available models.

use base::AbsPath;
use model::{ModelId, NextEditFormat};

/// Options of the engine: project folder, model, local tier, and the threshold for showing a
/// suggestion.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineOptions {
    /// Project folder; models see paths relative to it.
    pub root: Option<AbsPath>,
    /// Model to query; with `None` only the local tier suggests.
    pub model: Option<TabModel>,
    /// Whether the local tier suggests, and learns from the edits.
    pub has_local_tier: bool,
    /// Minimum probability of being kept at which a suggestion is shown unasked, from 0 to 1;
    /// `None` for the threshold that the local tier has learned from the outcomes.
    pub threshold: Option<f32>,
}

/// A model used for completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabModel {
    /// Identifier of the model.
    pub id: ModelId,
    /// Kind of request it answers.
    pub kind: TabKind,
    /// Whether its server processes one request at a time, as far as the configuration tells. The
    /// engine also observes it.
    pub is_serial: bool,
}

/// Kind of request that a completion model answers: fill in the middle, or next-edit prediction in
/// a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabKind {
    /// Fill in the middle at the caret.
    Gap,
    /// Prediction of the next edit.
    NextEdit(NextEditFormat),
}

impl EngineOptions {
    /// Returns options that query no model and show every suggestion of the local tier.
    pub fn local() -> Self {
        Self {
            root: None,
            model: None,
            has_local_tier: true,
            threshold: Some(0.0),
        }
    }

    /// Returns options that query this model alone and show every suggestion.
    pub fn model(model: TabModel) -> Self {
        Self {
            model: Some(model),
            has_local_tier: false,
            ..Self::local()
        }
    }
}
