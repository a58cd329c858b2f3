//! A repository that stays open between readings, so that its index is parsed again only after it changed.
//!
//! libgit2 keeps some settings of an open repository, such as `core.autocrlf`. So the repository is opened again after a
//! change of a configuration file; a change of a file that such a file includes is noticed with the next one.
//! Invariant: only readings use the open repository. What changes the index opens its own.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use base::AbsPath;
use host::{Files as _, RealFiles, Stat};

use crate::{Error, Repository, common_dir_of, git_dir_of};

/// A repository for readings, opened when it is needed first.
pub struct KeptRepository {
    root: AbsPath,
    open: Mutex<Option<(RepositoryStamp, Repository)>>,
}

/// The metadata of the files that decide about an open repository: its git folder, and the configuration.
#[derive(PartialEq, Eq)]
struct RepositoryStamp {
    git_dir: AbsPath,
    files: Vec<(AbsPath, Option<Stat>)>,
}

impl KeptRepository {
    /// Creates the repository of the working tree with this root. Opens nothing.
    pub fn new(root: AbsPath) -> Self {
        Self {
            root,
            open: Mutex::default(),
        }
    }

    /// Returns the result of a reading. Readings at the same time use repositories of their own.
    ///
    /// # Errors
    /// There is no repository, or the reading failed.
    pub fn read<T>(
        &self,
        reading: impl FnOnce(&Repository) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let stamp = RepositoryStamp::of(&self.root);
        let kept = self.replace(None);
        let kept = kept.filter(|(known, _)| stamp.as_ref() == Some(known));
        let repository = match kept {
            Some((_, repository)) => repository,
            None => Repository::discover(&self.root)?,
        };
        let result = reading(&repository);
        if let (Ok(_), Some(stamp)) = (&result, stamp) {
            self.replace(Some((stamp, repository)));
        }
        result
    }

    fn replace(
        &self,
        open: Option<(RepositoryStamp, Repository)>,
    ) -> Option<(RepositoryStamp, Repository)> {
        let mut kept = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut kept, open)
    }
}

impl RepositoryStamp {
    /// Returns the present stamp; `None` if the folder is no root of a working tree.
    fn of(root: &AbsPath) -> Option<Self> {
        let git_dir = git_dir_of(root)?;
        let own = [
            common_dir_of(&git_dir).join("config"),
            git_dir.join("config.worktree"),
        ];
        let shared = [
            git2::Config::find_global(),
            git2::Config::find_xdg(),
            git2::Config::find_system(),
        ];
        let shared = shared.into_iter().flatten();
        let shared = shared.filter_map(|path: PathBuf| AbsPath::new(path));
        let files = own.into_iter().chain(shared).map(|path| {
            let stat = RealFiles.stat(&path).ok();
            (path, stat)
        });
        Some(Self {
            files: files.collect(),
            git_dir,
        })
    }
}

#[cfg(test)]
mod tests;
