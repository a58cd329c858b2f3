//! Writes a tree to a folder, for review or checks.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use base::AbsPath;
use host::{ExpectedContent, Files, SaveRequest, links};

use super::eol;
use crate::merge::{EntryMode, ObjectId, TreePath};
use crate::repository::{Error, Repository};

impl Repository {
    /// Writes the tree of the index to the objects, as a commit does, and returns its id.
    ///
    /// # Errors
    /// The index has conflicts, or cannot be read.
    pub fn staged_tree(&self) -> Result<ObjectId, Error> {
        let mut index = self.fresh_index()?;
        let tree = index.write_tree_to(&self.inner);
        let tree = tree.map_err(|error| self.failed("index", &error))?;
        Ok(ObjectId(tree))
    }

    /// Writes the files of a tree into `folder`, which must be empty. Skips submodules and names
    /// that some file system treats as `.git`.
    pub fn export(&self, tree: ObjectId, folder: &AbsPath, files: &dyn Files) -> Result<(), Error> {
        let empty = self
            .inner
            .treebuilder(None)
            .and_then(|builder| builder.write());
        let empty = empty.map_err(|error| self.failed("the empty tree", &error))?;
        let entries = self.changes_between(ObjectId(empty), tree)?;
        for (path, entry) in &entries {
            let Some(entry) = entry.as_ref().filter(|it| it.mode != EntryMode::Module) else {
                continue;
            };
            if path.danger().is_none() {
                let bytes = self.bytes_of(entry)?;
                self.write_file(
                    folder,
                    (path, entry.mode, &bytes),
                    ExpectedContent::Absent,
                    files,
                )?;
            }
        }
        Ok(())
    }

    /// Writes one file if its path is free or holds the `expected` file, creating parent folders.
    pub(crate) fn write_file(
        &self,
        root: &AbsPath,
        (path, mode, bytes): (&TreePath, EntryMode, &[u8]),
        expected: ExpectedContent,
        files: &dyn Files,
    ) -> Result<(), Error> {
        let place = root.join(path.to_path());
        if let Some(above) = place.parent().filter(|above| above != root) {
            files.create_folder(&above)?;
        }
        let found = links::entry_at(root, &place)?;
        if mode == EntryMode::Link {
            if found != links::NoFollowEntry::Absent {
                files.remove(&place)?;
            }
            return Ok(links::make_link(root, &place, OsStr::from_bytes(bytes))?);
        }
        if matches!(found, links::NoFollowEntry::Link(_)) {
            files.remove(&place)?;
        }
        let expected = match found {
            links::NoFollowEntry::Link(_) => ExpectedContent::Absent,
            _ => expected,
        };
        let content = eol::to_worktree(&self.inner, path, bytes);
        files.save(&SaveRequest {
            path: &place,
            content: &content,
            expected,
            recovery_folder: &self.burin_dir().join("recovery"),
        })?;
        let is_executable = mode == EntryMode::Executable;
        let was_executable = matches!(
            found,
            links::NoFollowEntry::File {
                is_executable: true,
                ..
            }
        );
        if is_executable != was_executable {
            links::set_executable(root, &place, is_executable)?;
        }
        Ok(())
    }
}
