//! Writing a set of files: all of them or, where a step fails, none.
//!
//! Every single file is replaced atomically. The set is not, to a reader or a crash in the middle of
//! it; but a step that fails undoes those before it. Removed files are put aside under another name
//! until everything else is done, and come back by that name.
//! Start at `commit`.

use std::collections::BTreeSet;
use std::fmt;

use base::AbsPath;
use host::{Error, Expected, FileKind, Files, OnDisk, Reason, SaveRequest};

use super::{Action, Before, Change};

/// What a removed file is called until the end, behind its name.
const ASIDE: &str = ".burin-removed";

/// Does everything or nothing. Answers what is worth a warning; the error says what failed and what
/// could not be put back.
///
/// # Errors
/// When a step failed, with whether it was because somebody else changed a file meanwhile.
pub fn commit(
    files: &dyn Files,
    recovery: &AbsPath,
    changes: &[Change],
) -> Result<Vec<String>, CommitError> {
    let mut work = Work {
        files,
        recovery,
        done: Vec::new(),
        warnings: Vec::new(),
    };
    match work.all(changes) {
        Ok(()) => Ok(work.finish()),
        Err(error) => Err(CommitError {
            is_external: matches!(
                error.reason,
                Reason::ChangedOnDisk { .. } | Reason::AlreadyExists
            ),
            sentence: work.roll_back(&error),
        }),
    }
}

/// Why nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitError {
    /// What failed, and what could not be put back.
    pub sentence: String,
    /// Whether somebody else changed a file after it was looked at.
    pub is_external: bool,
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

struct Work<'a> {
    files: &'a dyn Files,
    recovery: &'a AbsPath,
    /// In the order done.
    done: Vec<Done>,
    warnings: Vec<String>,
}

/// A step that was done, with what undoing it takes.
enum Done {
    /// A folder appeared.
    Folder(AbsPath),
    /// A file appeared.
    Created { path: AbsPath, now: OnDisk },
    /// A file holds something else.
    Replaced {
        path: AbsPath,
        before: Vec<u8>,
        now: OnDisk,
    },
    /// A file has another name.
    Renamed { from: AbsPath, to: AbsPath },
    /// A file has another name until the end, when it goes.
    PutAside { path: AbsPath, aside: AbsPath },
}

impl Work<'_> {
    fn all(&mut self, changes: &[Change]) -> Result<(), Error> {
        self.check(changes)?;
        let mut moved = BTreeSet::new();
        for change in changes {
            if let Action::Write {
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
            if matches!(change.action, Action::Remove(_)) && !moved.contains(&change.path) {
                self.put_aside(&change.path)?;
            }
        }
        Ok(())
    }

    /// Whether everything is still as it was read, and may be written: before the first step.
    fn check(&self, changes: &[Change]) -> Result<(), Error> {
        for change in changes {
            let before = match &change.action {
                Action::Write { before, .. } => before.as_ref(),
                Action::Remove(before) => Some(before),
            };
            let path = &change.path;
            let refused = |reason| Err(Error::new(path, "change", reason));
            match (before, self.files.stat(path)) {
                (None, Err(error)) if error.is_not_found() => {}
                (None, Ok(_)) => return refused(Reason::AlreadyExists),
                (_, Err(error)) => return Err(error),
                (Some(_), Ok(now)) if now.kind != FileKind::File => {
                    return refused(Reason::NotAFile(now.kind));
                }
                (Some(before), Ok(now)) if now.stamp != before.on_disk.stamp => {
                    return refused(Reason::ChangedOnDisk { now: Some(now) });
                }
                (Some(_), Ok(now)) if !now.is_writable => {
                    return refused(Reason::ReadOnly);
                }
                (Some(_), Ok(_)) => {}
            }
        }
        Ok(())
    }

    fn write(
        &mut self,
        path: &AbsPath,
        content: &[u8],
        before: Option<&Before>,
    ) -> Result<(), Error> {
        self.make_folders(path)?;
        let expected = match before {
            Some(before) => Expected::Unchanged(before.on_disk),
            None => Expected::Absent,
        };
        let now = self.save(path, content, expected)?;
        let path = path.clone();
        self.done.push(match before {
            Some(before) => Done::Replaced {
                path,
                before: before.content.clone(),
                now,
            },
            None => Done::Created { path, now },
        });
        Ok(())
    }

    /// A file that moves and may change: by a new name first, so that it stays the same file.
    fn relocate(
        &mut self,
        from: &AbsPath,
        to: &AbsPath,
        content: &[u8],
        before: &Before,
    ) -> Result<(), Error> {
        self.make_folders(to)?;
        self.files.rename(from, to)?;
        self.done.push(Done::Renamed {
            from: from.clone(),
            to: to.clone(),
        });
        match content == before.content {
            true => Ok(()),
            false => self.write(to, content, Some(before)),
        }
    }

    fn put_aside(&mut self, path: &AbsPath) -> Result<(), Error> {
        let folder = path.parent().unwrap_or_else(|| path.clone());
        let aside = folder.join(format!(".{}{ASIDE}", path.name()));
        self.files.rename(path, &aside)?;
        self.done.push(Done::PutAside {
            path: path.clone(),
            aside,
        });
        Ok(())
    }

    fn make_folders(&mut self, path: &AbsPath) -> Result<(), Error> {
        let mut missing = Vec::new();
        let mut folder = path.parent();
        while let Some(above) = folder.filter(|folder| !self.files.exists(folder)) {
            folder = above.parent();
            missing.push(above);
        }
        for folder in missing.into_iter().rev() {
            self.files.create_folder(&folder)?;
            self.done.push(Done::Folder(folder));
        }
        Ok(())
    }

    fn save(
        &mut self,
        path: &AbsPath,
        content: &[u8],
        expected: Expected,
    ) -> Result<OnDisk, Error> {
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

    /// Lets go of what was put aside.
    fn finish(mut self) -> Vec<String> {
        for done in &self.done {
            if let Done::PutAside { path, aside } = done
                && let Err(error) = self.files.remove(aside)
            {
                self.warnings.push(format!("{path} is gone, but {error}"));
            }
        }
        self.warnings
    }

    fn roll_back(mut self, failure: &Error) -> String {
        let mut stuck = Vec::new();
        while let Some(done) = self.done.pop() {
            if let Err(error) = self.undo(&done) {
                stuck.push(error.to_string());
            }
        }
        match stuck.is_empty() {
            true => format!("{failure}; nothing was changed"),
            false => format!(
                "{failure}; what was changed before could not all be put back: {}",
                stuck.join("; ")
            ),
        }
    }

    fn undo(&mut self, done: &Done) -> Result<(), Error> {
        match done {
            Done::Folder(folder) => {
                // What others have put there meanwhile stays.
                let is_empty = self.files.list(folder)?.entries.is_empty();
                match is_empty {
                    true => self.files.remove(folder),
                    false => Ok(()),
                }
            }
            Done::Created { path, now } => match self.files.stat(path)?.stamp == now.stamp {
                true => self.files.remove(path),
                false => {
                    let now = self.files.stat(path).ok();
                    Err(Error::new(path, "remove", Reason::ChangedOnDisk { now }))
                }
            },
            Done::Replaced { path, before, now } => self
                .save(path, before, Expected::Unchanged(*now))
                .map(|_| ()),
            Done::Renamed { from, to } => self.files.rename(to, from),
            Done::PutAside { path, aside } => self.files.rename(aside, path),
        }
    }
}

/// What a path held that goes away.
fn removed<'a>(changes: &'a [Change], path: &AbsPath) -> Option<&'a Before> {
    changes.iter().find_map(|change| match &change.action {
        Action::Remove(before) if change.path == *path => Some(before),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
