//! Values dragged between the views of a window, and the drop target.

use crate::layout::{ItemId, PaneId, PaneSide};

/// A tab that is being dragged.
#[derive(Clone, Debug)]
pub(crate) struct DraggedTab {
    /// The item of the dragged tab.
    pub(crate) item: ItemId,
    /// The title of the tab.
    pub(crate) title: String,
    /// Whether the tab shows a terminal, which can be dropped on the panel of terminals.
    pub(crate) is_terminal: bool,
}

/// A file of the project tree that is being dragged.
#[derive(Clone, Debug)]
pub(crate) struct DraggedPath {
    /// The path of the file.
    pub(crate) path: base::AbsPath,
}

/// Drop target for something dragged over a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DropPlace {
    /// The pane under the pointer.
    pub(crate) pane: PaneId,
    /// The side of the pane to split at; `None` drops into the pane.
    pub(crate) side: Option<PaneSide>,
}
