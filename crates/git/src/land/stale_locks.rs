//! Removes files that a killed landing left in the git folder.
//!
//! Only our own files are removed: a lock is recognized by its content, a temporary file of a save
//! by its name and by an unheld lock on it, the rest by being in our own folder, where no other
//! program writes. The landing lock is held meanwhile, so no other Burin process is landing or
//! writes the index. Locks of git commands, running or dead, stay.

use base::AbsPath;
use host::{Files, InterruptedSaveState};

use super::branch::LOCK_MARK;
use crate::repository::{Error, Repository};

impl Repository {
    /// Clears the leftovers if a killed process of ours left its lock on the index, which stops git
    /// itself; returns the sentences of `clear_leftovers`. Without such a lock, or while another
    /// process of ours works, nothing is written and no lock is taken.
    pub fn clear_stale_lock(&self, files: &dyn Files) -> Result<Vec<String>, Error> {
        let lock = files.read(&self.index_lock(), LOCK_MARK.len() as u64);
        if !lock.is_ok_and(|content| content == LOCK_MARK) {
            return Ok(Vec::new());
        }
        match self.lock_landings(files)? {
            Some(_landings) => self.clear_leftovers(files),
            None => Ok(Vec::new()),
        }
    }

    /// Removes leftovers of killed landings: our index lock, the temporary index, temporary files
    /// of saves. Interrupted in-place saves are completed; returns a sentence for each that could
    /// not be. The caller must hold the landing lock.
    pub fn clear_leftovers(&self, files: &dyn Files) -> Result<Vec<String>, Error> {
        self.clear_lock(&self.index_lock(), files)?;
        self.clear_scratch(files)?;
        self.remove_temp_files(&self.index_lock(), files)?;
        let recovery = self.burin_dir().join("recovery");
        if !files.exists(&recovery) {
            return Ok(Vec::new());
        }
        let (saves, problems) = files.interrupted(&recovery);
        let notes = saves.iter().filter_map(|save| {
            let why = match &save.state {
                InterruptedSaveState::Finished => return None,
                InterruptedSaveState::Torn(error) => error.to_string(),
                InterruptedSaveState::ChangedSince => format!("{} has changed since", save.target),
                InterruptedSaveState::Gone => format!("{} is gone", save.target),
            };
            Some(format!(
                "An interrupted save cannot be completed: {why}; both versions are kept in {}.",
                save.record
            ))
        });
        Ok(notes
            .chain(problems.iter().map(|problem| format!("{problem}.")))
            .collect())
    }

    /// Removes the lock of a killed landing on a branch, by the branch's full name, and the
    /// temporary file with its target. The caller must hold the landing lock.
    pub fn clear_branch(&self, reference: &str, files: &dyn Files) -> Result<(), Error> {
        let lock = self.branch_lock(reference);
        self.clear_lock(&lock, files)?;
        self.remove_temp_files(&lock, files)
    }

    /// Removes the temporary files in our own folder.
    pub(crate) fn clear_scratch(&self, files: &dyn Files) -> Result<(), Error> {
        let own = self.burin_dir();
        // libgit2 writes an index through a lock of its own. In this folder the lock can only be
        // ours.
        for name in ["lock", "index", "index.lock"] {
            match files.remove(&own.join(name)) {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => {}
            }
        }
        self.remove_temp_files(&own.join("lock"), files)
    }

    /// Removes the temporary files of saves in the folder of `place`, which need not exist.
    fn remove_temp_files(&self, place: &AbsPath, files: &dyn Files) -> Result<(), Error> {
        match place.parent().filter(|folder| files.exists(folder)) {
            Some(folder) => Ok(files.sweep(&folder)?),
            None => Ok(()),
        }
    }
}
