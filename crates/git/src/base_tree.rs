//! The files of one commit next to a working tree derived from it: paths, contents and ignore
//! rules.
//!
//! Reads only. The working tree's own `.git` is never opened, since an agent with access to the
//! tree may have written anything there; the caller names the repository that has the commit. Start
//! at `BaseTree::open`.

use std::collections::HashMap;
use std::path::Path;

use base::AbsPath;
use git2::{ObjectType, Oid, TreeWalkMode, TreeWalkResult};

use crate::repository::{Error, unreadable};

/// A commit paired with a working tree derived from it.
pub struct BaseTree {
    inner: git2::Repository,
    root: AbsPath,
    commit: Oid,
}

/// One file of a commit's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Path from the root of the tree, separated by `/`.
    pub path: String,
    /// Blob id as hexadecimal digits.
    pub id: String,
    /// File mode: `0o100644`, `0o100755` or `0o120000`.
    pub mode: u32,
}

/// Stat data that the index holds for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStat {
    /// Id of the blob that the file held.
    pub id: String,
    /// Size in bytes, truncated to 32 bits.
    pub size: u32,
    /// Modification time in nanoseconds since 1970.
    pub mtime_ns: i128,
}

/// Returns the blob id of `bytes` as hexadecimal digits.
pub fn blob_id(bytes: &[u8]) -> String {
    // Hashing in memory does not fail; an empty id matches no blob.
    Oid::hash_object(ObjectType::Blob, bytes).map_or_else(|_| String::new(), |id| id.to_string())
}

impl BaseTree {
    /// Opens `commit`, a full id, in the repository at `git_dir`, next to the working tree at
    /// `root`. `git_dir` must not be writable by agents that work in the tree.
    pub fn open(root: &AbsPath, git_dir: &AbsPath, commit: &str) -> Result<Self, Error> {
        let open = || {
            let inner = git2::Repository::open(git_dir.as_path())?;
            inner.set_workdir(root.as_path(), false)?;
            let commit = Oid::from_str(commit)?;
            inner.find_commit(commit)?;
            Ok((inner, commit))
        };
        let opened: Result<_, git2::Error> = open();
        let (inner, commit) = opened.map_err(|error| unreadable(git_dir.as_path(), &error))?;
        Ok(Self {
            inner,
            root: root.clone(),
            commit,
        })
    }

    /// Returns every file and symlink of the commit, except submodules and paths that are not
    /// UTF-8.
    pub fn files(&self) -> Result<Vec<TreeFile>, Error> {
        let mut files = Vec::new();
        let mut walk = || {
            let tree = self.inner.find_commit(self.commit)?.tree()?;
            tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
                if entry.kind() == Some(ObjectType::Blob)
                    && let Ok(name) = std::str::from_utf8(entry.name_bytes())
                {
                    files.push(TreeFile {
                        path: format!("{folder}{name}"),
                        id: entry.id().to_string(),
                        mode: entry.filemode() as u32,
                    });
                }
                TreeWalkResult::Ok
            })
        };
        let walked: Result<(), git2::Error> = walk();
        walked.map_err(|error| self.failed(&error))?;
        Ok(files)
    }

    /// Returns the bytes of a blob; `None` if the repository lacks it.
    pub fn content(&self, id: &str) -> Result<Option<Vec<u8>>, Error> {
        let Ok(id) = Oid::from_str(id) else {
            return Ok(None);
        };
        match self.inner.find_blob(id) {
            Ok(blob) => Ok(Some(blob.content().to_vec())),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Returns the stat data in `index` by path. A file whose stat data still match holds the named
    /// blob.
    pub fn index_stats(&self, index: &AbsPath) -> Result<HashMap<String, IndexStat>, Error> {
        let index = git2::Index::open(index.as_path()).map_err(|error| self.failed(&error))?;
        let stats = index.iter().filter_map(|entry| {
            let path = String::from_utf8(entry.path).ok()?;
            let mtime = i128::from(entry.mtime.seconds()) * 1_000_000_000;
            let stat = IndexStat {
                id: entry.id.to_string(),
                size: entry.file_size,
                mtime_ns: mtime + i128::from(entry.mtime.nanoseconds()),
            };
            Some((path, stat))
        });
        Ok(stats.collect())
    }

    /// Returns whether a path is ignored; a folder's path ends in `/`.
    pub fn is_ignored(&self, path: &str) -> bool {
        self.inner.is_path_ignored(Path::new(path)).unwrap_or(false)
    }

    fn failed(&self, error: &git2::Error) -> Error {
        unreadable(self.root.as_path(), error)
    }
}

#[cfg(test)]
mod tests;
