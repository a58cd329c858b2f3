//! The base commit of a working tree: the border to Git, and a fake.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use base::AbsPath;
use git::{BaseTree, IndexStat, blob_id};
use serde::{Deserialize, Serialize};

use super::change::{StoredVersion, VersionKind};
use crate::Error;

/// HEAD of a repository at some moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadState {
    /// The commit of HEAD.
    pub commit: String,
    /// Number of moves of HEAD so far, as far as Git logs them.
    pub moves: usize,
}

/// A move of HEAD that checked files out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitMove {
    /// All files of the new commit, by path from the root.
    pub files: BTreeMap<String, StoredVersion>,
    /// The paths of the commits before that the new one lacks.
    pub gone: HashSet<String>,
}

impl GitMove {
    /// Whether the move explains that a path has this version now.
    pub(super) fn explains(&self, path: &str, now: Option<&StoredVersion>) -> bool {
        match now {
            Some(version) => self.files.get(path) == Some(version),
            None => self.gone.contains(path),
        }
    }
}

/// The commit from which a working tree started. This trait is the interface to Git.
pub trait BaseCommit: Send {
    /// Returns all files of the commit, by path from the root.
    fn files(&self) -> Result<BTreeMap<String, StoredVersion>, Error>;

    /// Returns the bytes of a content by its blob id, or `None` if the id is unknown.
    fn content(&self, id: &str) -> Result<Option<Vec<u8>>, Error>;

    /// Whether Git ignores a path; the path of a folder ends in `/`.
    fn is_ignored(&self, path: &str) -> bool;

    /// Returns file metadata from Git's index by path, so that the first scan need not read all
    /// files. Call this before any agent starts, because agents can write the index.
    fn index_stats(&self) -> HashMap<String, IndexStat>;

    /// Whether the tree is a folder of the user, whose index is read at every opening, and where
    /// ignored files are observed if a call names them.
    fn is_users_folder(&self) -> bool {
        false
    }

    /// HEAD now, if the tree is a folder of the user.
    fn head(&self) -> Option<HeadState> {
        None
    }

    /// Returns the files that Git checked out since an earlier look at HEAD; `None` if it only
    /// committed.
    fn moved_since(&self, _before: &HeadState) -> Option<GitMove> {
        None
    }

    /// Returns all files of another commit, by path from the root; none if the tree has only its base.
    fn files_of(&self, _commit: &str) -> Result<BTreeMap<String, StoredVersion>, Error> {
        Ok(BTreeMap::new())
    }

    /// The size of the contents outside the commit that the first look at the tree stores at most,
    /// in bytes; `None` without a limit. The contents of further files cannot be restored.
    fn first_look_bytes(&self) -> Option<u64> {
        None
    }

    /// The number of files outside the commit above which no log is begun; `None` without a limit.
    fn max_first_files(&self) -> Option<usize> {
        None
    }
}

/// A commit of a Git repository.
pub struct GitBase {
    tree: BaseTree,
    index: AbsPath,
}

impl GitBase {
    /// Opens the base of a working tree. `repository` is the git folder of a repository that has
    /// the commit and that no agent can write; `index` is the tree's own index, which is untrusted.
    pub fn open(
        root: &AbsPath,
        repository: &AbsPath,
        index: &AbsPath,
        commit: &str,
    ) -> Result<Self, Error> {
        Ok(Self {
            tree: BaseTree::open(root, repository, commit)?,
            index: index.clone(),
        })
    }
}

impl BaseCommit for GitBase {
    fn files(&self) -> Result<BTreeMap<String, StoredVersion>, Error> {
        let files = self.tree.files()?;
        let files = files.into_iter().map(|file| {
            let kind = match file.mode {
                0o120_000 => VersionKind::Link,
                0o100_755 => VersionKind::Executable,
                _ => VersionKind::File,
            };
            let version = StoredVersion { id: file.id, kind };
            (file.path, version)
        });
        Ok(files.collect())
    }

    fn content(&self, id: &str) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.tree.content(id)?)
    }

    fn is_ignored(&self, path: &str) -> bool {
        self.tree.is_ignored(path)
    }

    fn index_stats(&self) -> HashMap<String, IndexStat> {
        // Without the index, files are read once more; nothing is lost.
        self.tree.index_stats(&self.index).unwrap_or_else(|error| {
            log::warn!("{error}");
            HashMap::new()
        })
    }
}

/// An in-memory base for tests.
#[derive(Default)]
pub struct FakeBase {
    files: BTreeMap<String, StoredVersion>,
    contents: Mutex<HashMap<String, Vec<u8>>>,
    ignored: Vec<String>,
}

impl FakeBase {
    /// A base with these files; paths starting with one of `ignored` are ignored.
    pub fn new(files: &[(&str, &str)], ignored: &[&str]) -> Self {
        let mut base = Self {
            ignored: ignored.iter().map(|it| (*it).to_owned()).collect(),
            ..Self::default()
        };
        for (path, text) in files {
            let id = blob_id(text.as_bytes());
            let mut contents = base.contents.lock().unwrap_or_else(PoisonError::into_inner);
            contents.insert(id.clone(), text.as_bytes().to_vec());
            drop(contents);
            let version = StoredVersion {
                id,
                kind: VersionKind::File,
            };
            base.files.insert((*path).to_owned(), version);
        }
        base
    }
}

impl BaseCommit for FakeBase {
    fn files(&self) -> Result<BTreeMap<String, StoredVersion>, Error> {
        Ok(self.files.clone())
    }

    fn content(&self, id: &str) -> Result<Option<Vec<u8>>, Error> {
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(contents.get(id).cloned())
    }

    fn is_ignored(&self, path: &str) -> bool {
        self.ignored.iter().any(|it| path.starts_with(it.as_str()))
    }

    fn index_stats(&self) -> HashMap<String, IndexStat> {
        HashMap::new()
    }
}
