//! Ignored files that leases need: build folders shared copy-on-write, and files listed by the
//! project, which are copied.
//!
//! Limits: with an overlay, the lower layer is the checkout's live folder. A file that changes
//! there also changes in a lease that has not written it itself.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use base::{AbsPath, LogErr};
use git::lease::MainRepo;
use host::no_follow::{self, FolderEntry};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::backend::TreeBackend;
use crate::clone::{self, FileCopy, copy_folder};
use crate::dir_tree;
use crate::error::Error;
use crate::fill::{as_path, make_folder};
use crate::mount::{self, OverlayLayers};
use crate::open_beneath::{PathContent, RootedDir};
use crate::settings::PoolSettings;

/// An ignored file or folder that was brought into a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPath {
    /// Path relative to the root.
    pub path: String,
    /// The method used, or the reason why it was left out.
    pub way: ShareMethod,
}

/// The method by which an ignored path was brought into a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShareMethod {
    /// An overlay over the checkout's folder.
    Overlay,
    /// Its files were cloned.
    Reflink,
    /// Its files were copied.
    Copy,
    /// It was left out, for this reason.
    LeftOut(String),
}

/// The ignored paths to bring into each lease.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharePlan {
    folders: Vec<String>,
    files: Vec<PathBuf>,
    limit: u64,
}

/// The file in which a project lists ignored files that its worktrees need, in the syntax of
/// `.gitignore`.
const INCLUDE: &str = ".worktreeinclude";
/// Maximum number of entries of ignored folders that are searched for listed files.
const MAX_SCANNED_ENTRIES: usize = 5000;
/// Maximum size of a listed file that is copied, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

impl SharePlan {
    /// Returns the ignored paths of the checkout to share: the folders of `settings.shared` that exist,
    /// are ignored and are not in the base, and the files that the project lists.
    pub(crate) fn new(main_repo: &MainRepo, base_tree: &Path, settings: &PoolSettings) -> Self {
        let root = main_repo.workdir();
        let is_shared = |name: &&String| {
            let path = Path::new(name.as_str());
            let is_below = path
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            let is_folder = fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.is_dir());
            is_below && is_folder && !base_tree.join(path).exists() && main_repo.is_ignored(path)
        };
        let folders: Vec<String> = settings.shared.iter().filter(is_shared).cloned().collect();
        let files = match RootedDir::open(root.as_path()) {
            Ok(beneath) => included_files(&beneath, main_repo, &settings.shared),
            Err(_) => Vec::new(),
        };
        Self {
            folders,
            files,
            limit: settings.shared_limit,
        }
    }

    /// Creates the mount points of shared folders in the upper layer of a tree that is not mounted
    /// yet.
    pub(crate) fn prepare(&self, upper_tree: &Path) -> Result<(), Error> {
        for folder in &self.folders {
            let path = upper_tree.join(folder);
            fs::create_dir_all(&path).map_err(Error::file("create", &path))?;
        }
        Ok(())
    }

    /// Brings all paths into the lease in `lease`, whose tree is at `root`, and returns how each was
    /// brought. A path that cannot be brought is left out; that is not an error.
    pub(crate) fn apply(
        &self,
        main_repo: &AbsPath,
        lease: &Path,
        root: &Path,
        backend: TreeBackend,
        by_user: bool,
    ) -> Result<Vec<SharedPath>, Error> {
        let mut shared = Vec::new();
        for (ix, folder) in self.folders.iter().enumerate() {
            let from = main_repo.join(folder);
            let way = match backend {
                TreeBackend::Overlay => {
                    overlay(from.as_path(), lease, ix, &root.join(folder), by_user)
                }
                backend => self.copy_shared(from.as_path(), &root.join(folder), backend),
            };
            shared.push(SharedPath {
                path: folder.clone(),
                way: way.unwrap_or_else(|error| ShareMethod::LeftOut(error.to_string())),
            });
        }
        if self.files.is_empty() {
            return Ok(shared);
        }
        let from = RootedDir::open(main_repo.as_path())
            .map_err(Error::file("open", main_repo.as_path()))?;
        let to = RootedDir::open(root).map_err(Error::file("open", root))?;
        for file in &self.files {
            let copied = from
                .read_entry(file, MAX_FILE_BYTES)
                .and_then(|held| match held {
                    PathContent::File(..) | PathContent::Link(_) => to.write_entry(file, &held),
                    _ => Err(std::io::Error::other("it is no longer a file")),
                });
            shared.push(SharedPath {
                path: file.to_string_lossy().into_owned(),
                way: match copied {
                    Ok(()) => ShareMethod::Copy,
                    Err(error) => ShareMethod::LeftOut(error.to_string()),
                },
            });
        }
        Ok(shared)
    }

    /// Copies the folder `from` into a lease; clones its blocks with the reflink backend. With
    /// another backend, a folder larger than the limit is left out, which is not an error.
    fn copy_shared(
        &self,
        from: &Path,
        to: &Path,
        backend: TreeBackend,
    ) -> Result<ShareMethod, Error> {
        let size = dir_tree::disk_usage(from);
        if !backend.shares_blocks() && size > self.limit {
            return Ok(ShareMethod::LeftOut(format!(
                "it has {} MiB, more than the limit of {} MiB for copies; it will be rebuilt",
                size >> 20,
                self.limit >> 20
            )));
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
        }
        if backend == TreeBackend::CloneTree {
            // A socket of a running build makes it fail; file by file, such entries are passed over.
            if clone::tree(from, to).is_ok() {
                return Ok(ShareMethod::Reflink);
            }
            dir_tree::remove_all(to).map_err(Error::file("clear", to))?;
        }
        make_folder(to)?;
        let (copy, way) = if backend.shares_blocks() {
            (FileCopy::Clone, ShareMethod::Reflink)
        } else {
            (FileCopy::Bytes, ShareMethod::Copy)
        };
        copy_folder(from, to, copy)?;
        Ok(way)
    }
}

/// Mounts the shared folders of a lease again, and returns a sentence for each that could not be.
pub(crate) fn mount_again(
    shared: &[SharedPath],
    main_repo: &AbsPath,
    lease: &Path,
    root: &Path,
    by_user: bool,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (ix, folder) in shared
        .iter()
        .enumerate()
        .filter(|(_, shared)| shared.way == ShareMethod::Overlay)
    {
        let from = main_repo.join(&folder.path);
        let at = root.join(&folder.path);
        if mount::is_mounted(&at) {
            continue;
        }
        if let Err(error) = overlay(from.as_path(), lease, ix, &at, by_user) {
            problems.push(format!("{} is no longer shared: {error}", folder.path));
        }
    }
    problems
}

/// Mounts a writable overlay over the folder `from` at `at`. `ix` is its number among the shared
/// folders of the lease; its changes are kept below `lease`.
fn overlay(
    from: &Path,
    lease: &Path,
    ix: usize,
    at: &Path,
    by_user: bool,
) -> Result<ShareMethod, Error> {
    let own = lease.join("shared").join(ix.to_string());
    let (upper, work) = (own.join("upper"), own.join("work"));
    for folder in [&upper, &work] {
        fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    }
    let layers = OverlayLayers {
        lower: &[from],
        upper: &upper,
        work: &work,
    };
    mount::overlay(layers, at, by_user).map_err(Error::file("share", from))?;
    Ok(ShareMethod::Overlay)
}

/// The ignored files that the project lists.
fn included_files(root: &RootedDir, main_repo: &MainRepo, shared: &[String]) -> Vec<PathBuf> {
    let Ok(Some(text)) = root.read(Path::new(INCLUDE), 1 << 20) else {
        return Vec::new();
    };
    let patterns = patterns(&String::from_utf8_lossy(&text));
    // This takes as long as `git status`, which only projects with a list pay for.
    let mut waiting: VecDeque<(PathBuf, bool)> = main_repo
        .ignored()
        .iter()
        .map(|(path, is_folder)| (as_path(path).to_path_buf(), *is_folder))
        .collect();
    let mut found = Vec::new();
    let mut seen = 0;
    while let Some((path, is_folder)) = waiting.pop_front() {
        seen += 1;
        let is_build = shared.iter().any(|name| path.starts_with(name));
        if seen > MAX_SCANNED_ENTRIES || is_build {
            continue;
        }
        if !is_folder {
            if is_named(&patterns, &path) {
                found.push(path);
            }
            continue;
        }
        let inner = root
            .open_dir(&path)
            .and_then(|folder| Ok(no_follow::entries(&folder)?));
        for FolderEntry { name, kind } in inner.into_iter().flatten() {
            waiting.push_back((path.join(name), kind == FileType::Directory));
        }
    }
    found.sort();
    found
}

/// Parses a list in the syntax of `.gitignore`. A line that is not a valid glob matches nothing.
fn patterns(text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        builder.add_line(None, line).log_err();
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Whether a file, given relative to the root, is in the list, itself or with a folder above it.
fn is_named(patterns: &Gitignore, path: &Path) -> bool {
    let matched = patterns.matched_path_or_any_parents(path, false);
    matched.is_ignore()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_like_gitignore() {
        let check = |list: &str, path: &str, named: bool| {
            assert_eq!(
                is_named(&patterns(list), Path::new(path)),
                named,
                "{list:?} {path}"
            );
        };
        check(".env", ".env", true);
        check(".env", "deep/.env", true);
        check("/.env", "deep/.env", false);
        check(".env*\n!.env.example", ".env.local", true);
        check(".env*\n!.env.example", ".env.example", false);
        check("# .env\n\n", ".env", false);
        check("config/", "config/a/b.json", true);
        check("config/*.json", "config/a/b.json", false);
        check("config/*.json", "config/b.json", true);
    }
}
