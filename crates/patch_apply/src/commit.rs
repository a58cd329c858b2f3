//! Writes a set of files: all of them or, when a step fails, none.
//!
//! Each file is replaced atomically. The set as a whole is not atomic for a concurrent reader or a
//! crash, but a failing step rolls back those before it. Removed files are renamed until everything
//! else has succeeded, so that a rollback can restore them.
//! Start at `commit`.

use std::collections::BTreeSet;

use base::AbsPath;
use host::{ErrorReason, ExpectedContent, FileKind, Files, OnDisk, SaveRequest};

use crate::Error;
use crate::edit_root::{CommitAction, OriginalFile, PlannedChange};

/// Suffix of a removed file until the commit finishes.
const ASIDE: &str = ".burin-removed";

/// Applies all changes or leaves all files unchanged, and returns warnings as sentences. First
/// checks that every file is still as it was when it was read. `recovery` is the folder for records
/// of interrupted saves. Blocks on the disk.
///
/// # Errors
///
/// `Error::RolledBack` with the failed step and the steps that could not be undone.
pub fn commit(
    files: &dyn Files,
    recovery: &AbsPath,
    changes: &[PlannedChange],
) -> Result<Vec<String>, Error> {
    let mut transaction = EditTransaction {
        files,
        recovery,
        done: Vec::new(),
        warnings: Vec::new(),
    };
    match transaction.apply(changes) {
        Ok(()) => Ok(transaction.finish()),
        Err(failure) => Err(Error::RolledBack {
            unrestored: transaction.roll_back(),
            failure,
        }),
    }
}

struct EditTransaction<'a> {
    files: &'a dyn Files,
    recovery: &'a AbsPath,
    /// Applied steps, in order.
    done: Vec<AppliedStep>,
    warnings: Vec<String>,
}

/// A completed step, with the data needed to undo it.
enum AppliedStep {
    /// A folder was created.
    Folder(AbsPath),
    /// A file was created.
    Created { path: AbsPath, now: OnDisk },
    /// A file's contents were replaced.
    Replaced {
        path: AbsPath,
        before: Vec<u8>,
        now: OnDisk,
    },
    /// A file was renamed.
    Renamed { from: AbsPath, to: AbsPath },
    /// A file to be removed was renamed; `finish` removes it.
    PutAside { path: AbsPath, aside: AbsPath },
}

impl EditTransaction<'_> {
    /// Checks and makes all changes: first the writes, then the removals, which only rename the
    /// files. If a step fails, those before it stay in `done` for the rollback.
    fn apply(&mut self, changes: &[PlannedChange]) -> Result<(), host::Error> {
        self.check(changes)?;
        let mut moved = BTreeSet::new();
        for change in changes {
            if let CommitAction::Write {
                content,
                before,
                moved_from,
            } = &change.action
            {
                let source = moved_from.as_ref().filter(|_| before.is_none());
                let source = source.and_then(|from| Some((from, removed(changes, from)?)));
                if let Some((from, before)) = source {
                    self.relocate(from, &change.path, content, before)?;
                    moved.insert(from.clone());
                } else {
                    self.write(&change.path, content, before.as_ref())?;
                }
            }
        }
        for change in changes {
            if matches!(change.action, CommitAction::Remove(_)) && !moved.contains(&change.path) {
                self.put_aside(&change.path)?;
            }
        }
        Ok(())
    }

    /// Checks, before the first step, that every file is unchanged since it was read and is
    /// writable.
    fn check(&self, changes: &[PlannedChange]) -> Result<(), host::Error> {
        for change in changes {
            let before = match &change.action {
                CommitAction::Write { before, .. } => before.as_ref(),
                CommitAction::Remove(before) => Some(before),
            };
            let path = &change.path;
            let refused = |reason| Err(host::Error::new(path, "change", reason));
            match (before, self.files.stat(path)) {
                (None, Err(error)) if error.is_not_found() => {}
                (None, Ok(_)) => return refused(ErrorReason::AlreadyExists),
                (_, Err(error)) => return Err(error),
                (Some(_), Ok(now)) if now.kind != FileKind::File => {
                    return refused(ErrorReason::NotAFile(now.kind));
                }
                (Some(before), Ok(now)) if now.stamp != before.on_disk.stamp => {
                    return refused(ErrorReason::ChangedOnDisk { now: Some(now) });
                }
                (Some(_), Ok(now)) if !now.is_writable => {
                    return refused(ErrorReason::ReadOnly);
                }
                (Some(_), Ok(_)) => {}
            }
        }
        Ok(())
    }

    /// Writes a file with its missing folders. Fails if the file differs from `before`, or if
    /// `before` is `None` and the file exists.
    fn write(
        &mut self,
        path: &AbsPath,
        content: &[u8],
        before: Option<&OriginalFile>,
    ) -> Result<(), host::Error> {
        self.make_folders(path)?;
        let expected = match before {
            Some(before) => ExpectedContent::Unchanged(before.on_disk),
            None => ExpectedContent::Absent,
        };
        let now = self.save(path, content, expected)?;
        let path = path.clone();
        self.done.push(match before {
            Some(before) => AppliedStep::Replaced {
                path,
                before: before.content.clone(),
                now,
            },
            None => AppliedStep::Created { path, now },
        });
        Ok(())
    }

    /// Renames a file and then writes it, so that it keeps its identity and mode.
    fn relocate(
        &mut self,
        from: &AbsPath,
        to: &AbsPath,
        content: &[u8],
        before: &OriginalFile,
    ) -> Result<(), host::Error> {
        self.make_folders(to)?;
        self.files.rename(from, to)?;
        self.done.push(AppliedStep::Renamed {
            from: from.clone(),
            to: to.clone(),
        });
        if content == before.content {
            Ok(())
        } else {
            self.write(to, content, Some(before))
        }
    }

    /// Renames a file to a hidden name in its folder, for `finish` to remove.
    fn put_aside(&mut self, path: &AbsPath) -> Result<(), host::Error> {
        let folder = path.parent().unwrap_or_else(|| path.clone());
        let aside = folder.join(format!(".{}{ASIDE}", path.name()));
        self.files.rename(path, &aside)?;
        self.done.push(AppliedStep::PutAside {
            path: path.clone(),
            aside,
        });
        Ok(())
    }

    /// Creates the missing folders above a path, the outermost first.
    fn make_folders(&mut self, path: &AbsPath) -> Result<(), host::Error> {
        let mut missing = Vec::new();
        let mut folder = path.parent();
        while let Some(above) = folder.filter(|folder| !self.files.exists(folder)) {
            folder = above.parent();
            missing.push(above);
        }
        for folder in missing.into_iter().rev() {
            self.files.create_folder(&folder)?;
            self.done.push(AppliedStep::Folder(folder));
        }
        Ok(())
    }

    /// Saves a file if its content on disk is the expected one, and returns its new state. A save
    /// that may not be durable adds a warning.
    fn save(
        &mut self,
        path: &AbsPath,
        content: &[u8],
        expected: ExpectedContent,
    ) -> Result<OnDisk, host::Error> {
        let saved = self.files.save(&SaveRequest {
            path,
            content,
            expected,
            recovery_folder: self.recovery,
        })?;
        let warning = saved.unconfirmed.map(|error| error.to_string());
        self.warnings.extend(warning);
        Ok(saved.on_disk)
    }

    /// Removes the files that were renamed for removal.
    fn finish(mut self) -> Vec<String> {
        for done in &self.done {
            if let AppliedStep::PutAside { path, aside } = done
                && let Err(error) = self.files.remove(aside)
            {
                self.warnings.push(format!("{path} is gone, but {error}"));
            }
        }
        self.warnings
    }

    /// Undoes all steps, the last one first. Returns the failures.
    fn roll_back(mut self) -> Vec<host::Error> {
        let mut failures = Vec::new();
        while let Some(step) = self.done.pop() {
            if let Err(error) = self.undo(&step) {
                failures.push(error);
            }
        }
        failures
    }

    /// Undoes one step. Fails if another program changed the file since; a folder that is no longer
    /// empty stays, which is not an error.
    fn undo(&mut self, done: &AppliedStep) -> Result<(), host::Error> {
        match done {
            AppliedStep::Folder(folder) => {
                // A folder that others have put files into stays.
                let is_empty = self.files.list(folder)?.entries.is_empty();
                if is_empty {
                    self.files.remove(folder)
                } else {
                    Ok(())
                }
            }
            AppliedStep::Created { path, now } => {
                if self.files.stat(path)?.stamp == now.stamp {
                    self.files.remove(path)
                } else {
                    let now = self.files.stat(path).ok();
                    Err(host::Error::new(
                        path,
                        "remove",
                        ErrorReason::ChangedOnDisk { now },
                    ))
                }
            }
            AppliedStep::Replaced { path, before, now } => self
                .save(path, before, ExpectedContent::Unchanged(*now))
                .map(|_| ()),
            AppliedStep::Renamed { from, to } => self.files.rename(to, from),
            AppliedStep::PutAside { path, aside } => self.files.rename(aside, path),
        }
    }
}

/// Returns the previous contents of a path that is removed.
fn removed<'a>(changes: &'a [PlannedChange], path: &AbsPath) -> Option<&'a OriginalFile> {
    changes.iter().find_map(|change| match &change.action {
        CommitAction::Remove(before) if change.path == *path => Some(before),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
