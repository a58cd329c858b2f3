//! What within the writable folders stays as it is, because it makes other programs run code.
//!
//! What is there becomes a read-only mount. What is not there cannot be covered without leaving
//! something on the disk, so nothing is put there: whoever tries to make it is told no by `watch`, and
//! what a race may have made all the same is found by `scan` before anybody trusts the folder.
//! A protected name protects what it leads to: a link, and every link in a protected folder, is followed, and its
//! end is kept too, whether it exists or not.

#![expect(
    clippy::disallowed_methods,
    reason = "mounts are made of what the disk holds, whatever `host::Files` would show"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::plan::{self, Found, Guarded};
use crate::Policy;
use crate::git::Repository;
use crate::links::trace;

/// In a git folder: what decides which code git runs, and where else it looks.
const CONTROL: &[&str] = &[
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "hooks",
    "modules",
    "worktrees",
];

/// The same, a folder deeper.
const DEEPER: &[(&str, &str)] = &[
    ("info", "attributes"),
    ("info", "grafts"),
    ("objects/info", "alternates"),
    ("objects/info", "http-alternates"),
];

/// Folders of a git folder that git never moves.
const PINNED: [&str; 5] = ["info", "objects", "objects/info", "refs", "logs"];

/// What commands write in the folder that the worktrees of a repository share.
const SHARED: [&str; 3] = ["objects", "refs", "logs"];

/// The most entries of one protected folder that are searched for links, and how deep.
const MOST_ENTRIES: usize = 2_000;
const DEEPEST: usize = 6;

/// What was found to protect.
#[derive(Debug, Default)]
pub(super) struct Protected {
    /// Files and folders that are there and stay as they are.
    pub(super) fixed: Vec<Found>,
    /// Git folders that can be committed to.
    pub(super) folders: Vec<Found>,
    /// Folders that can be written although they lie in something fixed.
    pub(super) open: Vec<PathBuf>,
    /// Folders that can be written and can neither be renamed nor removed.
    pub(super) pins: Vec<PathBuf>,
    /// What is not there and would have git run code as soon as it were.
    pub(super) absent: Vec<PathBuf>,
    /// Names that stay as they are, whether there or not.
    pub(super) guarded: Guarded,
    /// The folders of `guarded` by path.
    pub(super) names: Vec<(PathBuf, Vec<Vec<u8>>)>,
    /// Git folders that are not there and can be made.
    pub(super) fresh: Vec<PathBuf>,
    /// Git folders, in which nobody makes links.
    pub(super) control: Vec<PathBuf>,
    /// The folders that can be written, which links are followed in.
    roots: Vec<PathBuf>,
}

/// Looks at the disk. `roots` are what can be written, the workspace first.
pub(super) fn find(policy: &Policy, roots: &[Found]) -> Protected {
    let folders = roots.iter().filter(|root| root.is_folder);
    let mut protected = Protected {
        roots: folders.map(|root| root.path.clone()).collect(),
        ..Protected::default()
    };
    let mut names: Vec<Vec<u8>> = vec![b".git".to_vec()];
    let given = policy.protected.names.iter();
    names.extend(given.map(|name| name.to_lowercase().into_bytes()));
    for root in protected.roots.clone() {
        protected.root(&root, &names);
    }
    for path in &policy.protected.repositories {
        match plan::find_own(path.as_path(), &protected.roots) {
            Some(found) if found.is_folder => protected.repository(&found.path),
            Some(found) => protected.fix(found.path),
            None => {}
        }
    }
    // Many of them share few folders.
    let mut folders: BTreeMap<&Path, PathBuf> = BTreeMap::new();
    for path in policy.protected.paths.iter().map(|path| path.as_path()) {
        let is_own = |root: &PathBuf| path.starts_with(root);
        if protected.roots.iter().any(is_own) {
            protected.path(path);
        } else if let (Some(above), Some(name)) = (path.parent(), path.file_name()) {
            let above = folders.entry(above).or_insert_with(|| plan::real(above));
            protected.path(&above.join(name));
        }
    }
    protected
}

impl Protected {
    /// One folder that can be written.
    fn root(&mut self, root: &Path, names: &[Vec<u8>]) {
        let there = plan::names(root).unwrap_or_default();
        for name in there {
            if !names.contains(&name.as_bytes().to_ascii_lowercase()) {
                continue;
            }
            let path = root.join(&name);
            let is_git = name.as_bytes().eq_ignore_ascii_case(b".git");
            if is_git && path.is_dir() && !plan::is_link(&path) {
                self.repository(&path);
            } else {
                self.fix(path);
            }
        }
        self.guard(root, names.to_vec());
        let git = root.join(".git");
        if git.symlink_metadata().is_err() {
            self.fresh.push(git);
        } else if git.is_file()
            && let Some(repository) = Repository::of(root)
        {
            self.repository(&repository.git_dir);
            if repository.common_dir != repository.git_dir {
                self.shared(&repository.common_dir);
            }
        }
    }

    /// A path that the policy names: what is there stays, what is not there does not come into being.
    fn path(&mut self, path: &Path) {
        let root = self.roots.iter().find(|root| path.starts_with(root));
        if let Some(root) = root.cloned() {
            self.follow(&root, path);
        }
    }

    /// Keeps a path, the links on the way to it, and what it leads to.
    fn follow(&mut self, root: &Path, path: &Path) {
        let trace = trace(root, path);
        for link in trace.links {
            self.keep(link);
        }
        match trace.end {
            Some(end) if end == root => {}
            Some(end) if end.symlink_metadata().is_ok() => self.fix(end),
            Some(end) => self.miss_in(&end),
            // It leads out, perhaps into something else that can be written.
            None => {
                if let Some(target) = plan::find(path) {
                    self.keep(target.path);
                }
            }
        }
    }

    /// A link stays as it is too, and so does what it leads to.
    fn fix(&mut self, path: PathBuf) {
        let root = self.roots.iter().find(|root| path.starts_with(root));
        if plan::is_link(&path) {
            let root = root.cloned();
            let above = path.parent().unwrap_or(&path).to_owned();
            self.keep(path.clone());
            return self.follow(&root.unwrap_or(above), &path);
        }
        let is_new = !self.fixed.iter().any(|found| path.starts_with(&found.path));
        if is_new && path.is_dir() && root.is_some() {
            let mut links = Vec::new();
            let mut rest = MOST_ENTRIES;
            gather(&path, 0, &mut rest, &mut links);
            let root = root.cloned().unwrap_or_default();
            self.keep(path);
            for link in links {
                self.follow(&root, &link);
            }
            return;
        }
        self.keep(path);
    }

    fn keep(&mut self, path: PathBuf) {
        let is_known = |found: &Found| path.starts_with(&found.path) && !plan::is_link(&found.path);
        // What lies in something fixed is fixed, unless it is opened again.
        if !self.open.is_empty() || !self.fixed.iter().any(is_known) {
            let is_folder = path.is_dir() && !plan::is_link(&path);
            self.fixed.push(Found { path, is_folder });
        }
    }

    /// The name of something that is not there does not come into being, and neither do folders that lead to it.
    fn miss_in(&mut self, path: &Path) {
        let mut missing = path;
        while let Some(above) = missing.parent() {
            if above.is_dir() {
                let name = missing.file_name().unwrap_or_default();
                self.pins.push(above.to_owned());
                return self.guard(above, vec![name.as_bytes().to_ascii_lowercase()]);
            }
            missing = above;
        }
    }

    fn repository(&mut self, git: &Path) {
        if self.control.iter().any(|known| known == git) {
            return;
        }
        self.control.push(git.to_owned());
        self.folders.push(Found {
            path: git.to_owned(),
            is_folder: true,
        });
        for name in CONTROL {
            let path = git.join(name);
            match *name {
                // Git folders of their own.
                "modules" | "worktrees" if path.is_dir() && !plan::is_link(&path) => {
                    self.keep(path)
                }
                _ => self.fix_if_there(path),
            }
        }
        for name in ["commondir", "config.worktree", "hooks"] {
            self.miss(git.join(name));
        }
        let names = CONTROL.iter().map(|name| name.as_bytes().to_vec());
        self.guard(git, names.collect());
        self.pins.push(git.to_owned());
        self.objects(git);
        for folder in PINNED {
            let folder = git.join(folder);
            if folder.is_dir() && !plan::is_link(&folder) {
                self.pins.push(folder);
            }
        }
        for module in Repository::modules(git) {
            self.open.push(module.clone());
            self.repository(&module);
        }
    }

    /// The part of a git folder that its worktrees share: commits go into it, nothing else does.
    fn shared(&mut self, common: &Path) {
        self.control.push(common.to_owned());
        for name in SHARED {
            let path = common.join(name);
            if path.is_dir() && !plan::is_link(&path) {
                let is_folder = true;
                self.folders.push(Found { path, is_folder });
            }
        }
        let info = common.join("objects/info");
        if info.is_dir() && !plan::is_link(&info) {
            self.pins.push(info);
        }
        self.objects(common);
    }

    fn objects(&mut self, git: &Path) {
        for (folder, name) in DEEPER {
            self.fix_if_there(git.join(folder).join(name));
            self.guard(&git.join(folder), vec![name.as_bytes().to_vec()]);
        }
    }

    fn miss(&mut self, path: PathBuf) {
        if path.symlink_metadata().is_err() {
            self.absent.push(path);
        }
    }

    fn fix_if_there(&mut self, path: PathBuf) {
        if path.symlink_metadata().is_ok() {
            self.fix(path);
        }
    }

    fn guard(&mut self, folder: &Path, names: Vec<Vec<u8>>) {
        if let Some(identity) = plan::identity(folder) {
            self.names.push((folder.to_owned(), names.clone()));
            self.guarded.entry(identity).or_default().extend(names);
        }
    }
}

/// The links in a folder, to a depth.
fn gather(folder: &Path, depth: usize, rest: &mut usize, links: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Some(less) = rest.checked_sub(1) else {
            return;
        };
        *rest = less;
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => links.push(entry.path()),
            Ok(kind) if kind.is_dir() && depth < DEEPEST => {
                gather(&entry.path(), depth + 1, rest, links);
            }
            _ => {}
        }
    }
}
