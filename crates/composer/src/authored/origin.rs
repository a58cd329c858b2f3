//! What a working tree grew out of: the border to git, and a stand-in.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use base::AbsPath;
use git::{BaseTree, IndexStat, blob_id};

use super::change::{Version, VersionKind};

/// The commit a working tree grew out of.
pub trait Base: Send {
    /// Its files, by path.
    fn files(&self) -> Result<BTreeMap<String, Version>, String>;

    /// The bytes of a content; `None` where it is not known.
    fn content(&self, id: &str) -> Result<Option<Vec<u8>>, String>;

    /// Whether git was told not to look at a path; a folder's ends in `/`.
    fn is_ignored(&self, path: &str) -> bool;

    /// What the index knows of files on the disk, so that they need not be read the first time. Whoever works in the
    /// tree may have written it: it is asked before anybody does.
    fn index_stats(&self) -> HashMap<String, IndexStat>;
}

/// A commit of a repository.
pub struct GitBase {
    tree: BaseTree,
    index: AbsPath,
}

impl GitBase {
    /// The base of a working tree. `repository` is the git folder of a repository that has the commit and that no agent
    /// writes; `index` the index of the tree, whoever wrote it.
    pub fn open(
        root: &AbsPath,
        repository: &AbsPath,
        index: &AbsPath,
        commit: &str,
    ) -> Result<Self, String> {
        let tree = BaseTree::open(root, repository, commit);
        let tree = tree.map_err(|error| error.to_string())?;
        let index = index.clone();
        Ok(Self { tree, index })
    }
}

impl Base for GitBase {
    fn files(&self) -> Result<BTreeMap<String, Version>, String> {
        let files = self.tree.files().map_err(|error| error.to_string())?;
        let files = files.into_iter().map(|file| {
            let kind = match file.mode {
                0o120_000 => VersionKind::Link,
                0o100_755 => VersionKind::Executable,
                _ => VersionKind::File,
            };
            let version = Version { id: file.id, kind };
            (file.path, version)
        });
        Ok(files.collect())
    }

    fn content(&self, id: &str) -> Result<Option<Vec<u8>>, String> {
        self.tree.content(id).map_err(|error| error.to_string())
    }

    fn is_ignored(&self, path: &str) -> bool {
        self.tree.is_ignored(path)
    }

    fn index_stats(&self) -> HashMap<String, IndexStat> {
        // Without it files are read once more; nothing is lost.
        self.tree.index_stats(&self.index).unwrap_or_else(|error| {
            log::warn!("{error}");
            HashMap::new()
        })
    }
}

/// A base in memory, for tests.
#[derive(Default)]
pub struct FakeBase {
    files: BTreeMap<String, Version>,
    contents: Mutex<HashMap<String, Vec<u8>>>,
    ignored: Vec<String>,
}

impl FakeBase {
    /// One with these files; what begins with one of `ignored` is not looked at.
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
            let version = Version {
                id,
                kind: VersionKind::File,
            };
            base.files.insert((*path).to_owned(), version);
        }
        base
    }
}

impl Base for FakeBase {
    fn files(&self) -> Result<BTreeMap<String, Version>, String> {
        Ok(self.files.clone())
    }

    fn content(&self, id: &str) -> Result<Option<Vec<u8>>, String> {
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
