//! Landing: brings work onto the user's branch through a queue of merge, check, commit and branch
//! move, with undo.
//!
//! A repository runs one landing at a time. Each step is recorded before it is taken, so after a
//! crash the branch is either at its old or at its new commit, and `Landings::open` finishes or
//! requeues the landing and reports it.
//! Invariant: a branch only moves from the commit that was merged and checked; if it moved
//! meanwhile, merge and checks are repeated.
//! Invariant: uncommitted work of the user is never overwritten: it is merged and stays
//! uncommitted, or the landing is refused before anything moves.
//! Git hooks are not run and cannot refuse: the work of a pre-commit hook belongs into `Checks`.
//! Start at `Landings::open`, then `enqueue` and `run`.

mod checks;
mod error;
mod message;
mod record;
mod recovery;
mod run;
mod undo;

use std::sync::Arc;

use base::AbsPath;
use git::Repository;
use git::land::{ScanLimits, ScanTarget, Signature, WorktreeChanges};
use git::merge::{
    Changes, ConflictKind, EntryMode, MergeConflict, ObjectEntry, ObjectId, TreePath,
};
use host::{Clock, Files};

pub use checks::{
    Check, CheckError, CheckKind, CheckRunner, CheckSource, LandingCandidate, NewErrors, NoChecks,
};
pub use error::LandingError;
pub use message::CommitMessage;
pub use record::{LandingId, LandingStep, LandingSummary};
pub use run::LandingOutcome;

use crate::conflict::Resolution;
use crate::markers;
use crate::work::{CommitId, SessionWork};
use record::{LandingRecord, ResolvedConflict, SlotRecord, encode_path};

/// A request to land the work of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandingRequest {
    /// The session that did the work.
    pub session: String,
    /// A short title for display.
    pub title: String,
    /// The commit of the main repository from which the work started.
    pub base: CommitId,
    /// The accepted changes against that commit.
    pub changes: Changes,
    /// Full name of the target branch; the checked-out branch if `None`.
    pub branch: Option<String>,
    /// Author of the commit.
    pub author: Signature,
    /// Message of the commit.
    pub message: CommitMessage,
}

/// The landings of one repository.
pub struct Landings {
    pub(crate) files: Arc<dyn Files>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) main_repo: AbsPath,
    pub(crate) folder: AbsPath,
}

impl Landings {
    /// Opens the landings of the repository with the checkout `main_repo`, recorded in `folder`. Recovers
    /// landings that a killed program left unfinished, and returns a sentence about each.
    pub fn open(
        main_repo: &AbsPath,
        folder: &AbsPath,
        files: Arc<dyn Files>,
        clock: Arc<dyn Clock>,
    ) -> Result<(Self, Vec<String>), LandingError> {
        files.create_folder(folder)?;
        let landings = Self {
            files,
            clock,
            main_repo: main_repo.clone(),
            folder: folder.clone(),
        };
        let recovered = landings.recover()?;
        Ok((landings, recovered))
    }

    /// Reads the changes of a session as they would land, and the refused paths. Does not write to
    /// the disk. Blocks on the disk.
    pub fn read(&self, work: &SessionWork) -> Result<WorktreeChanges, LandingError> {
        let repository = self.repository()?;
        let base = repository.tree_of(&work.base.0)?;
        let place = ScanTarget {
            root: &work.root,
            git_dir: Some(&work.git_dir),
            cache_file: None,
        };
        Ok(repository.scan(place, base, ScanLimits::default(), &*self.files)?)
    }

    /// Adds work to the queue without running it, and returns its number. Writes the contents as
    /// objects of the main repository, so that the work can land even if the worktree disappears.
    /// Fails if there are no changes, or a path could harm the checkout.
    pub fn enqueue(&self, request: &LandingRequest) -> Result<LandingId, LandingError> {
        if request.changes.is_empty() {
            return Err(LandingError::NothingToLand {
                title: request.title.clone(),
            });
        }
        refuse_unsafe_paths(request)?;
        let repository = self.repository()?;
        let base = repository.tree_of(&request.base.0)?;
        refuse_markers(&repository, base, request)?;
        let work = repository.write(base, &request.changes)?;
        let branch = match &request.branch {
            Some(branch) => branch.clone(),
            None => self.checked_out_branch(&repository, &request.title)?,
        };
        repository.tip(&branch)?;
        let record = LandingRecord::new(self.next_id()?, request, branch, base, work);
        self.save(&record)?;
        Ok(record.id)
    }

    /// Returns all landings, including finished ones, oldest first.
    pub fn list(&self) -> Result<Vec<LandingSummary>, LandingError> {
        Ok(self.records()?.iter().map(LandingRecord::summary).collect())
    }

    /// Returns the first landing that waits for its turn, or `None` if no landing waits.
    pub fn next(&self) -> Result<Option<LandingId>, LandingError> {
        let records = self.records()?;
        let waiting = records
            .iter()
            .find(|record| record.step == LandingStep::Waiting);
        Ok(waiting.map(|record| record.id))
    }

    /// The conflicts of a landing with the present branch, with both versions; "ours" is the
    /// branch's side.
    pub fn conflicts(&self, id: LandingId) -> Result<Vec<MergeConflict>, LandingError> {
        let record = self.load(id)?;
        let repository = self.repository()?;
        let onto = repository.tip(&record.branch)?;
        Ok(self.merge_onto(&repository, &record, onto)?.conflicts)
    }

    /// Resolves one conflict and returns the number of conflicts left. After the last conflict,
    /// queues the landing again, and `run` continues it. Fails if the path is not in conflict.
    pub fn resolve(
        &self,
        id: LandingId,
        path: &TreePath,
        resolution: &Resolution,
    ) -> Result<usize, LandingError> {
        let _held = self.lock_landing(id)?;
        let mut record = self.load(id)?;
        let repository = self.repository()?;
        let onto = repository.tip(&record.branch)?;
        let conflicts = self.merge_onto(&repository, &record, onto)?.conflicts;
        let conflict = conflicts.iter().find(|conflict| conflict.path == *path);
        let conflict = conflict.ok_or_else(|| LandingError::NoSuchConflict {
            title: record.title.clone(),
            path: path.clone(),
        })?;
        let entry = self.resolved_entry(&repository, &record.title, conflict, resolution)?;
        record.resolved.retain(|it| it.path != encode_path(path));
        record.resolved.push(ResolvedConflict {
            path: encode_path(path),
            of: conflict_fingerprint(conflict),
            with: entry.as_ref().map(SlotRecord::of),
        });
        let left = conflicts.len() - 1;
        if left == 0 {
            record.step = LandingStep::Waiting;
        }
        self.save(&record)?;
        Ok(left)
    }

    /// Drops a landing that has not moved the branch. The work stays in its worktree.
    pub fn drop_landing(&self, id: LandingId) -> Result<(), LandingError> {
        let _held = self.lock_landing(id)?;
        let mut record = self.load(id)?;
        match record.step {
            LandingStep::Landed { .. } | LandingStep::Moving { .. } => {
                Err(LandingError::AlreadyLanded {
                    title: record.title,
                })
            }
            _ => {
                record.step = LandingStep::Dropped;
                self.save(&record)
            }
        }
    }

    /// Queues a failed, blocked or conflicting landing again.
    pub fn try_again(&self, id: LandingId) -> Result<(), LandingError> {
        let _held = self.lock_landing(id)?;
        let mut record = self.load(id)?;
        match record.step {
            LandingStep::Failed { .. }
            | LandingStep::Blocked { .. }
            | LandingStep::Conflicted { .. } => {
                record.step = LandingStep::Waiting;
                self.save(&record)
            }
            _ => Ok(()),
        }
    }

    /// Returns the entry of the file that a resolution gives, and stores its content as a Git
    /// object; `Ok(None)` if the chosen side deleted the file. Fails with `ConflictMarkers` if the
    /// text contains a conflict marker that neither side has.
    fn resolved_entry(
        &self,
        repository: &Repository,
        title: &str,
        conflict: &MergeConflict,
        resolution: &Resolution,
    ) -> Result<Option<ObjectEntry>, LandingError> {
        let (ours, theirs) = (conflict.ours.as_ref(), conflict.theirs.as_ref());
        let entry = match resolution {
            Resolution::Branch => ours.map(|version| version.entry.clone()),
            Resolution::Agent => theirs.map(|version| version.entry.clone()),
            Resolution::Text(text) => {
                let sides = [ours, theirs].into_iter().flatten();
                let sides = sides.map(|version| repository.bytes_of(&version.entry));
                let sides = sides.collect::<Result<Vec<_>, _>>()?;
                if let Some(marker) = markers::first_added(&sides, text.as_bytes()) {
                    return Err(LandingError::ConflictMarkers {
                        title: title.to_owned(),
                        path: conflict.path.clone(),
                        line: marker.line,
                        text: marker.text,
                    });
                }
                let mode = ours.or(theirs).map(|version| version.entry.mode);
                let mode = mode
                    .filter(|mode| mode.is_file())
                    .unwrap_or(EntryMode::Plain);
                Some(ObjectEntry::of_bytes(mode, text.as_bytes()))
            }
        };
        // The content is written as an object now, since the resolution must outlive this program.
        if let Some(entry) = &entry {
            let one = Changes::from([(conflict.path.clone(), Some(entry.clone()))]);
            let tree = repository.tree_of("HEAD")?;
            repository.write(tree, &one)?;
        }
        Ok(entry)
    }

    /// Opens the main repository.
    pub(crate) fn repository(&self) -> Result<Repository, LandingError> {
        Ok(Repository::discover(&self.main_repo)?)
    }

    /// Returns the full name of the branch that is checked out; fails with `NoBranch` if HEAD is
    /// detached.
    fn checked_out_branch(
        &self,
        repository: &Repository,
        title: &str,
    ) -> Result<String, LandingError> {
        match repository.head()? {
            git::land::Head::Branch(name) => Ok(name),
            git::land::Head::Detached => Err(LandingError::NoBranch {
                title: title.to_owned(),
            }),
        }
    }
}

/// Identifies both sides of a conflict, so that a resolution is not applied to another conflict.
pub(crate) fn conflict_fingerprint(conflict: &MergeConflict) -> String {
    let side = |version: Option<&git::merge::ConflictSide>| match version {
        Some(version) => format!("{:?}@{}", version.entry, encode_path(&version.path)),
        None => "-".to_owned(),
    };
    let kind: ConflictKind = conflict.kind;
    format!(
        "{kind:?} {} {} {}",
        side(conflict.base.as_ref()),
        side(conflict.ours.as_ref()),
        side(conflict.theirs.as_ref())
    )
}

/// Refuses changes that add conflict markers, which would break the branch for all its users.
fn refuse_markers(
    repository: &Repository,
    base: ObjectId,
    request: &LandingRequest,
) -> Result<(), LandingError> {
    let bytes = |path: &TreePath| -> Result<Option<Arc<[u8]>>, LandingError> {
        let entry = repository.entry_at(base, path)?;
        let entry = entry.filter(|entry| entry.mode.is_file());
        Ok(entry.map(|entry| repository.bytes_of(&entry)).transpose()?)
    };
    let changes = &request.changes;
    let texts = changes.iter().filter_map(|(path, entry)| {
        let entry = entry.as_ref().filter(|entry| entry.mode.is_file())?;
        Some((path, entry))
    });
    for (path, entry) in texts {
        let after = repository.bytes_of(entry)?;
        if markers::markers(&after).is_empty() {
            continue;
        }
        let mut before: Vec<Arc<[u8]>> = bytes(path)?.into_iter().collect();
        // A new file may be a renamed one, which had the markers before.
        if before.is_empty() {
            let gone = changes.iter().filter(|(_, entry)| entry.is_none());
            for (path, _) in gone {
                before.extend(bytes(path)?);
            }
        }
        if let Some(marker) = markers::first_added(&before, &after) {
            return Err(LandingError::ConflictMarkers {
                title: request.title.clone(),
                path: path.clone(),
                line: marker.line,
                text: marker.text,
            });
        }
    }
    Ok(())
}

/// Fails with `Refused` at the first path, or target of a symlink, that is dangerous to check out.
fn refuse_unsafe_paths(request: &LandingRequest) -> Result<(), LandingError> {
    for (path, entry) in &request.changes {
        let link = entry.as_ref().filter(|entry| entry.mode == EntryMode::Link);
        let target = link.and_then(|entry| entry.bytes.as_ref());
        let danger = path.danger().or_else(|| path.link_danger(target?));
        if let Some(danger) = danger {
            return Err(LandingError::Refused {
                title: request.title.clone(),
                path: path.clone(),
                reason: danger.to_string(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
