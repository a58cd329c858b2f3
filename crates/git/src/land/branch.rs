//! A branch, moved from one commit to another and never to half of it.
//!
//! Git's own way is kept: the lock of the reference is taken by a name that must be free, the reference is read
//! under it, replaced as a whole, and the lock is given back. What a killed program of ours left locked is known by
//! what stands in the lock.

use base::AbsPath;
use host::{Expected, Files, Reason, SaveRequest};

use super::Person;
use crate::merge::ObjectId;
use crate::repository::{Error, Repository};

/// What stands in every lock of ours, so that one that was left behind is known.
pub const LOCK_MARK: &[u8] = b"burin landing\n";

/// Where HEAD stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// At a branch, by its full name: `refs/heads/main`.
    Branch(String),
    /// At a commit without a branch.
    Detached,
}

/// A branch to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branching<'a> {
    /// Its full name.
    pub reference: &'a str,
    /// Where it has to be.
    pub from: ObjectId,
    /// Where it goes.
    pub to: ObjectId,
    /// What the log of the reference says of it.
    pub note: &'a str,
    /// Who moves it.
    pub person: &'a Person,
    /// When, in seconds since 1970.
    pub seconds: i64,
}

/// What became of the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It is there.
    Done,
    /// It was not where it had to be, but here.
    Elsewhere(ObjectId),
    /// Somebody else holds the lock, or died holding it.
    Locked,
}

impl Repository {
    /// Where HEAD stands.
    pub fn head(&self) -> Result<Head, Error> {
        let head = self.inner.find_reference("HEAD");
        let head = head.map_err(|error| self.failed("HEAD", &error))?;
        Ok(match head.symbolic_target_bytes() {
            Some(name) => Head::Branch(String::from_utf8_lossy(name).into_owned()),
            None => Head::Detached,
        })
    }

    /// The commit a branch stands at, by the branch's full name.
    pub fn tip(&self, reference: &str) -> Result<ObjectId, Error> {
        let id = self.inner.refname_to_id(reference);
        id.map(ObjectId)
            .map_err(|error| self.failed(reference, &error))
    }

    /// What git is in the middle of, as in "a merge"; `None` when nothing.
    pub fn unfinished(&self) -> Option<&'static str> {
        use git2::RepositoryState as S;
        Some(match self.inner.state() {
            S::Clean => return None,
            S::Merge => "a merge",
            S::Revert | S::RevertSequence => "a revert",
            S::CherryPick | S::CherryPickSequence => "a cherry-pick",
            S::Bisect => "a bisection",
            S::Rebase | S::RebaseInteractive | S::RebaseMerge => "a rebase",
            S::ApplyMailbox | S::ApplyMailboxOrRebase => "applying mails",
        })
    }

    /// Other working trees of this repository where a branch is checked out.
    pub fn checked_out_elsewhere(&self, reference: &str, files: &dyn Files) -> Vec<AbsPath> {
        let here = self.git_dir();
        let common = self.common_dir();
        let mut git_dirs = vec![common.clone()];
        let listed = files.list(&common.join("worktrees"));
        git_dirs.extend(
            listed
                .into_iter()
                .flat_map(|it| it.entries)
                .map(|it| it.path),
        );
        let wanted = format!("ref: {reference}");
        let stands_there = |git_dir: &AbsPath| {
            let head = files.read(&git_dir.join("HEAD"), 4096).unwrap_or_default();
            String::from_utf8_lossy(&head).trim_end() == wanted
        };
        git_dirs.retain(|git_dir| Some(git_dir) != here.as_ref() && stands_there(git_dir));
        // The main folder of a bare repository has no working tree.
        git_dirs.retain(|git_dir| *git_dir != common || !self.inner.is_bare());
        git_dirs
    }

    /// Moves a branch, if it is where it has to be. Whoever calls holds the lock of landings.
    pub fn move_branch(
        &self,
        branching: &Branching<'_>,
        files: &dyn Files,
    ) -> Result<Moved, Error> {
        let place = self.common_dir().join(branching.reference);
        let lock = place_of_lock(&place);
        if let Some(above) = place.parent() {
            files.create_folder(&above)?;
        }
        if !self.take_lock(&lock, files)? {
            return Ok(Moved::Locked);
        }
        let moved = self.move_locked(branching, &place, files);
        files.remove(&lock)?;
        moved
    }

    fn move_locked(
        &self,
        branching: &Branching<'_>,
        place: &AbsPath,
        files: &dyn Files,
    ) -> Result<Moved, Error> {
        let now = self.tip(branching.reference)?;
        if now != branching.from {
            return Ok(Moved::Elsewhere(now));
        }
        files.save(&SaveRequest {
            path: place,
            content: format!("{}\n", branching.to).as_bytes(),
            expected: Expected::Anything,
            recovery_folder: &self.own_folder().join("recovery"),
        })?;
        self.log_move(branching, files)?;
        Ok(Moved::Done)
    }

    /// Writes down where the branch was, where git keeps such logs.
    fn log_move(&self, branching: &Branching<'_>, files: &dyn Files) -> Result<(), Error> {
        let person = branching.person;
        let line = format!(
            "{} {} {} <{}> {} +0000\t{}\n",
            branching.from,
            branching.to,
            one_line(&person.name),
            one_line(&person.email),
            branching.seconds,
            one_line(branching.note),
        );
        let mut logs = vec![self.common_dir().join("logs").join(branching.reference)];
        if self.head().ok() == Some(Head::Branch(branching.reference.to_owned())) {
            logs.extend(self.git_dir().map(|git_dir| git_dir.join("logs/HEAD")));
        }
        for log in logs {
            if files.exists(&log) {
                files.open_log(&log)?.append(line.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Takes a lock file by git's rules; `false` when somebody else has it. One that we left behind is taken over:
    /// whoever calls holds the lock of landings, so nobody of us is at work.
    pub(crate) fn take_lock(&self, lock: &AbsPath, files: &dyn Files) -> Result<bool, Error> {
        self.clear_lock(lock, files)?;
        let own = self.own_folder();
        files.create_folder(&own)?;
        let ready = own.join("lock");
        files.write_private(&ready, LOCK_MARK)?;
        match files.rename(&ready, lock) {
            Ok(()) => Ok(true),
            Err(error) if error.reason == Reason::AlreadyExists => {
                files.remove(&ready)?;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a lock that a killed program of ours left; says whether there was one.
    pub(crate) fn clear_lock(&self, lock: &AbsPath, files: &dyn Files) -> Result<bool, Error> {
        match files.read(lock, 4096) {
            Ok(content) if content == LOCK_MARK => {
                files.remove(lock)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The lock of landings: one at a time for a repository, given back when its holder dies. `None` when another
    /// program has it.
    pub fn lock_landings(&self, files: &dyn Files) -> Result<Option<host::Lock>, Error> {
        let own = self.own_folder();
        files.create_folder(&own)?;
        Ok(files.lock(&own.join("landing.lock"))?)
    }

    pub(super) fn branch_lock(&self, reference: &str) -> AbsPath {
        place_of_lock(&self.common_dir().join(reference))
    }

    pub(crate) fn index_lock(&self) -> AbsPath {
        let git_dir = self.git_dir().unwrap_or_else(|| self.common_dir());
        git_dir.join("index.lock")
    }

    /// The folder of ours in the git folder that all working trees share.
    pub(crate) fn own_folder(&self) -> AbsPath {
        self.common_dir().join("burin")
    }

    pub fn common_dir(&self) -> AbsPath {
        // libgit2 gives absolute paths; the working tree's top only stands for what cannot be.
        AbsPath::new(self.inner.commondir()).unwrap_or_else(|| self.workdir().join(".git"))
    }
}

fn place_of_lock(place: &AbsPath) -> AbsPath {
    let mut path = place.as_path().as_os_str().to_owned();
    path.push(".lock");
    place.join(path)
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\0', '<', '>'], " ")
}
