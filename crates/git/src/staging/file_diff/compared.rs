//! The diff of one file between any two sides. Nothing is staged from it.

use super::{DiffSide, DiffSource, FileDiff};
use crate::diff::{TreeComparison, TreeSide, tree_of_side};
use crate::index_file::slot;
use crate::merge::TreePath;
use crate::repository::Repository;
use crate::staging::{Side, StagingError};

impl Repository {
    /// Returns the diff of a file, by its path and the one before a rename, between two sides. `buffer` is the content
    /// that a save would write to the working tree, if it differs from the file on disk.
    ///
    /// # Errors
    ///
    /// `NeedsProgram` if a text cannot be made without the git program, `Absent` if neither side has the file.
    pub fn compared_diff(
        &self,
        sides: &TreeComparison,
        (path, old_path): (&TreePath, Option<&TreePath>),
        buffer: Option<&[u8]>,
    ) -> Result<FileDiff, StagingError> {
        let index = self.fresh_index()?;
        let side_of = |side: &TreeSide, path: &TreePath| {
            let source = DiffSource {
                repository: self,
                index: &index,
                path,
                in_index: slot(&index, path),
            };
            source.tree_side(side, buffer)
        };
        let base = side_of(&sides.before, old_path.unwrap_or(path))?;
        let work = side_of(&sides.after, path)?;
        if base.entry.is_none() && work.entry.is_none() {
            return Err(StagingError::Absent(path.clone()));
        }
        let old_path = old_path.cloned();
        Ok(FileDiff::new(
            path,
            Side::Unstaged,
            base,
            work,
            old_path,
            None,
        ))
    }
}

impl DiffSource<'_> {
    fn tree_side(&self, side: &TreeSide, buffer: Option<&[u8]>) -> Result<DiffSide, StagingError> {
        match side {
            TreeSide::Empty => Ok(DiffSide::default()),
            TreeSide::Index => self.index_side(),
            TreeSide::WorkingTree => self.worktree_side(buffer),
            TreeSide::Revision(_) => {
                let tree = tree_of_side(self.repository, side)?;
                self.object_side(self.repository.tree_slot(tree.as_ref(), self.path)?)
            }
        }
    }
}
