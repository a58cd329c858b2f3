//! The git folders of a working folder.

#![expect(
    clippy::disallowed_methods,
    reason = "mounts are made of what the disk holds, whatever `host::Files` would show"
)]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::config;

/// Maximum size of a pointer file that is read, in bytes.
const MAX_POINTER_BYTES: u64 = 64 << 10;
/// Maximum number of submodules of one repository that commands can commit to.
const MAX_MODULES: usize = 64;
/// Maximum depth of submodule names, which may contain slashes.
const MAX_MODULE_DEPTH: usize = 8;

/// The git folders of one working folder, free of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryPaths {
    /// Contains the index, `HEAD` and other files of this working folder alone.
    pub(crate) git_dir: PathBuf,
    /// Contains objects, references, configuration and hooks; differs from `git_dir` in a linked
    /// worktree.
    pub(crate) common_dir: PathBuf,
}

impl RepositoryPaths {
    /// Returns the repository whose working folder this is.
    ///
    /// A pointer file counts only if the git folder it names points back, so that a forged pointer
    /// makes no other folder writable. A pointer to a path inside the working folder always counts,
    /// since that is writable anyway.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let folder = fs::canonicalize(folder).ok()?;
        let entry = folder.join(".git");
        let kind = fs::symlink_metadata(&entry).ok()?.file_type();
        if kind.is_dir() {
            return Some(Self {
                git_dir: entry.clone(),
                common_dir: entry,
            });
        }
        if !kind.is_file() {
            return None;
        }
        let target = pointer(&entry)?;
        let git_dir = fs::canonicalize(folder.join(target)).ok()?;
        if !git_dir.is_dir() {
            return None;
        }
        let common_dir = common(&git_dir)?;
        let points_back = is_worktree(&git_dir, &common_dir, &entry)
            || common_dir == git_dir && is_module(&git_dir, &folder);
        (points_back || git_dir.starts_with(&folder)).then_some(Self {
            git_dir,
            common_dir,
        })
    }

    /// Returns the git folders of submodules below a git folder, recursively.
    pub(crate) fn modules(git_dir: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        gather(&git_dir.join("modules"), 0, &mut found);
        found
    }
}

/// Returns the path after `gitdir:` in a pointer file.
fn pointer(file: &Path) -> Option<PathBuf> {
    let text = read_pointer(file)?;
    let rest = text.strip_prefix(b"gitdir:")?;
    Some(path(rest.trim_ascii_start()))
}

/// Reads a small file without the white space at its end. `None` if it is not a regular file
/// itself, is longer than `MAX_POINTER_BYTES`, or is unreadable.
fn read_pointer(file: &Path) -> Option<Vec<u8>> {
    let facts = fs::symlink_metadata(file).ok()?;
    if !facts.is_file() || facts.len() > MAX_POINTER_BYTES {
        return None;
    }
    let text = fs::read(file).ok()?;
    Some(text.trim_ascii_end().to_vec())
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// Returns the git folder that `git_dir` shares with other worktrees, free of links; `git_dir`
/// itself if it names none. `None` if the named folder does not exist.
fn common(git_dir: &Path) -> Option<PathBuf> {
    match read_pointer(&git_dir.join("commondir")) {
        Some(text) => fs::canonicalize(git_dir.join(path(&text))).ok(),
        None => Some(git_dir.to_owned()),
    }
}

/// Returns whether `git_dir` belongs to a linked worktree of `common_dir` and points back to
/// `entry`, the pointer file in the working folder.
fn is_worktree(git_dir: &Path, common_dir: &Path, entry: &Path) -> bool {
    let is_listed = git_dir
        .parent()
        .is_some_and(|parent| parent == common_dir.join("worktrees"));
    let back = read_pointer(&git_dir.join("gitdir"));
    let back = back.and_then(|text| fs::canonicalize(git_dir.join(path(&text))).ok());
    is_listed && back.as_deref() == Some(entry)
}

/// Returns whether the configuration of `git_dir` names `folder` as its working folder, as that of
/// a submodule does.
fn is_module(git_dir: &Path, folder: &Path) -> bool {
    let text = read_pointer(&git_dir.join("config")).unwrap_or_default();
    let entries = config::parse(&text);
    let worktree = entries.iter().rev().find(|it| it.key == "core.worktree");
    worktree.is_some_and(|it| {
        let named = git_dir.join(&it.value);
        fs::canonicalize(named).is_ok_and(|named| named == folder)
    })
}

fn gather(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || depth >= MAX_MODULE_DEPTH || found.len() >= MAX_MODULES {
            continue;
        }
        let path = entry.path();
        if path.join("HEAD").is_file() && path.join("objects").is_dir() {
            found.push(path.clone());
            gather(&path.join("modules"), depth + 1, found);
        } else {
            gather(&path, depth + 1, found);
        }
    }
}
