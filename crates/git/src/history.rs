//! Log, blame and diffs. Reads only, and starts no process.

use std::ops::Range;
use std::path::Path;

use crate::repository::{Error, Repository, unreadable};

/// One commit of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Commit id in full.
    pub id: String,
    /// Author in the form `name <email>`.
    pub author: String,
    /// Author time in seconds since 1970.
    pub seconds: i64,
    /// The full commit message.
    pub message: String,
}

/// The two sides of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompareTarget {
    /// HEAD against the working tree, without untracked files.
    Head,
    /// The index against the working tree.
    Unstaged,
    /// HEAD against the index.
    Staged,
    /// A commit against its first parent.
    Commit(String),
    /// One commit against another.
    Between(String, String),
}

/// Consecutive lines last changed by one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameHunk {
    /// Id of the commit.
    pub id: String,
    /// Name of its author.
    pub author: String,
    /// Author time in seconds since 1970.
    pub seconds: i64,
    /// Line range, counted from 0.
    pub lines: Range<usize>,
}

impl Repository {
    /// Returns up to `limit` commits reachable from `revision`, newest first; with a path relative
    /// to the working tree, those that changed it. Walks the history until it has found enough.
    pub fn log(
        &self,
        revision: &str,
        path: Option<&Path>,
        limit: usize,
    ) -> Result<Vec<Commit>, Error> {
        let failed = |error: git2::Error| unreadable(Path::new(revision), &error);
        let start = self.commit_of(revision)?;
        let mut walk = self.inner.revwalk().map_err(failed)?;
        walk.set_sorting(git2::Sort::TIME | git2::Sort::TOPOLOGICAL)
            .map_err(failed)?;
        walk.push(start.id()).map_err(failed)?;
        let mut commits = Vec::new();
        for id in walk {
            if commits.len() >= limit {
                break;
            }
            let commit = id
                .and_then(|id| self.inner.find_commit(id))
                .map_err(failed)?;
            let counts = match path {
                None => true,
                Some(path) => touches(&commit, path).map_err(failed)?,
            };
            if counts {
                commits.push(to_commit(&commit));
            }
        }
        Ok(commits)
    }

    /// Returns the commit that `revision` names.
    pub fn commit(&self, revision: &str) -> Result<Commit, Error> {
        self.commit_of(revision).map(|commit| to_commit(&commit))
    }

    /// Returns the bytes of a file, by its path relative to the working tree, at a commit; `None`
    /// if the commit lacks it.
    pub fn bytes_at(&self, revision: &str, path: &Path) -> Result<Option<Vec<u8>>, Error> {
        let failed = |error: git2::Error| unreadable(path, &error);
        let tree = self.commit_of(revision)?.tree().map_err(failed)?;
        let Ok(entry) = tree.get_path(path) else {
            return Ok(None);
        };
        let blob = self.inner.find_blob(entry.id());
        Ok(blob.ok().map(|blob| blob.content().to_vec()))
    }

    /// Returns a unified diff of at most about `limit` bytes, and whether it was truncated.
    pub fn diff(
        &self,
        compared: &CompareTarget,
        path: Option<&Path>,
        limit: usize,
    ) -> Result<(String, bool), Error> {
        let failed = |error: git2::Error| unreadable(self.workdir().as_path(), &error);
        let mut options = git2::DiffOptions::new();
        options.disable_pathspec_match(true).ignore_submodules(true);
        if let Some(path) = path {
            options.pathspec(path);
        }
        let tree = |revision: &str| self.commit_of(revision)?.tree().map_err(failed);
        let inner = &self.inner;
        let diff = match compared {
            CompareTarget::Unstaged => inner.diff_index_to_workdir(None, Some(&mut options)),
            CompareTarget::Staged => {
                inner.diff_tree_to_index(self.head_tree().as_ref(), None, Some(&mut options))
            }
            CompareTarget::Head => {
                inner.diff_tree_to_workdir_with_index(self.head_tree().as_ref(), Some(&mut options))
            }
            CompareTarget::Commit(revision) => {
                let commit = self.commit_of(revision)?;
                let before = commit.parent(0).and_then(|parent| parent.tree()).ok();
                let after = commit.tree().map_err(failed)?;
                inner.diff_tree_to_tree(before.as_ref(), Some(&after), Some(&mut options))
            }
            CompareTarget::Between(one, two) => {
                let (one, two) = (tree(one)?, tree(two)?);
                inner.diff_tree_to_tree(Some(&one), Some(&two), Some(&mut options))
            }
        };
        let diff = diff.map_err(failed)?;
        let mut text = Vec::new();
        let printed = diff.print(git2::DiffFormat::Patch, |_, _, line| {
            if matches!(line.origin(), '+' | '-' | ' ') {
                text.push(line.origin() as u8);
            }
            text.extend_from_slice(line.content());
            text.len() < limit
        });
        let is_cut = text.len() >= limit;
        match printed {
            Err(error) if !is_cut => Err(failed(error)),
            _ => Ok((String::from_utf8_lossy(&text).into_owned(), is_cut)),
        }
    }

    /// Returns the last commit to change each line of a committed file, by its path relative to the
    /// working tree.
    pub fn blame(&self, path: &Path) -> Result<Vec<BlameHunk>, Error> {
        let blame = self
            .inner
            .blame_file(path, None)
            .map_err(|error| unreadable(path, &error))?;
        let hunks = blame.iter().map(|hunk| {
            let id = hunk.final_commit_id();
            let signature = hunk.final_signature();
            let name = signature
                .as_ref()
                .map(|signature| String::from_utf8_lossy(signature.name_bytes()).into_owned());
            let start = hunk.final_start_line().saturating_sub(1);
            BlameHunk {
                id: id.to_string(),
                author: name.unwrap_or_default(),
                seconds: signature.map_or(0, |signature| signature.when().seconds()),
                lines: start..start + hunk.lines_in_hunk(),
            }
        });
        Ok(hunks.collect())
    }

    /// Returns the commit that a revision in git's notation names, also through a tag. Fails if
    /// there is none.
    fn commit_of(&self, revision: &str) -> Result<git2::Commit<'_>, Error> {
        let found = self.inner.revparse_single(revision);
        let commit = found.and_then(|object| object.peel_to_commit());
        commit.map_err(|error| unreadable(Path::new(revision), &error))
    }

    /// Returns the tree of HEAD; `None` if there is no commit yet or it cannot be read.
    fn head_tree(&self) -> Option<git2::Tree<'_>> {
        self.inner.head().and_then(|head| head.peel_to_tree()).ok()
    }
}

pub(crate) fn to_commit(commit: &git2::Commit<'_>) -> Commit {
    let author = commit.author();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Commit {
        id: commit.id().to_string(),
        author: format!(
            "{} <{}>",
            text(author.name_bytes()),
            text(author.email_bytes())
        ),
        seconds: author.when().seconds(),
        message: text(commit.message_bytes()),
    }
}

/// Returns whether a commit changed a path compared to its first parent.
fn touches(commit: &git2::Commit<'_>, path: &Path) -> Result<bool, git2::Error> {
    let entry = |tree: &git2::Tree<'_>| {
        tree.get_path(path)
            .ok()
            .map(|entry| (entry.id(), entry.filemode()))
    };
    let now = entry(&commit.tree()?);
    let before = match commit.parent(0) {
        Ok(parent) => entry(&parent.tree()?),
        Err(_) => None,
    };
    Ok(now != before)
}

#[cfg(test)]
mod tests;
