//! The files of one commit beside a working tree that grew out of it: what they are, what they hold, what git was told
//! not to look at.
//!
//! Reads only. The working tree's `.git` is not looked at: the repository that has the commit is named by the caller,
//! since whoever works in the tree may have written anything there.
//! Start at `BaseTree::open`.

use std::collections::HashMap;
use std::path::Path;

use base::AbsPath;
use git2::{ObjectType, Oid, TreeWalkMode, TreeWalkResult};

use crate::repository::{Error, unreadable};

/// A commit and a working tree.
pub struct BaseTree {
    inner: git2::Repository,
    root: AbsPath,
    commit: Oid,
}

/// A file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// With `/`, from the top.
    pub path: String,
    /// The id of its content, as hexadecimal digits.
    pub id: String,
    /// `0o100644`, `0o100755` or `0o120000`.
    pub mode: u32,
}

/// What the index remembers of a file on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStat {
    /// The id of the content that it had.
    pub id: String,
    /// Length in bytes, cut to 32 bits.
    pub size: u32,
    /// Last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i128,
}

/// The id that git gives to a content, as hexadecimal digits.
pub fn blob_id(bytes: &[u8]) -> String {
    // Hashing bytes in memory does not fail; an empty id is equal to that of no content.
    Oid::hash_object(ObjectType::Blob, bytes).map_or_else(|_| String::new(), |id| id.to_string())
}

impl BaseTree {
    /// `root` is the working tree, `git_dir` the git folder of a repository that is not the tree's owner's to write,
    /// `commit` a whole id.
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

    /// Every file and link of the commit. Files whose names are not UTF-8, and submodules, are left out.
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

    /// The bytes of a content; `None` where git does not have it.
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

    /// What an index remembers of the disk, by path: a file that still looks so holds the content that is named.
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

    /// Whether git was told not to look at a path; a folder's path ends in `/`.
    pub fn is_ignored(&self, path: &str) -> bool {
        self.inner.is_path_ignored(Path::new(path)).unwrap_or(false)
    }

    fn failed(&self, error: &git2::Error) -> Error {
        unreadable(self.root.as_path(), error)
    }
}

#[cfg(test)]
mod tests;
