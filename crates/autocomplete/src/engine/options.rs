//! What the person and the machine's models decide.

use base::AbsPath;
use model::{ModelId, NextEditFormat};

/// How the pipeline works.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The project's folder; paths are told to models below it.
    pub root: Option<AbsPath>,
    /// Who is asked; nobody leaves it to the local tier.
    pub model: Option<TabModel>,
    /// Suggestions that are less likely to be kept are not shown unless asked for, from 0 to 1.
    pub threshold: f32,
}

/// A model that completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabModel {
    /// Its name.
    pub id: ModelId,
    /// How it is asked.
    pub kind: TabKind,
}

/// How a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabKind {
    /// To fill the gap at the caret.
    Gap,
    /// To predict the next edit.
    NextEdit(NextEditFormat),
}

impl Options {
    /// Everything is shown, and nobody is asked.
    pub fn local() -> Self {
        Self {
            root: None,
            model: None,
            threshold: 0.0,
        }
    }
}
