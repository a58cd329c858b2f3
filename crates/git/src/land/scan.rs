//! What a working tree holds that its base does not, read from a tree nobody vouches for.
//!
//! libgit2 names the files that differ, by the rules of the hub: its settings, its excludes, the tree's own
//! `.gitignore`. The bytes are then read by a door that follows no link.

use base::AbsPath;
use host::Files;
use host::links::{self, Found};

use super::eol;
use crate::lease::is_draft;
use crate::merge::{Changes, Entry, Mode, ObjectId, TreePath};
use crate::repository::{Error, Repository};

/// A working tree to be read.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its top.
    pub root: &'a AbsPath,
    /// The git folder that belongs to it. Of this only the names in the index are read, for files that were added
    /// although they are ignored.
    pub git_dir: Option<&'a AbsPath>,
    /// A file of ours that remembers which files were looked at, so that the next scan reads only what was touched
    /// since. Without it every file is read.
    pub memory: Option<&'a AbsPath>,
}

/// What is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one file.
    pub file_bytes: u64,
    /// The most bytes of all changed files together.
    pub all_bytes: u64,
}

/// A name that was not taken, and why, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Where.
    pub path: TreePath,
    /// Why: `it links to /etc, outside of the repository`.
    pub reason: String,
}

/// What a working tree holds that its base does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// What was taken, with its bytes.
    pub changes: Changes,
    /// What was not.
    pub refused: Vec<Refused>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 100 << 20,
            all_bytes: 1 << 30,
        }
    }
}

impl Repository {
    /// What the working tree at `place` holds that the tree `base` does not.
    pub fn scan(
        &self,
        place: Place<'_>,
        base: ObjectId,
        limits: Limits,
        files: &dyn Files,
    ) -> Result<Scanned, Error> {
        let failed =
            |error: git2::Error| crate::repository::unreadable(place.root.as_path(), &error);
        // A handle of its own: this one's working tree is the session's, its settings are the hub's.
        let reader = git2::Repository::open_ext(
            self.inner.commondir(),
            git2::RepositoryOpenFlags::NO_SEARCH,
            std::iter::empty::<&std::ffi::OsStr>(),
        )
        .map_err(failed)?;
        reader
            .set_workdir(place.root.as_path(), false)
            .map_err(failed)?;
        let mut index = match place.memory {
            Some(memory) => git2::Index::open(memory.as_path()),
            None => git2::Index::new(),
        }
        .map_err(failed)?;
        let tree = reader.find_tree(base.0).map_err(failed)?;
        index.read_tree(&tree).map_err(failed)?;
        reader.set_index(&mut index).map_err(failed)?;
        let names = differing(&reader, &index, place.memory.is_some()).map_err(failed)?;
        let within = files.beneath(place.root);
        let mut scan = Scan {
            repository: self,
            reader: &reader,
            base,
            root: place.root,
            files: within.as_deref().unwrap_or(files),
            limits,
            taken_bytes: 0,
            scanned: Scanned::default(),
        };
        for name in &names {
            scan.take(name)?;
        }
        for path in added_by_force(place) {
            let is_known = scan.scanned.changes.contains_key(&path)
                || index.get_path(&path.to_path(), 0).is_some();
            if !is_known && path.danger().is_none() && is_there(place.root, &path) {
                scan.take(&Name {
                    path,
                    kind: NameKind::There,
                })?;
            }
        }
        Ok(scan.scanned)
    }
}

enum NameKind {
    There,
    Gone,
    /// A folder that is a repository of its own.
    Repository,
    Unreadable,
}

struct Name {
    path: TreePath,
    kind: NameKind,
}

fn differing(
    reader: &git2::Repository,
    index: &git2::Index,
    is_remembered: bool,
) -> Result<Vec<Name>, git2::Error> {
    let mut options = git2::DiffOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .include_typechange(true)
        .include_unreadable(true)
        .ignore_submodules(true)
        .skip_binary_check(true)
        .update_index(is_remembered);
    let diff = reader.diff_index_to_workdir(Some(index), Some(&mut options))?;
    let mut names = Vec::new();
    for delta in diff.deltas() {
        let file = match delta.status() {
            git2::Delta::Deleted => delta.old_file(),
            _ => delta.new_file(),
        };
        let Some(path) = file.path_bytes() else {
            continue;
        };
        let kind = match delta.status() {
            git2::Delta::Unmodified | git2::Delta::Ignored => continue,
            git2::Delta::Deleted => NameKind::Gone,
            git2::Delta::Unreadable => NameKind::Unreadable,
            _ if path.ends_with(b"/") || file.mode() == git2::FileMode::Commit => {
                NameKind::Repository
            }
            _ => NameKind::There,
        };
        let path = path.strip_suffix(b"/").unwrap_or(path);
        // What a killed save left in a worktree is nobody's work, and does not land.
        if delta.status() == git2::Delta::Untracked && is_draft(path) {
            continue;
        }
        names.push(Name {
            path: TreePath::new(path),
            kind,
        });
    }
    Ok(names)
}

/// The names in a session's own index. Whatever is wrong with that file, it only means that no more names are known.
fn added_by_force(place: Place<'_>) -> Vec<TreePath> {
    let Some(git_dir) = place.git_dir else {
        return Vec::new();
    };
    let Ok(index) = git2::Index::open(git_dir.join("index").as_path()) else {
        return Vec::new();
    };
    let is_work = |entry: &git2::IndexEntry| entry.mode != 0o160_000 && !is_draft(&entry.path);
    let names = index.iter().filter(is_work);
    names.map(|entry| TreePath::new(entry.path)).collect()
}

fn is_there(root: &AbsPath, path: &TreePath) -> bool {
    let found = links::found(root, &root.join(path.to_path()));
    matches!(found, Ok(Found::File { .. } | Found::Link(_)))
}

struct Scan<'a> {
    repository: &'a Repository,
    reader: &'a git2::Repository,
    base: ObjectId,
    root: &'a AbsPath,
    files: &'a dyn Files,
    limits: Limits,
    taken_bytes: u64,
    scanned: Scanned,
}

impl Scan<'_> {
    fn take(&mut self, name: &Name) -> Result<(), Error> {
        let path = &name.path;
        if let Some(danger) = path.danger() {
            self.refuse(path, danger.to_string());
            return Ok(());
        }
        match name.kind {
            NameKind::Gone => {
                self.scanned.changes.insert(path.clone(), None);
                return Ok(());
            }
            NameKind::Repository => {
                self.refuse(path, "it holds a repository of its own".to_owned());
                return Ok(());
            }
            NameKind::Unreadable => {
                self.refuse(path, "it cannot be read".to_owned());
                return Ok(());
            }
            NameKind::There => {}
        }
        match self.read(path)? {
            Ok(Some(entry)) => {
                if self.repository.entry_at(self.base, path)?.as_ref() != Some(&entry) {
                    self.scanned.changes.insert(path.clone(), Some(entry));
                }
            }
            Ok(None) => {
                // Gone since it was named.
                if self.repository.entry_at(self.base, path)?.is_some() {
                    self.scanned.changes.insert(path.clone(), None);
                }
            }
            Err(reason) => self.refuse(path, reason),
        }
        Ok(())
    }

    fn refuse(&mut self, path: &TreePath, reason: String) {
        self.scanned.refused.push(Refused {
            path: path.clone(),
            reason,
        });
    }

    fn read(&mut self, path: &TreePath) -> Result<Result<Option<Entry>, String>, Error> {
        let place = self.root.join(path.to_path());
        let found = match links::found(self.root, &place) {
            Ok(found) => found,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let size = match found {
            Found::Nothing => return Ok(Ok(None)),
            Found::Folder => return Ok(Err("a folder took its place".to_owned())),
            Found::Other => return Ok(Err("it is a pipe, a socket or a device".to_owned())),
            Found::Link(target) => {
                use std::os::unix::ffi::OsStrExt;
                let target = target.as_bytes();
                return Ok(match path.link_danger(target) {
                    Some(danger) => Err(danger.to_string()),
                    None => Ok(Some(Entry::of_bytes(Mode::Link, target))),
                });
            }
            Found::File { size, .. } => size,
        };
        let limit = self.limits.file_bytes;
        if size > limit {
            return Ok(Err(format!("it has {size} bytes, and {limit} is the most")));
        }
        self.taken_bytes += size;
        if self.taken_bytes > self.limits.all_bytes {
            let all = self.limits.all_bytes;
            return Ok(Err(format!(
                "all changes together have more than {all} bytes"
            )));
        }
        let (bytes, stat) = match self.files.read_with_stat(&place, limit) {
            Ok(read) => read,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mode = match stat.mode & 0o100 {
            0 => Mode::Plain,
            _ => Mode::Executable,
        };
        let is_crlf_in_git = || {
            let entry = self.repository.entry_at(self.base, path).ok().flatten();
            let bytes = entry.and_then(|entry| self.repository.bytes_of(&entry).ok());
            bytes.is_some_and(|bytes| eol::has_crlf(&bytes))
        };
        let bytes = eol::to_git(self.reader, path, &bytes, &is_crlf_in_git).into_owned();
        Ok(Ok(Some(Entry::of_bytes(mode, bytes))))
    }
}

#[cfg(test)]
mod tests;
