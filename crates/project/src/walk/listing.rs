//! Lists the files and folders that walks visit, for an index: both kinds of walk in one pass.
//!
//! Paths are relative to the root and sorted by their bytes, so that everything below a folder is
//! contiguous.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use base::AbsPath;
use ignore::{DirEntry, WalkState};

use super::{HiddenFiles, IgnoredFiles, WalkProblem, walker};

/// The files and folders below one folder that ignore rules do not exclude, sorted by path. Dot
/// files are included and marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkListing {
    /// Files found in the folder.
    pub files: Vec<ListedPath>,
    /// Folders, including the listed one.
    pub folders: Vec<ListedPath>,
    /// Files and folders that could not be visited.
    pub problems: Vec<WalkProblem>,
}

/// A file or folder of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPath {
    /// Path relative to the root; empty for the root itself.
    pub path: PathBuf,
    /// Whether a walk that skips dot files visits it as well.
    pub is_plain: bool,
}

/// Lists everything below `folder`, which is `root` or below it; paths are relative to `root`.
/// Blocks; incomplete if `cancel` is set.
pub fn list_below(root: &AbsPath, folder: &AbsPath, cancel: &AtomicBool) -> WalkListing {
    list_to_depth(root, folder, None, cancel)
}

/// Lists only the direct entries of `folder`, which the walk of `root` must visit. `is_plain` is
/// computed from `folder` on, so `folder` itself must be plain in `root`.
pub fn list_directly_in(root: &AbsPath, folder: &AbsPath, cancel: &AtomicBool) -> WalkListing {
    list_to_depth(root, folder, Some(1), cancel)
}

fn list_to_depth(
    root: &AbsPath,
    folder: &AbsPath,
    depth: Option<usize>,
    cancel: &AtomicBool,
) -> WalkListing {
    let (plain, _) = collect_paths(root, folder, HiddenFiles::Skip, depth, cancel);
    let plain: HashSet<PathBuf> = plain.into_iter().map(|(path, _)| path).collect();
    let (all, problems) = collect_paths(root, folder, HiddenFiles::Visit, depth, cancel);
    let mut layout = WalkListing {
        problems,
        ..WalkListing::default()
    };
    for (path, is_folder) in all {
        let is_plain = plain.contains(&path);
        let kind = if is_folder {
            &mut layout.folders
        } else {
            &mut layout.files
        };
        kind.push(ListedPath { path, is_plain });
    }
    for kind in [&mut layout.files, &mut layout.folders] {
        kind.sort_unstable_by(|one, two| bytes(&one.path).cmp(bytes(&two.path)));
    }
    layout
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Paths with a flag for folders, and the problems.
type FoundPaths = (Vec<(PathBuf, bool)>, Vec<WalkProblem>);

fn collect_paths(
    root: &AbsPath,
    folder: &AbsPath,
    hidden: HiddenFiles,
    depth: Option<usize>,
    cancel: &AtomicBool,
) -> FoundPaths {
    let mut walker = walker(folder, hidden, IgnoredFiles::Skip);
    walker.max_depth(depth);
    if depth.is_some() {
        let mut found = FoundPaths::default();
        for entry in walker.build() {
            add_entry(root, entry, &mut found);
        }
        return found;
    }
    let all = Mutex::new(FoundPaths::default());
    walker.build_parallel().run(|| {
        let mut mine = WalkThreadResults {
            found: FoundPaths::default(),
            all: &all,
        };
        Box::new(move |entry| {
            if cancel.load(Ordering::Relaxed) {
                return WalkState::Quit;
            }
            add_entry(root, entry, &mut mine.found);
            WalkState::Continue
        })
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The results of one walk thread, which are merged when the thread ends.
struct WalkThreadResults<'a> {
    found: FoundPaths,
    all: &'a Mutex<FoundPaths>,
}

impl Drop for WalkThreadResults<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.0.append(&mut self.found.0);
        all.1.append(&mut self.found.1);
    }
}

fn add_entry(root: &AbsPath, entry: Result<DirEntry, ignore::Error>, found: &mut FoundPaths) {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => {
            let problem = WalkProblem(format!("cannot look at {error}"));
            return found.1.push(problem);
        }
    };
    // The root itself may be a link to a folder.
    let is_folder = match entry.file_type() {
        Some(kind) if kind.is_file() => false,
        Some(kind) if kind.is_dir() || entry.depth() == 0 => true,
        _ => return,
    };
    if let Ok(path) = entry.path().strip_prefix(root.as_path()) {
        found.0.push((path.to_owned(), is_folder));
    }
}

#[cfg(test)]
mod tests;
