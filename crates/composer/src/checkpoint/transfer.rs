//! Transfer of work between two working trees: merges all changes of one tree since its base into
//! the other.
//!
//! It is an undoable operation of the target tree: all files or none.

use crate::change_history::{ChangeAuthor, ChangeHistory, FileDifference, ObserveScope};

use super::plan::{VersionContent, merge_contents, whole_file_conflict};
use super::{FileWrite, UndoResult};
use crate::Error;

impl ChangeHistory {
    /// Merges all changes of another tree since its base into this one. Changes of this tree stay;
    /// if both changed the same lines, nothing is written. Observes both trees first; blocks on the
    /// disk.
    pub fn transfer_from(&mut self, from: &mut ChangeHistory) -> Result<UndoResult, Error> {
        from.observe(ObserveScope::All, &ChangeAuthor::Disk)?;
        self.observe(ObserveScope::All, &ChangeAuthor::Disk)?;
        let mut writes = Vec::new();
        let mut conflicts = Vec::new();
        for difference in from.differences() {
            match self.transfer_file(from, &difference) {
                Ok(write) => writes.extend(write),
                Err(Error::UndoConflicts(more)) => conflicts.extend(more),
                Err(stuck) => return Err(stuck),
            }
        }
        match (conflicts.is_empty(), writes.is_empty()) {
            (false, _) => Err(Error::UndoConflicts(conflicts)),
            (true, true) => Err(Error::NothingToUndo),
            (true, false) => self.run_operation(writes),
        }
    }

    /// Merges one file's difference of the other tree into this one. Returns the write that is
    /// needed, or `None` if the file has the result already. Fails with the file's conflicts.
    fn transfer_file(
        &mut self,
        from: &ChangeHistory,
        one: &FileDifference,
    ) -> Result<Option<FileWrite>, Error> {
        let path = &one.path;
        let ours = self.known_version(path).cloned();
        if ours == one.after {
            return Ok(None);
        }
        let read = |version| -> Result<VersionContent, Error> {
            let bytes = from
                .content(version)
                .map_err(|why| whole_file_conflict(path, &why.to_string()))?;
            Ok(VersionContent {
                kind: version.kind,
                bytes,
            })
        };
        let to = match (&one.before, &one.after, &ours) {
            (before, after, ours) if before == ours => match after {
                Some(after) => Some(read(after)?),
                None => None,
            },
            (Some(base), Some(theirs), Some(ours)) => {
                let ours = VersionContent {
                    kind: ours.kind,
                    bytes: self
                        .content(ours)
                        .map_err(|why| whole_file_conflict(path, &why.to_string()))?,
                };
                Some(merge_contents(path, &read(base)?, &ours, &read(theirs)?)?)
            }
            (_, None, None) => None,
            _ => {
                return Err(whole_file_conflict(
                    path,
                    "both sides added or removed the file in different ways",
                ));
            }
        };
        let to = match to {
            Some(held) => Some(self.store_version(held.kind, &held.bytes)?),
            None => None,
        };
        Ok((to != ours).then(|| FileWrite {
            path: path.clone(),
            from: ours,
            to,
            undoes: Vec::new(),
        }))
    }
}
