//! Styles of the inlays of a suggestion.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use display::InlayId;

use super::rows::RowHighlight;

/// Style of text that a suggestion would insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuggestionStyle {
    /// Muted text after the caret, as if already typed.
    Ghost,
    /// Inserted text, marked as added.
    Added,
    /// Whole rows inserted below those they replace. Their first line feed only starts a new row.
    AddedRows,
}

/// Style and highlights of one inlay.
#[derive(Clone, Debug)]
pub(crate) struct InlayLook {
    pub(crate) look: SuggestionStyle,
    /// Highlights of its text, with offsets into it.
    pub(crate) colours: Option<Arc<[RowHighlight]>>,
}

/// Styles of the inlays that have one.
pub(crate) type InlayLooks = Rc<HashMap<InlayId, InlayLook>>;
