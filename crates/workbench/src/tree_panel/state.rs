//! State of the project tree view: the selection, the filter, the name being typed, the path marked
//! for pasting, and the undo stack.
//!
//! Plain data over `project::Tree`. Must not know: gpui, the disk. Start at `TreeState::shown`.

use base::AbsPath;
use host::FileKind;
use project::ProjectTree;

use crate::file_operations::FileChange;

/// View state of a project tree.
#[derive(Clone, Debug, Default)]
pub struct TreeState {
    /// The selected row, target of key bindings.
    pub selected: Option<AbsPath>,
    /// Filter: shows only rows that contain this text, and their parent folders.
    pub filter: String,
    /// The name being typed, if any.
    pub editing: Option<NameEdit>,
    /// The path marked for pasting.
    pub marked: Option<MarkedPath>,
    /// Whether ignored files are hidden.
    pub hides_ignored: bool,
    /// Undo stack, newest last.
    pub(crate) done: Vec<FileChange>,
}

/// A name being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameEdit {
    /// Name of a new file in this folder.
    NewFile(AbsPath),
    /// Name of a new folder in this folder.
    NewFolder(AbsPath),
    /// New name of this path.
    Rename(AbsPath),
}

/// A path marked for pasting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedPath {
    /// Path to move or copy.
    pub path: AbsPath,
    /// Whether pasting moves instead of copies.
    pub moves: bool,
}

/// One end of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListEdge {
    /// The first row shown.
    First,
    /// The last row shown.
    Last,
}

/// A row as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownRow {
    /// Row of the tree, by index.
    Entry(usize),
    /// Field for a new name.
    NewName {
        /// Depth of the field in the tree.
        depth: usize,
        /// Whether a folder will be created.
        is_folder: bool,
    },
}

impl TreeState {
    /// Returns the rows to draw, from top to bottom.
    pub fn visible_rows(&self, tree: &ProjectTree) -> Vec<ShownRow> {
        let mut shown: Vec<ShownRow> = if self.filter.is_empty() {
            let rows = tree.rows().iter().enumerate();
            rows.filter(|(_, row)| !(self.hides_ignored && row.entry.is_ignored))
                .map(|(index, _)| ShownRow::Entry(index))
                .collect()
        } else {
            self.filtered(tree)
        };
        if let Some((folder, is_folder)) = self.new_name_in() {
            let (at, depth) = place_for_new(tree, &shown, folder);
            shown.insert(at, ShownRow::NewName { depth, is_folder });
        }
        shown
    }

    /// Returns the folder of a new entry that is being named, and whether the entry is a folder.
    /// Returns `None` if none is being created.
    fn new_name_in(&self) -> Option<(&AbsPath, bool)> {
        match self.editing.as_ref()? {
            NameEdit::NewFile(folder) => Some((folder, false)),
            NameEdit::NewFolder(folder) => Some((folder, true)),
            NameEdit::Rename(_) => None,
        }
    }

    fn filtered(&self, tree: &ProjectTree) -> Vec<ShownRow> {
        let needle = self.filter.to_lowercase();
        let rows = tree.rows();
        let mut keep = vec![false; rows.len()];
        // The parents of the current row, outermost first.
        let mut above: Vec<usize> = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            above.truncate(row.depth);
            if row
                .entry
                .path
                .printable_name()
                .to_lowercase()
                .contains(&needle)
            {
                keep[index] = true;
                above.iter().for_each(|folder| keep[*folder] = true);
            }
            above.push(index);
        }
        let kept = keep.iter().enumerate().filter(|(_, keep)| **keep);
        kept.map(|(index, _)| ShownRow::Entry(index)).collect()
    }

    /// Moves the selection by `step` rows, stopping at the ends.
    pub fn select_by(&mut self, tree: &ProjectTree, step: isize) {
        let shown = self.visible_rows(tree);
        let paths: Vec<_> = shown
            .iter()
            .filter_map(|row| entry_path(tree, row))
            .collect();
        let at = self
            .selected
            .as_ref()
            .and_then(|selected| paths.iter().position(|path| *path == selected));
        let last = paths.len().saturating_sub(1);
        let next = match at {
            Some(at) => at.saturating_add_signed(step).min(last),
            None if step < 0 => last,
            None => 0,
        };
        if let Some(path) = paths.get(next) {
            self.selected = Some((*path).clone());
        }
    }

    /// Selects the first or the last shown row.
    pub fn select_edge(&mut self, tree: &ProjectTree, edge: ListEdge) {
        let shown = self.visible_rows(tree);
        let mut paths = shown.iter().filter_map(|row| entry_path(tree, row));
        let path = match edge {
            ListEdge::First => paths.next(),
            ListEdge::Last => paths.next_back(),
        };
        if let Some(path) = path {
            self.selected = Some(path.clone());
        }
    }

    /// Selects the first shown row whose name contains the filter, ignoring case. Keeps the
    /// selection if there is no such row.
    pub fn select_first_match(&mut self, tree: &ProjectTree) {
        let needle = self.filter.to_lowercase();
        let shown = self.visible_rows(tree);
        let found = shown
            .iter()
            .filter_map(|row| entry_path(tree, row))
            .find(|path| path.printable_name().to_lowercase().contains(&needle));
        if let Some(path) = found {
            self.selected = Some(path.clone());
        }
    }

    /// Returns the folder for a new file: the selected folder, the parent of the selected file, or
    /// the root without a selection.
    pub fn target_folder(&self, tree: &ProjectTree) -> AbsPath {
        let Some(selected) = &self.selected else {
            return tree.root().clone();
        };
        let row = tree
            .row_of(selected)
            .and_then(|index| tree.rows().get(index));
        match row {
            Some(row) if row.entry.kind == FileKind::Folder => selected.clone(),
            _ => selected.parent().unwrap_or_else(|| tree.root().clone()),
        }
    }
}

/// Returns the path of a shown row, or `None` for the text field of a new name.
pub(crate) fn entry_path<'a>(tree: &'a ProjectTree, row: &ShownRow) -> Option<&'a AbsPath> {
    match row {
        ShownRow::Entry(index) => tree.rows().get(*index).map(|row| &row.entry.path),
        ShownRow::NewName { .. } => None,
    }
}

/// Returns the position of the name field: directly below the folder's row, or at the top for the
/// root.
fn place_for_new(tree: &ProjectTree, shown: &[ShownRow], folder: &AbsPath) -> (usize, usize) {
    let at = shown
        .iter()
        .position(|row| entry_path(tree, row) == Some(folder));
    match (
        at,
        tree.row_of(folder).and_then(|index| tree.rows().get(index)),
    ) {
        (Some(at), Some(row)) => (at + 1, row.depth + 1),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests;
