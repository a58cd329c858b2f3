//! The work of a session: its worktree and the commit from which it started.
//!
//! The contents of `root` and `git_dir` are untrusted: an agent may have written them. Only `base`
//! names an object of the main repository.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::AbsPath;
use git::merge::{Changes, TreePath};

/// The full id of a commit in the main repository, in hexadecimal. The commit may not exist.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct CommitId(pub String);

/// The work of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionWork {
    /// Id of the session; written into commits as a trailer.
    pub session: String,
    /// A short title for display: `port flags`.
    pub title: String,
    /// The root of the session's worktree.
    pub root: AbsPath,
    /// The session's own git folder.
    pub git_dir: AbsPath,
    /// The commit of the main repository from which the worktree was made.
    pub base: CommitId,
}

/// The changes of one session against the commit from which it started.
#[derive(Clone, Debug)]
pub struct SessionChanges {
    /// Id of the session.
    pub session: String,
    /// A short title for display.
    pub title: String,
    /// The commit from which it started.
    pub base: CommitId,
    /// Its changes against the base, with contents.
    pub changes: Arc<Changes>,
}

/// Unsaved editor buffers by path in the checkout, with the encoding and line endings that saving
/// would produce.
pub type UnsavedBuffers = BTreeMap<TreePath, Arc<[u8]>>;

impl std::fmt::Display for CommitId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
