//! What an index has to know of a folder: every file and folder that walks visit, at once for both kinds of walk.
//!
//! Paths are relative to the root and sorted by their bytes, so that what lies below a folder lies together.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use base::AbsPath;
use ignore::{DirEntry, WalkState};

use super::{Hidden, Ignored, WalkProblem, walker};

/// The files and folders below one folder that ignore rules leave over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The files.
    pub files: Vec<LaidOut>,
    /// The folders, the one that was walked among them.
    pub folders: Vec<LaidOut>,
    /// What could not be looked at.
    pub problems: Vec<WalkProblem>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaidOut {
    /// Relative to the root; empty for the root itself.
    pub path: PathBuf,
    /// Whether a walk that leaves out names with a dot visits it too.
    pub is_plain: bool,
}

/// Walks everything below `folder`, which lies in `root` or is it.
pub fn lay_out(root: &AbsPath, folder: &AbsPath, cancel: &AtomicBool) -> Layout {
    lay_out_to(root, folder, None, cancel)
}

/// Only what lies directly in `folder`. It must itself be a folder that the walk of `root` visits, and for it and what
/// is in it to be plain in the whole, it must be plain there.
pub fn lay_out_folder(root: &AbsPath, folder: &AbsPath, cancel: &AtomicBool) -> Layout {
    lay_out_to(root, folder, Some(1), cancel)
}

fn lay_out_to(
    root: &AbsPath,
    folder: &AbsPath,
    depth: Option<usize>,
    cancel: &AtomicBool,
) -> Layout {
    let (plain, _) = found(root, folder, Hidden::Skip, depth, cancel);
    let plain: HashSet<PathBuf> = plain.into_iter().map(|(path, _)| path).collect();
    let (all, problems) = found(root, folder, Hidden::Visit, depth, cancel);
    let mut layout = Layout {
        problems,
        ..Layout::default()
    };
    for (path, is_folder) in all {
        let is_plain = plain.contains(&path);
        let kind = match is_folder {
            true => &mut layout.folders,
            false => &mut layout.files,
        };
        kind.push(LaidOut { path, is_plain });
    }
    for kind in [&mut layout.files, &mut layout.folders] {
        kind.sort_unstable_by(|one, two| bytes(&one.path).cmp(bytes(&two.path)));
    }
    layout
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Paths, and whether each is a folder.
type Found = (Vec<(PathBuf, bool)>, Vec<WalkProblem>);

fn found(
    root: &AbsPath,
    folder: &AbsPath,
    hidden: Hidden,
    depth: Option<usize>,
    cancel: &AtomicBool,
) -> Found {
    let mut walker = walker(folder, hidden, Ignored::Skip);
    walker.max_depth(depth);
    if depth.is_some() {
        let mut found = Found::default();
        for entry in walker.build() {
            put_down(root, entry, &mut found);
        }
        return found;
    }
    let all = Mutex::new(Found::default());
    walker.build_parallel().run(|| {
        let mut mine = Gathered {
            found: Found::default(),
            all: &all,
        };
        Box::new(move |entry| {
            if cancel.load(Ordering::Relaxed) {
                return WalkState::Quit;
            }
            put_down(root, entry, &mut mine.found);
            WalkState::Continue
        })
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What one thread of the walk found; handed in when the thread ends.
struct Gathered<'a> {
    found: Found,
    all: &'a Mutex<Found>,
}

impl Drop for Gathered<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.0.append(&mut self.found.0);
        all.1.append(&mut self.found.1);
    }
}

fn put_down(root: &AbsPath, entry: Result<DirEntry, ignore::Error>, found: &mut Found) {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => {
            let problem = WalkProblem(format!("cannot look at {error}"));
            return found.1.push(problem);
        }
    };
    // What is walked may itself be a link to a folder.
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
