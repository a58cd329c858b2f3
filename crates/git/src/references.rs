//! Branches, stashes, the reflog and worktrees, as lists.

use std::path::Path;

use base::AbsPath;
use git2::{BranchType, WorktreeLockStatus};

use crate::changes::{HeadState, Upstream};
use crate::history::{Commit, to_commit};
use crate::merge::ObjectId;
use crate::repository::{Error, Repository};

/// A branch with its latest commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchSummary {
    /// The short name, as in `main` or `origin/main`.
    pub name: String,
    /// The full name, as in `refs/heads/main`.
    pub reference: String,
    /// Whether it is the state of a branch of a remote.
    pub is_remote: bool,
    /// Whether HEAD of this working tree is on it.
    pub is_head: bool,
    /// The latest commit.
    pub commit: Commit,
    /// Time of the commit in seconds since 1970.
    pub committed_seconds: i64,
    /// The upstream branch; `None` for the branch of a remote.
    pub upstream: Option<Upstream>,
}

/// A stash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StashEntry {
    /// Position in the list; 0 is the newest. It changes when another stash is added or removed.
    pub index: usize,
    /// The commit of the stash, which stays the same.
    pub commit: ObjectId,
    /// The commit on which the changes were made; `None` if it cannot be read.
    pub base: Option<ObjectId>,
    /// The message, with the branch in front.
    pub message: String,
    /// Time of the stash in seconds since 1970.
    pub seconds: i64,
}

/// A move of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReflogEntry {
    /// The commit before; `None` if the reference was new.
    pub old: Option<ObjectId>,
    /// The commit after; `None` if the reference was removed.
    pub new: Option<ObjectId>,
    /// Name of the author of the move.
    pub author: String,
    /// Time of the move in seconds since 1970.
    pub seconds: i64,
    /// The reason, as in `commit: fix the build`.
    pub message: String,
}

/// A working tree of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeSummary {
    /// Its name in the repository; `None` for the main working tree.
    pub name: Option<String>,
    /// The root folder.
    pub root: AbsPath,
    /// Its branch or commit; `None` if the folder is missing or its HEAD cannot be read.
    pub head: Option<HeadState>,
    /// The reason why it must not be removed, which may be empty; `None` if it is not locked.
    pub locked: Option<String>,
    /// Whether the root folder does not exist.
    pub is_missing: bool,
}

impl Repository {
    /// Returns the branches, local ones first, each sorted by the time of the latest commit, newest
    /// first. Takes time per local branch with an upstream: the commits in which they differ are
    /// counted. Branches without a readable commit are omitted.
    pub fn branches(&self) -> Result<Vec<BranchSummary>, Error> {
        let failed = |error: git2::Error| self.failed("refs", &error);
        let mut branches = Vec::new();
        for branch in self.inner.branches(None).map_err(failed)? {
            let (branch, kind) = branch.map_err(failed)?;
            branches.extend(summary_of(self, &branch, kind == BranchType::Remote));
        }
        branches.sort_by_key(|branch| (branch.is_remote, -branch.committed_seconds));
        Ok(branches)
    }

    /// Returns the stashes, newest first.
    pub fn stashes(&self) -> Result<Vec<StashEntry>, Error> {
        let moves = self.reflog("refs/stash", usize::MAX)?.into_iter();
        let stashes = moves.enumerate().filter_map(|(index, entry)| {
            let commit = entry.new?;
            let found = self.inner.find_commit(commit.0).ok();
            let base = found.and_then(|found| found.parent_id(0).ok());
            Some(StashEntry {
                index,
                commit,
                base: base.map(ObjectId),
                message: entry.message,
                seconds: entry.seconds,
            })
        });
        Ok(stashes.collect())
    }

    /// Returns up to `limit` moves of a reference, by its full name, newest first; none if it has no
    /// log.
    pub fn reflog(&self, reference: &str, limit: usize) -> Result<Vec<ReflogEntry>, Error> {
        let failed = |error: git2::Error| self.failed(reference, &error);
        // libgit2 creates a missing log when it is read.
        if !self.inner.reference_has_log(reference).map_err(failed)? {
            return Ok(Vec::new());
        }
        let log = self.inner.reflog(reference).map_err(failed)?;
        let id = |id: git2::Oid| (!id.is_zero()).then_some(ObjectId(id));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let entries = log.iter().take(limit).map(|entry| {
            let committer = entry.committer();
            ReflogEntry {
                old: id(entry.id_old()),
                new: id(entry.id_new()),
                author: text(committer.name_bytes()),
                seconds: committer.when().seconds(),
                message: text(entry.message_bytes().unwrap_or_default()),
            }
        });
        Ok(entries.collect())
    }

    /// Returns the working trees of the repository, the main one first; a bare repository has no
    /// main one.
    pub fn worktrees(&self) -> Result<Vec<WorktreeSummary>, Error> {
        let failed = |error: git2::Error| self.failed("worktrees", &error);
        let mut worktrees = Vec::new();
        worktrees.extend(main_worktree(self));
        let names = self.inner.worktrees().map_err(failed)?;
        for name in names.iter().filter_map(|name| name.ok().flatten()) {
            let Ok(worktree) = self.inner.find_worktree(name) else {
                continue;
            };
            let Some(root) = AbsPath::new(worktree.path()) else {
                continue;
            };
            let locked = match worktree.is_locked() {
                Ok(WorktreeLockStatus::Locked(reason)) => {
                    Some(reason.unwrap_or_default().trim().to_owned())
                }
                Ok(WorktreeLockStatus::Unlocked) | Err(_) => None,
            };
            worktrees.push(WorktreeSummary {
                name: Some(name.to_owned()),
                head: head_at(root.as_path()),
                locked,
                is_missing: !root.as_path().exists(),
                root,
            });
        }
        Ok(worktrees)
    }
}

/// Returns `None` for a branch that only names another, as `origin/HEAD` does, and for one whose
/// commit cannot be read.
fn summary_of(
    repository: &Repository,
    branch: &git2::Branch<'_>,
    is_remote: bool,
) -> Option<BranchSummary> {
    let reference = branch.get();
    if reference.symbolic_target_bytes().is_some() {
        return None;
    }
    let commit = reference.peel_to_commit().ok()?;
    let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
    Some(BranchSummary {
        name: String::from_utf8_lossy(branch.name_bytes().ok()?).into_owned(),
        is_remote,
        is_head: branch.is_head(),
        committed_seconds: commit.time().seconds(),
        commit: to_commit(&commit),
        upstream: if is_remote {
            None
        } else {
            repository.upstream_of(&name)
        },
        reference: name,
    })
}

fn main_worktree(repository: &Repository) -> Option<WorktreeSummary> {
    let main = git2::Repository::open(repository.common_dir().as_path()).ok()?;
    let root = AbsPath::new(main.workdir()?)?;
    Some(WorktreeSummary {
        name: None,
        head: head_at(root.as_path()),
        locked: None,
        is_missing: !root.as_path().exists(),
        root,
    })
}

/// Returns the branch or commit of the working tree at `root`.
fn head_at(root: &Path) -> Option<HeadState> {
    let repository = Repository::discover(&AbsPath::new(root)?).ok()?;
    // A missing folder lies in another repository, if in any.
    if repository.workdir().as_path() != root {
        return None;
    }
    repository.head_state().ok()
}

#[cfg(test)]
mod tests;
