//! What a killed landing left in the git folder, cleared away.
//!
//! Everything that is removed is known to be ours: a lock by the mark in it, a draft by its name and by a lock on it
//! that nobody holds, the rest by lying in our own folder, where no other program writes. The lock of landings tells
//! that none of ours is at work; whoever calls holds it. A lock of git's, of a living command or of a dead one, is
//! none of this and stays.

use base::AbsPath;
use host::{Files, InterruptedState};

use crate::repository::{Error, Repository};

impl Repository {
    /// Removes what killed landings left: our lock on the index, the index they were writing, drafts of saves. Saves
    /// in place that were cut short are finished; of each that could not be, a sentence. Whoever calls holds the
    /// lock of landings.
    pub fn clear_leavings(&self, files: &dyn Files) -> Result<Vec<String>, Error> {
        self.clear_lock(&self.index_lock(), files)?;
        self.clear_scratch(files)?;
        self.sweep_around(&self.index_lock(), files)?;
        let recovery = self.own_folder().join("recovery");
        if !files.exists(&recovery) {
            return Ok(Vec::new());
        }
        let (saves, problems) = files.interrupted(&recovery);
        let told = saves.iter().filter_map(|save| {
            let why = match &save.state {
                InterruptedState::Finished => return None,
                InterruptedState::Torn(error) => error.to_string(),
                InterruptedState::ChangedSince => format!("{} was changed since", save.target),
                InterruptedState::Gone => format!("{} is gone", save.target),
            };
            Some(format!(
                "A save was cut short and cannot be finished: {why}; both versions are kept in {}.",
                save.record
            ))
        });
        Ok(told
            .chain(problems.iter().map(|problem| format!("{problem}.")))
            .collect())
    }

    /// Removes the lock that a killed landing left on a branch, by the branch's full name, and the draft of where it
    /// was to go. Whoever calls holds the lock of landings.
    pub fn clear_branch(&self, reference: &str, files: &dyn Files) -> Result<(), Error> {
        let lock = self.branch_lock(reference);
        self.clear_lock(&lock, files)?;
        self.sweep_around(&lock, files)
    }

    /// Removes what we write beside things in our own folder before they get their names.
    pub(super) fn clear_scratch(&self, files: &dyn Files) -> Result<(), Error> {
        let own = self.own_folder();
        // libgit2 writes an index by way of a lock of its own. In this folder it can only be one of ours.
        for name in ["lock", "index", "index.lock"] {
            match files.remove(&own.join(name)) {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => {}
            }
        }
        self.sweep_around(&own.join("lock"), files)
    }

    fn sweep_around(&self, place: &AbsPath, files: &dyn Files) -> Result<(), Error> {
        match place.parent().filter(|folder| files.exists(folder)) {
            Some(folder) => Ok(files.sweep(&folder)?),
            None => Ok(()),
        }
    }
}
