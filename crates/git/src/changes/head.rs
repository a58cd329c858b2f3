//! HEAD, the operation in progress and the upstream branch.

use git2::RepositoryState;
use host::{Files as _, RealFiles};

use crate::merge::ObjectId;
use crate::repository::{Error, Repository};

/// The branch or commit of HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadState {
    /// A branch with its commit.
    Branch {
        /// Name of the branch.
        name: String,
        /// The latest commit of the branch.
        commit: ObjectId,
    },
    /// A branch without a commit.
    Unborn {
        /// Name of the branch.
        name: String,
    },
    /// A commit without a branch.
    Detached {
        /// The commit.
        commit: ObjectId,
    },
}

/// The kind of an operation that git began and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// `git merge`.
    Merge,
    /// `git rebase`.
    Rebase,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git bisect`.
    Bisect,
    /// `git am`.
    ApplyMail,
}

/// An operation in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The kind of the operation.
    pub kind: OperationKind,
    /// The current step, counted from 1, and the number of steps.
    pub progress: Option<(u32, u32)>,
    /// Name of the branch that is rebased or bisected.
    pub branch: Option<String>,
}

/// The upstream branch of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its short name, as in `origin/main`.
    pub name: String,
    /// Commits that the upstream branch lacks.
    pub ahead: usize,
    /// Commits that only the upstream branch has.
    pub behind: usize,
    /// Whether the configured branch does not exist, for instance because it was deleted.
    pub is_gone: bool,
}

impl Repository {
    /// Returns the branch or commit of HEAD.
    pub fn head_state(&self) -> Result<HeadState, Error> {
        let failed = |error: git2::Error| self.failed("HEAD", &error);
        let head = match self.inner.head() {
            Ok(head) => head,
            Err(error) if error.code() == git2::ErrorCode::UnbornBranch => {
                let name = self.branch().map(|branch| branch.name);
                return Ok(HeadState::Unborn {
                    name: name.unwrap_or_default(),
                });
            }
            Err(error) => return Err(failed(error)),
        };
        let commit = head.peel_to_commit().map_err(failed)?;
        let commit = ObjectId(commit.id());
        if !head.is_branch() {
            return Ok(HeadState::Detached { commit });
        }
        let name = String::from_utf8_lossy(head.shorthand_bytes()).into_owned();
        Ok(HeadState::Branch { name, commit })
    }

    /// Returns the upstream branch of a branch, by the branch's full name. Walks the commits in
    /// which both differ.
    pub(crate) fn upstream_of(&self, branch: &str) -> Option<Upstream> {
        let upstream = self.inner.branch_upstream_name(branch).ok()?;
        let upstream = upstream.as_str().ok()?;
        let ids = self.inner.refname_to_id(branch).ok();
        let ids = ids.zip(self.inner.refname_to_id(upstream).ok());
        let distance =
            ids.and_then(|(own, theirs)| self.inner.graph_ahead_behind(own, theirs).ok());
        let (ahead, behind) = distance.unwrap_or_default();
        Some(Upstream {
            name: short_branch(upstream).to_owned(),
            ahead,
            behind,
            is_gone: self.inner.find_reference(upstream).is_err(),
        })
    }
}

/// Returns the operation in progress.
pub(super) fn operation(repository: &Repository) -> Option<Operation> {
    let kind = match repository.inner.state() {
        RepositoryState::Clean => return None,
        RepositoryState::Merge => OperationKind::Merge,
        RepositoryState::Revert | RepositoryState::RevertSequence => OperationKind::Revert,
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => {
            OperationKind::CherryPick
        }
        RepositoryState::Bisect => OperationKind::Bisect,
        RepositoryState::Rebase
        | RepositoryState::RebaseInteractive
        | RepositoryState::RebaseMerge => OperationKind::Rebase,
        RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => {
            OperationKind::ApplyMail
        }
    };
    let steps = [
        ("rebase-merge/msgnum", "rebase-merge/end"),
        ("rebase-apply/next", "rebase-apply/last"),
    ];
    let step = |(at, end): (&str, &str)| {
        let number = |name| state_file(repository, name)?.parse().ok();
        Some((number(at)?, number(end)?))
    };
    let names = [
        "rebase-merge/head-name",
        "rebase-apply/head-name",
        "BISECT_START",
    ];
    let name = names
        .into_iter()
        .find_map(|name| state_file(repository, name));
    Some(Operation {
        kind,
        progress: steps.into_iter().find_map(step),
        branch: name.map(|name| short_branch(&name).to_owned()),
    })
}

/// Returns the upstream branch of the current branch.
pub(super) fn upstream(repository: &Repository) -> Option<Upstream> {
    let head = repository.inner.find_reference("HEAD").ok()?;
    let name = String::from_utf8_lossy(head.symbolic_target_bytes()?).into_owned();
    repository.upstream_of(&name)
}

/// Returns the first line of a file in the git folder of this working tree.
fn state_file(repository: &Repository, name: &str) -> Option<String> {
    const MAX_BYTES: u64 = 1 << 16;
    let bytes = RealFiles
        .read(&repository.git_dir()?.join(name), MAX_BYTES)
        .ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.lines().next().map(|line| line.trim().to_owned())
}

/// Returns the part of a full branch name that users write.
fn short_branch(name: &str) -> &str {
    let prefixes = ["refs/heads/", "refs/remotes/", "refs/"];
    let short = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
    short.unwrap_or(name)
}
