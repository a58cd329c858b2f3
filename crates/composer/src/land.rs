//! Work on its way onto the person's branch: queued, merged, checked, committed, moved, and taken back.
//!
//! One landing is under way at a time in a repository. What a landing is about to do is written down before it is
//! done, so whenever the program dies the branch is where it was or where it goes, and `Landings::open` finishes
//! what was begun, or begins it again, and says so.
//! Invariant: a branch only moves from the commit that was merged and checked; if it moved meanwhile, merging and
//! checking begin again.
//! Invariant: nothing is written over that the person has not committed: it is merged in and stays uncommitted, or
//! the landing is refused before anything moved.
//! No hook is run and no hook can refuse: what a pre-commit hook would look at belongs into `Checks`.
//! Start at `Landings::open`, then `enqueue` and `run`.

mod checks;
mod error;
mod message;
mod record;
mod recovery;
mod run;
mod undo;

use std::collections::BTreeMap;
use std::sync::Arc;

use base::AbsPath;
use git::Repository;
use git::land::{Limits, Person, Place, Scanned};
use git::merge::{Changes, Conflict, ConflictKind, Entry, Mode, ObjectId, TreePath};
use host::{Clock, Files};

pub use checks::{Candidate, Check, Checks, Unchecked};
pub use error::Error;
pub use message::Words;
pub use record::{LandingId, Step, Summary};
pub use run::Outcome;

use crate::markers;
use crate::work::{CommitId, Work};
use record::{Record, Resolved, SlotRecord, encoded};

/// What is to be landed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The session that did it.
    pub session: String,
    /// A few words for people.
    pub title: String,
    /// The commit of the hub the work began from.
    pub base: CommitId,
    /// What of it was accepted, against that commit.
    pub changes: Changes,
    /// The branch by its full name; the one that is checked out, when `None`.
    pub branch: Option<String>,
    /// Who the commit is by.
    pub author: Person,
    /// What the commit says.
    pub words: Words,
}

/// The landings of one repository.
pub struct Landings {
    pub(crate) files: Arc<dyn Files>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) hub: AbsPath,
    pub(crate) folder: AbsPath,
}

/// Texts the person has in the editor and has not saved, by their names in the checkout; in the encoding and with the
/// line endings that saving would give them.
pub type Buffers = BTreeMap<TreePath, Arc<[u8]>>;

/// How a conflict ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// With this text.
    Text(Vec<u8>),
    /// With what the branch has.
    Ours,
    /// With what the session has.
    Theirs,
    /// Without the file.
    Removed,
}

impl Landings {
    /// The landings of the repository that `hub` is a checkout of, written down in `folder`. Ends what a killed
    /// program left, and says of each what became of it.
    pub fn open(
        hub: &AbsPath,
        folder: &AbsPath,
        files: Arc<dyn Files>,
        clock: Arc<dyn Clock>,
    ) -> Result<(Self, Vec<String>), Error> {
        files.create_folder(folder)?;
        let landings = Self {
            files,
            clock,
            hub: hub.clone(),
            folder: folder.clone(),
        };
        let told = landings.recover()?;
        Ok((landings, told))
    }

    /// What a session has changed, as it would land; with the names that cannot be taken.
    pub fn read(&self, work: &Work) -> Result<Scanned, Error> {
        let repository = self.repository()?;
        let base = repository.tree_of(&work.base.0)?;
        let place = Place {
            root: &work.root,
            git_dir: Some(&work.git_dir),
            memory: None,
        };
        Ok(repository.scan(place, base, Limits::default(), &*self.files)?)
    }

    /// Puts work into the queue. Its bytes become objects of the repository, so that it can land whatever becomes of
    /// the worktree.
    pub fn enqueue(&self, request: &Request) -> Result<LandingId, Error> {
        if request.changes.is_empty() {
            return Err(Error::NothingToLand {
                title: request.title.clone(),
            });
        }
        refuse_dangers(request)?;
        let repository = self.repository()?;
        let base = repository.tree_of(&request.base.0)?;
        refuse_markers(&repository, base, request)?;
        let work = repository.write(base, &request.changes)?;
        let branch = match &request.branch {
            Some(branch) => branch.clone(),
            None => self.checked_out(&repository, &request.title)?,
        };
        repository.tip(&branch)?;
        let record = Record::new(self.next_id()?, request, branch, base, work);
        self.save(&record)?;
        Ok(record.id)
    }

    /// All landings, the oldest first.
    pub fn list(&self) -> Result<Vec<Summary>, Error> {
        Ok(self.records()?.iter().map(Record::summary).collect())
    }

    /// The first that waits for its turn.
    pub fn next(&self) -> Result<Option<LandingId>, Error> {
        let records = self.records()?;
        let waiting = records.iter().find(|record| record.step == Step::Waiting);
        Ok(waiting.map(|record| record.id))
    }

    /// What a landing is fought over with the branch as it is now, both sides at hand; ours is the branch's.
    pub fn conflicts(&self, id: LandingId) -> Result<Vec<Conflict>, Error> {
        let record = self.load(id)?;
        let repository = self.repository()?;
        let onto = repository.tip(&record.branch)?;
        Ok(self.merged(&repository, &record, onto)?.conflicts)
    }

    /// Ends one conflict. When it was the last, the landing waits for its turn again; says how many are left.
    pub fn resolve(
        &self,
        id: LandingId,
        path: &TreePath,
        resolution: &Resolution,
    ) -> Result<usize, Error> {
        let _held = self.hold(id)?;
        let mut record = self.load(id)?;
        let repository = self.repository()?;
        let onto = repository.tip(&record.branch)?;
        let conflicts = self.merged(&repository, &record, onto)?.conflicts;
        let conflict = conflicts.iter().find(|conflict| conflict.path == *path);
        let conflict = conflict.ok_or_else(|| Error::NoSuchConflict {
            title: record.title.clone(),
            path: path.clone(),
        })?;
        let entry = self.ended(&repository, &record.title, conflict, resolution)?;
        record.resolved.retain(|it| it.path != encoded(path));
        record.resolved.push(Resolved {
            path: encoded(path),
            of: conflict_print(conflict),
            with: entry.as_ref().map(SlotRecord::of),
        });
        let left = conflicts.len() - 1;
        if left == 0 {
            record.step = Step::Waiting;
        }
        self.save(&record)?;
        Ok(left)
    }

    /// Takes a landing that has not moved anything out of the queue. What it holds stays in its worktree.
    pub fn drop_landing(&self, id: LandingId) -> Result<(), Error> {
        let _held = self.hold(id)?;
        let mut record = self.load(id)?;
        match record.step {
            Step::Landed { .. } | Step::Moving { .. } => Err(Error::AlreadyLanded {
                title: record.title,
            }),
            _ => {
                record.step = Step::Dropped;
                self.save(&record)
            }
        }
    }

    /// Lets a landing whose checks failed, or that was blocked, wait for its turn again.
    pub fn try_again(&self, id: LandingId) -> Result<(), Error> {
        let _held = self.hold(id)?;
        let mut record = self.load(id)?;
        match record.step {
            Step::Failed { .. } | Step::Blocked { .. } | Step::Conflicted { .. } => {
                record.step = Step::Waiting;
                self.save(&record)
            }
            _ => Ok(()),
        }
    }

    fn ended(
        &self,
        repository: &Repository,
        title: &str,
        conflict: &Conflict,
        resolution: &Resolution,
    ) -> Result<Option<Entry>, Error> {
        let (ours, theirs) = (conflict.ours.as_ref(), conflict.theirs.as_ref());
        let entry = match resolution {
            Resolution::Removed => None,
            Resolution::Ours => ours.map(|version| version.entry.clone()),
            Resolution::Theirs => theirs.map(|version| version.entry.clone()),
            Resolution::Text(text) => {
                let sides = [ours, theirs].into_iter().flatten();
                let sides = sides.map(|version| repository.bytes_of(&version.entry));
                let sides = sides.collect::<Result<Vec<_>, _>>()?;
                if let Some(marker) = markers::added(&sides, text) {
                    return Err(Error::ConflictMarkers {
                        title: title.to_owned(),
                        path: conflict.path.clone(),
                        line: marker.line,
                        text: marker.text,
                    });
                }
                let mode = ours.or(theirs).map(|version| version.entry.mode);
                let mode = mode.filter(|mode| mode.is_file()).unwrap_or(Mode::Plain);
                Some(Entry::of_bytes(mode, text.as_slice()))
            }
        };
        // The bytes become an object now: the resolution has to outlive this program.
        if let Some(entry) = &entry {
            let one = Changes::from([(conflict.path.clone(), Some(entry.clone()))]);
            let tree = repository.tree_of("HEAD")?;
            repository.write(tree, &one)?;
        }
        Ok(entry)
    }

    pub(crate) fn repository(&self) -> Result<Repository, Error> {
        Ok(Repository::discover(&self.hub)?)
    }

    fn checked_out(&self, repository: &Repository, title: &str) -> Result<String, Error> {
        match repository.head()? {
            git::land::Head::Branch(name) => Ok(name),
            git::land::Head::Detached => Err(Error::NoBranch {
                title: title.to_owned(),
            }),
        }
    }
}

/// What a conflict is between, so that its end is not taken for the end of another one.
pub(crate) fn conflict_print(conflict: &Conflict) -> String {
    let side = |version: Option<&git::merge::Version>| match version {
        Some(version) => format!("{:?}@{}", version.entry, encoded(&version.path)),
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

/// A conflict that was committed as it is would be everybody's.
fn refuse_markers(repository: &Repository, base: ObjectId, request: &Request) -> Result<(), Error> {
    let bytes = |path: &TreePath| -> Result<Option<Arc<[u8]>>, Error> {
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
        // A file that is new may be an old one under another name.
        if before.is_empty() {
            let gone = changes.iter().filter(|(_, entry)| entry.is_none());
            for (path, _) in gone {
                before.extend(bytes(path)?);
            }
        }
        if let Some(marker) = markers::added(&before, &after) {
            return Err(Error::ConflictMarkers {
                title: request.title.clone(),
                path: path.clone(),
                line: marker.line,
                text: marker.text,
            });
        }
    }
    Ok(())
}

fn refuse_dangers(request: &Request) -> Result<(), Error> {
    for (path, entry) in &request.changes {
        let link = entry.as_ref().filter(|entry| entry.mode == Mode::Link);
        let target = link.and_then(|entry| entry.bytes.as_ref());
        let danger = path.danger().or_else(|| path.link_danger(target?));
        if let Some(danger) = danger {
            return Err(Error::Refused {
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
