//! A tree as files in a folder of its own, to be looked at or checked.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use base::AbsPath;
use host::{Expected, Files, SaveRequest, links};

use super::eol;
use crate::merge::{Mode, ObjectId, TreePath};
use crate::repository::{Error, Repository};

impl Repository {
    /// Writes the files of a tree into `folder`, which must be empty. Repositories within are left out, and so are
    /// names that some system takes for git's own folder.
    pub fn export(&self, tree: ObjectId, folder: &AbsPath, files: &dyn Files) -> Result<(), Error> {
        let empty = self
            .inner
            .treebuilder(None)
            .and_then(|builder| builder.write());
        let empty = empty.map_err(|error| self.failed("the empty tree", &error))?;
        let entries = self.changes_between(ObjectId(empty), tree)?;
        for (path, entry) in &entries {
            let Some(entry) = entry.as_ref().filter(|it| it.mode != Mode::Module) else {
                continue;
            };
            if path.danger().is_none() {
                let bytes = self.bytes_of(entry)?;
                self.write_file(folder, (path, entry.mode, &bytes), Expected::Absent, files)?;
            }
        }
        Ok(())
    }

    /// Puts one file where nothing, or another file, stands; the folders above it are made.
    pub(crate) fn write_file(
        &self,
        root: &AbsPath,
        (path, mode, bytes): (&TreePath, Mode, &[u8]),
        expected: Expected,
        files: &dyn Files,
    ) -> Result<(), Error> {
        let place = root.join(path.to_path());
        if let Some(above) = place.parent().filter(|above| above != root) {
            files.create_folder(&above)?;
        }
        let found = links::found(root, &place)?;
        if mode == Mode::Link {
            if found != links::Found::Nothing {
                files.remove(&place)?;
            }
            return Ok(links::make_link(root, &place, OsStr::from_bytes(bytes))?);
        }
        if matches!(found, links::Found::Link(_)) {
            files.remove(&place)?;
        }
        let expected = match found {
            links::Found::Link(_) => Expected::Absent,
            _ => expected,
        };
        let content = eol::to_worktree(&self.inner, path, bytes);
        files.save(&SaveRequest {
            path: &place,
            content: &content,
            expected,
            recovery_folder: &self.own_folder().join("recovery"),
        })?;
        let is_executable = mode == Mode::Executable;
        let was_executable = matches!(
            found,
            links::Found::File {
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
