//! What a session did: its worktree against the commit it began from.
//!
//! Nothing in `root` or `git_dir` is trusted: an agent may have written any of it. Only `base` names something of
//! the hub, the person's own repository.

use base::AbsPath;

/// The full id of a commit in the hub's repository, in hexadecimal.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct CommitId(pub String);

/// The work of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Names the session; goes into commits as a trailer.
    pub session: String,
    /// A few words for people: `port flags`.
    pub title: String,
    /// The top of the session's worktree.
    pub root: AbsPath,
    /// The session's own git folder.
    pub git_dir: AbsPath,
    /// The commit of the hub that the worktree was made from.
    pub base: CommitId,
}

impl std::fmt::Display for CommitId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
