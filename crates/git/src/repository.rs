//! One repository, opened for reading.
//!
//! A `Repository` is `Send` but not shared: open one per background task, which takes well under a
//! millisecond. Start at `Repository::discover`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use base::{AbsPath, NameRules};
use host::{Files as _, RealFiles};

use crate::status::{self, Statuses};

/// A repository with a working tree.
pub struct Repository {
    pub(crate) inner: git2::Repository,
    workdir: AbsPath,
}

/// The current branch and its distance from the upstream branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Name of the branch, or the short commit id when HEAD is detached.
    pub name: String,
    /// Whether HEAD points to a commit instead of a branch.
    pub is_detached: bool,
    /// Commits that the upstream branch lacks; 0 without an upstream.
    pub ahead: usize,
    /// Commits of the upstream branch that this one lacks; 0 without an upstream.
    pub behind: usize,
}

/// Reason why a git operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is in no repository.
    #[error("no git repository contains {0}")]
    NoRepository(AbsPath),
    /// The repository has no working tree.
    #[error("the git repository at {0} has no working tree")]
    Bare(PathBuf),
    /// libgit2 failed; the message is its own.
    #[error("git cannot read {path}: {message}")]
    Unreadable {
        /// Path of the affected file or repository.
        path: PathBuf,
        /// The error message of libgit2.
        message: String,
    },
    /// Another program holds the lock on the index.
    #[error(
        "another git command holds {0}; wait until it ends, or remove the file if none is running"
    )]
    IndexLocked(AbsPath),
    /// An agent's work is being landed in the repository.
    #[error("an agent's work is being landed in {0}; try again when it is done")]
    Landing(AbsPath),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] host::Error),
}

impl Repository {
    /// Opens the repository whose working tree contains `path`.
    pub fn discover(path: &AbsPath) -> Result<Self, Error> {
        let inner = git2::Repository::discover(path.as_path()).map_err(|error| {
            if error.code() == git2::ErrorCode::NotFound {
                Error::NoRepository(path.clone())
            } else {
                unreadable(path.as_path(), &error)
            }
        })?;
        let workdir = inner
            .workdir()
            .and_then(AbsPath::new)
            .ok_or_else(|| Error::Bare(inner.path().to_path_buf()))?;
        let workdir = as_stored(&inner, workdir);
        Ok(Self { inner, workdir })
    }

    /// Returns the root of the working tree, in the spelling that the disk stores.
    pub fn workdir(&self) -> &AbsPath {
        &self.workdir
    }

    /// Returns the folder with git's own files: `.git`, or the folder that a linked worktree refers
    /// to.
    pub fn git_dir(&self) -> Option<AbsPath> {
        AbsPath::new(self.inner.path())
    }

    /// Returns the bytes of `path` in HEAD. `None` if HEAD has no such file, or if there is no
    /// commit yet.
    pub fn head_bytes(&self, path: &AbsPath) -> Result<Option<Vec<u8>>, Error> {
        let Some(relative) = self.relative(path) else {
            return Ok(None);
        };
        let tree = match self.inner.head().and_then(|head| head.peel_to_tree()) {
            Ok(tree) => tree,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(unreadable(path.as_path(), &error)),
        };
        let found = self.entry_id(tree, &relative);
        let Some(id) = found.map_err(|error| unreadable(path.as_path(), &error))? else {
            return Ok(None);
        };
        match self.inner.find_blob(id) {
            Ok(blob) => Ok(Some(blob.content().to_vec())),
            // HEAD has a submodule or a folder at this path.
            Err(_) => Ok(None),
        }
    }

    /// Returns the current branch; `None` if HEAD cannot be read.
    pub fn branch(&self) -> Option<Branch> {
        let head = match self.inner.head() {
            Ok(head) => head,
            Err(error) if error.code() == git2::ErrorCode::UnbornBranch => return self.unborn(),
            Err(_) => return None,
        };
        if !head.is_branch() {
            let id = head.target()?.to_string();
            return Some(Branch {
                name: id.chars().take(8).collect(),
                is_detached: true,
                ahead: 0,
                behind: 0,
            });
        }
        let (ahead, behind) = self.distance(&head).unwrap_or((0, 0));
        Some(Branch {
            name: String::from_utf8_lossy(head.shorthand_bytes()).into_owned(),
            is_detached: false,
            ahead,
            behind,
        })
    }

    /// Returns the status of every changed or untracked file. Grows with the repository: not for
    /// the UI thread.
    pub fn statuses(&self) -> Result<Statuses, Error> {
        status::read(&self.inner, &self.workdir)
            .map_err(|error| unreadable(self.workdir.as_path(), &error))
    }

    /// Returns whether git ignores `path`.
    pub fn is_ignored(&self, path: &AbsPath) -> bool {
        self.relative(path)
            .is_some_and(|relative| self.inner.is_path_ignored(relative).unwrap_or(false))
    }

    /// Returns the id of the entry of a tree at `path`. Where names fold, the tree can spell it in
    /// another way than the disk.
    fn entry_id<'r>(
        &'r self,
        tree: git2::Tree<'r>,
        path: &Path,
    ) -> Result<Option<git2::Oid>, git2::Error> {
        match tree.get_path(path) {
            Ok(entry) => return Ok(Some(entry.id())),
            Err(error) if !is_absent(&error) => return Err(error),
            Err(_) => {}
        }
        let rules = status::name_rules(&self.inner);
        if rules == NameRules::EXACT {
            return Ok(None);
        }
        let mut folder = tree;
        let mut names = path.components().map(Component::as_os_str).peekable();
        while let Some(name) = names.next() {
            let entry = folder
                .iter()
                .find(|entry| rules.is_same(OsStr::from_bytes(entry.name_bytes()), name));
            let Some(id) = entry.map(|entry| entry.id()) else {
                return Ok(None);
            };
            if names.peek().is_none() {
                return Ok(Some(id));
            }
            folder = match self.inner.find_tree(id) {
                Ok(inner) => inner,
                Err(error) if is_absent(&error) => return Ok(None),
                Err(error) => return Err(error),
            };
        }
        Ok(None)
    }

    fn unborn(&self) -> Option<Branch> {
        let reference = self.inner.find_reference("HEAD").ok()?;
        let target = reference.symbolic_target_bytes()?;
        let target = String::from_utf8_lossy(target);
        Some(Branch {
            name: target
                .strip_prefix("refs/heads/")
                .unwrap_or(&target)
                .to_owned(),
            is_detached: false,
            ahead: 0,
            behind: 0,
        })
    }

    /// Returns the numbers of commits by which `head` is ahead of and behind its upstream. `None`
    /// if it has no upstream or its history cannot be read.
    fn distance(&self, head: &git2::Reference<'_>) -> Option<(usize, usize)> {
        let name = head.name().ok()?;
        let upstream = self.inner.branch_upstream_name(name).ok()?;
        let upstream = self.inner.refname_to_id(upstream.as_str().ok()?).ok()?;
        self.inner.graph_ahead_behind(head.target()?, upstream).ok()
    }

    /// Returns a path relative to the working tree, even if symlinks lead to its folder. `None` if
    /// it is outside, or its folder does not exist.
    pub(crate) fn relative(&self, path: &AbsPath) -> Option<PathBuf> {
        if let Some(relative) = path.relative_to(&self.workdir) {
            return Some(relative.to_path_buf());
        }
        // The working tree may have been opened through a symlink or in another spelling; git uses
        // its real path.
        let parent = RealFiles.canonicalize(&path.parent()?).ok()?;
        let real = parent.join(path.as_path().file_name()?);
        real.relative_to(&self.workdir).map(Path::to_path_buf)
    }
}

/// Returns whether an error means that an object does not exist or that there is no commit yet.
fn is_absent(error: &git2::Error) -> bool {
    matches!(
        error.code(),
        git2::ErrorCode::NotFound | git2::ErrorCode::UnbornBranch
    )
}

/// Returns a path of a repository as its folders spell it: libgit2 keeps the spelling by which the
/// repository was found. Reads the folders only where names fold.
pub(crate) fn as_stored(repository: &git2::Repository, path: AbsPath) -> AbsPath {
    if status::name_rules(repository) == NameRules::EXACT {
        path
    } else {
        RealFiles.stored_path(&path)
    }
}

/// Wraps an error of libgit2 about the file or repository at `path`.
pub(crate) fn unreadable(path: &Path, error: &git2::Error) -> Error {
    Error::Unreadable {
        path: path.to_path_buf(),
        message: error.message().to_owned(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
