//! Moves a branch from one commit to another atomically.
//!
//! Follows git's own protocol: create the ref's lock file exclusively, read the ref under it,
//! replace it as a whole, release the lock. A lock that a killed Burin left behind is recognized by
//! its content.

use base::AbsPath;
use host::{ErrorReason, ExpectedContent, Files, SaveRequest};

use super::Signature;
use crate::merge::ObjectId;
use crate::repository::{Error, Repository};

/// Content of every lock file that we create, so that a stale one is recognized.
pub const LOCK_MARK: &[u8] = b"burin landing\n";

/// The branch or commit that HEAD points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// Full name of a branch, such as `refs/heads/main`.
    Branch(String),
    /// A commit without a branch.
    Detached,
}

/// A request to move a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchMove<'a> {
    /// Full name of the branch.
    pub reference: &'a str,
    /// The commit that the branch is expected to point to.
    pub from: ObjectId,
    /// The commit that it is to point to.
    pub to: ObjectId,
    /// Message for the reflog.
    pub note: &'a str,
    /// Signature for the reflog.
    pub signature: &'a Signature,
    /// Time for the reflog, in seconds since 1970.
    pub seconds: i64,
}

/// Outcome of a branch move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveOutcome {
    /// The branch points to the new commit.
    Done,
    /// The branch pointed to this commit instead of the expected one.
    Elsewhere(ObjectId),
    /// Another process holds the lock, or died holding it.
    Locked,
}

impl Repository {
    /// Returns the branch or commit that HEAD points to.
    pub fn head(&self) -> Result<Head, Error> {
        let head = self.inner.find_reference("HEAD");
        let head = head.map_err(|error| self.failed("HEAD", &error))?;
        Ok(match head.symbolic_target_bytes() {
            Some(name) => Head::Branch(String::from_utf8_lossy(name).into_owned()),
            None => Head::Detached,
        })
    }

    /// Returns the commit that a branch points to, by the branch's full name.
    pub fn tip(&self, reference: &str) -> Result<ObjectId, Error> {
        let id = self.inner.refname_to_id(reference);
        id.map(ObjectId)
            .map_err(|error| self.failed(reference, &error))
    }

    /// Returns the git operation in progress, as in "a merge"; `None` if there is none.
    pub fn operation_in_progress(&self) -> Option<&'static str> {
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

    /// Returns the Git folders of the other worktrees of this repository that have `reference`
    /// checked out.
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

    /// Moves a branch if it points to the expected commit; otherwise nothing changes, and the outcome
    /// tells the reason. The caller must hold the landing lock.
    pub fn move_branch(
        &self,
        branching: &BranchMove<'_>,
        files: &dyn Files,
    ) -> Result<MoveOutcome, Error> {
        let place = self.common_dir().join(branching.reference);
        let lock = place_of_lock(&place);
        if let Some(above) = place.parent() {
            files.create_folder(&above)?;
        }
        if !self.take_lock(&lock, files)? {
            return Ok(MoveOutcome::Locked);
        }
        let moved = self.move_locked(branching, &place, files);
        files.remove(&lock)?;
        moved
    }

    /// Moves the branch, whose ref file is `place`, while its lock is held, and appends to the
    /// reflogs. Changes nothing and returns `Elsewhere` if the branch does not point to
    /// `branching.from`.
    fn move_locked(
        &self,
        branching: &BranchMove<'_>,
        place: &AbsPath,
        files: &dyn Files,
    ) -> Result<MoveOutcome, Error> {
        let now = self.tip(branching.reference)?;
        if now != branching.from {
            return Ok(MoveOutcome::Elsewhere(now));
        }
        files.save(&SaveRequest {
            path: place,
            content: format!("{}\n", branching.to).as_bytes(),
            expected: ExpectedContent::Anything,
            recovery_folder: &self.burin_dir().join("recovery"),
        })?;
        self.log_move(branching, files)?;
        Ok(MoveOutcome::Done)
    }

    /// Appends the move to the reflogs that exist.
    fn log_move(&self, branching: &BranchMove<'_>, files: &dyn Files) -> Result<(), Error> {
        let signature = branching.signature;
        let line = format!(
            "{} {} {} <{}> {} +0000\t{}\n",
            branching.from,
            branching.to,
            one_line(&signature.name),
            one_line(&signature.email),
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

    /// Takes a lock file by git's protocol; `false` if another process holds it. A lock that we
    /// left behind is taken over: the caller holds the landing lock, so no other Burin process is
    /// landing.
    pub(crate) fn take_lock(&self, lock: &AbsPath, files: &dyn Files) -> Result<bool, Error> {
        self.clear_lock(lock, files)?;
        let own = self.burin_dir();
        files.create_folder(&own)?;
        let ready = own.join("lock");
        files.write_private(&ready, LOCK_MARK)?;
        match files.rename(&ready, lock) {
            Ok(()) => Ok(true),
            Err(error) if error.reason == ErrorReason::AlreadyExists => {
                files.remove(&ready)?;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a lock that a killed Burin left behind; returns whether there was one.
    pub(crate) fn clear_lock(&self, lock: &AbsPath, files: &dyn Files) -> Result<bool, Error> {
        match files.read(lock, 4096) {
            Ok(content) if content == LOCK_MARK => {
                files.remove(lock)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Takes the landing lock, which admits one landing per repository and is released when its
    /// holder dies. `None` if another process holds it.
    pub fn lock_landings(&self, files: &dyn Files) -> Result<Option<host::FileLock>, Error> {
        let own = self.burin_dir();
        files.create_folder(&own)?;
        Ok(files.lock(&own.join("landing.lock"))?)
    }

    pub(super) fn branch_lock(&self, reference: &str) -> AbsPath {
        place_of_lock(&self.common_dir().join(reference))
    }

    /// Returns the path of the lock file by which git guards the index of this working tree.
    pub(crate) fn index_lock(&self) -> AbsPath {
        let git_dir = self.git_dir().unwrap_or_else(|| self.common_dir());
        git_dir.join("index.lock")
    }

    /// Returns our folder in the git folder that all worktrees share; it may not exist yet.
    pub(crate) fn burin_dir(&self) -> AbsPath {
        self.common_dir().join("burin")
    }

    /// Returns the folder with refs, config and objects, which all worktrees of the repository share.
    pub fn common_dir(&self) -> AbsPath {
        // libgit2 returns absolute paths, so the fallback is never used.
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
