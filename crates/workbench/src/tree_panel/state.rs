//! What the project tree remembers beside the tree itself: the selection, the filter, a name being
//! typed, what was marked to be moved, and what can be taken back.
//!
//! Plain data over `project::Tree`. Must not know: gpui, the disk. Start at `TreeState::shown`.

use base::AbsPath;
use host::FileKind;
use project::Tree;

/// The state of one project tree on the screen.
#[derive(Clone, Debug, Default)]
pub struct TreeState {
    /// The row that keys act on.
    pub selected: Option<AbsPath>,
    /// Shows only rows that hold this text, and the folders above them.
    pub filter: String,
    /// A name that is being typed.
    pub editing: Option<Editing>,
    /// What waits to be put somewhere.
    pub marked: Option<Marked>,
    /// Whether what ignore files name is left out.
    pub hides_ignored: bool,
    /// What can be taken back, the newest last.
    pub done: Vec<Done>,
}

/// A name that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Editing {
    /// For a new file in this folder.
    NewFile(AbsPath),
    /// For a new folder in this folder.
    NewFolder(AbsPath),
    /// In place of this path's name.
    Rename(AbsPath),
}

/// Something marked to be put elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// What.
    pub path: AbsPath,
    /// Whether it leaves where it is.
    pub moves: bool,
}

/// A change on the disk made from the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// A file or folder that is new.
    Created(AbsPath),
    /// Another name or place.
    Moved {
        /// Where it was.
        from: AbsPath,
        /// Where it is.
        to: AbsPath,
    },
    /// In the trash.
    Trashed(AbsPath),
}

/// An end of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The top.
    First,
    /// The bottom.
    Last,
}

/// A row as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownRow {
    /// Row of the tree by its index.
    Entry(usize),
    /// The field for a new name, this deep.
    NewName {
        /// How deep it stands.
        depth: usize,
        /// Whether it will be a folder.
        is_folder: bool,
    },
}

impl TreeState {
    /// The rows to draw, from top to bottom.
    pub fn shown(&self, tree: &Tree) -> Vec<ShownRow> {
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

    fn new_name_in(&self) -> Option<(&AbsPath, bool)> {
        match self.editing.as_ref()? {
            Editing::NewFile(folder) => Some((folder, false)),
            Editing::NewFolder(folder) => Some((folder, true)),
            Editing::Rename(_) => None,
        }
    }

    fn filtered(&self, tree: &Tree) -> Vec<ShownRow> {
        let needle = self.filter.to_lowercase();
        let rows = tree.rows();
        let mut keep = vec![false; rows.len()];
        // The folders above the row at hand, from the outermost to the innermost.
        let mut above: Vec<usize> = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            above.truncate(row.depth);
            if row.entry.path.shown_name().to_lowercase().contains(&needle) {
                keep[index] = true;
                above.iter().for_each(|folder| keep[*folder] = true);
            }
            above.push(index);
        }
        let kept = keep.iter().enumerate().filter(|(_, keep)| **keep);
        kept.map(|(index, _)| ShownRow::Entry(index)).collect()
    }

    /// Where the selected row stands among the shown ones.
    pub fn selected_at(&self, tree: &Tree, shown: &[ShownRow]) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        shown
            .iter()
            .position(|row| entry_path(tree, row) == Some(selected))
    }

    /// Moves the selection by `step` rows and stops at the ends.
    pub fn select_by(&mut self, tree: &Tree, step: isize) {
        let shown = self.shown(tree);
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
    pub fn select_edge(&mut self, tree: &Tree, edge: Edge) {
        let shown = self.shown(tree);
        let mut paths = shown.iter().filter_map(|row| entry_path(tree, row));
        let path = match edge {
            Edge::First => paths.next(),
            Edge::Last => paths.next_back(),
        };
        if let Some(path) = path {
            self.selected = Some(path.clone());
        }
    }

    /// Selects the first shown row that the filter itself meets.
    pub fn select_first_match(&mut self, tree: &Tree) {
        let needle = self.filter.to_lowercase();
        let shown = self.shown(tree);
        let found = shown
            .iter()
            .filter_map(|row| entry_path(tree, row))
            .find(|path| path.shown_name().to_lowercase().contains(&needle));
        if let Some(path) = found {
            self.selected = Some(path.clone());
        }
    }

    /// The folder in which a new file would go: the selected folder, or the one around the
    /// selected file.
    pub fn target_folder(&self, tree: &Tree) -> AbsPath {
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

/// What a shown row stands for.
pub(crate) fn entry_path<'a>(tree: &'a Tree, row: &ShownRow) -> Option<&'a AbsPath> {
    match row {
        ShownRow::Entry(index) => tree.rows().get(*index).map(|row| &row.entry.path),
        ShownRow::NewName { .. } => None,
    }
}

/// Right below the folder's own row; at the top for the root.
fn place_for_new(tree: &Tree, shown: &[ShownRow], folder: &AbsPath) -> (usize, usize) {
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
