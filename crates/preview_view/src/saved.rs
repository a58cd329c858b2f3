//! Stored state of a view between runs.
//!
//! A border type: read from Burin's own file, which may be old or broken.

use serde::{Deserialize, Serialize};

use crate::PreviewKind;

/// Stored state of a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedPreview {
    /// The kind of the view.
    pub kind: PreviewKind,
    /// Path of the file, in the text form of paths.
    pub path: String,
    /// The row or the offset at the top; its unit is that of the kind.
    #[serde(default)]
    pub top: f64,
    /// The side of an image pixel on the screen; `None` if the image fits into the view.
    #[serde(default)]
    pub zoom: Option<f32>,
}
