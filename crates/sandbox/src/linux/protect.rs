//! What within a workspace stays as it is, because it makes other programs run code.
//!
//! What is there becomes a read-only mount. What is not there cannot be covered without leaving
//! something on the disk, so nothing is put there: whoever tries to make it is told no by `watch`, and
//! what a race may have made all the same is found by `scan` before anybody trusts the folder.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::plan::{self, Found, Guarded};
use crate::Policy;

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

/// What was found to protect.
#[derive(Debug, Default)]
pub(super) struct Protected {
    /// Files and folders that are there and stay as they are.
    pub(super) fixed: Vec<Found>,
    /// Git folders that can be committed to.
    pub(super) folders: Vec<Found>,
    /// Folders that can be written and can neither be renamed nor removed.
    pub(super) pins: Vec<PathBuf>,
    /// Names that stay as they are, whether there or not.
    pub(super) guarded: Guarded,
}

/// Looks at the disk.
pub(super) fn find(policy: &Policy, workspace: &Found) -> Protected {
    let mut protected = Protected::default();
    let mut names: Vec<Vec<u8>> = vec![b".git".to_vec()];
    let given = policy.protected.names.iter();
    names.extend(given.map(|name| name.to_lowercase().into_bytes()));
    let there = plan::names(&workspace.path).unwrap_or_default();
    for name in there {
        if !names.contains(&name.as_bytes().to_ascii_lowercase()) {
            continue;
        }
        let path = workspace.path.join(&name);
        let is_git = name.as_bytes().eq_ignore_ascii_case(b".git");
        if is_git && path.is_dir() && !plan::is_link(&path) {
            protected.repository(&path);
        } else {
            protected.fix(path);
        }
    }
    protected.guard(&workspace.path, names);
    for path in &policy.protected.repositories {
        match plan::find(path.as_path()) {
            Some(found) if found.is_folder => protected.repository(&found.path),
            Some(found) => protected.fix(found.path),
            None => {}
        }
    }
    for path in &policy.protected.paths {
        if let Some(found) = plan::find(path.as_path()) {
            protected.fix(found.path);
        }
    }
    protected
}

impl Protected {
    /// A link stays as it is too, and so does what it leads to.
    fn fix(&mut self, path: PathBuf) {
        if plan::is_link(&path)
            && let Some(target) = plan::find(&path)
        {
            self.fixed.push(target);
        }
        let is_folder = path.is_dir();
        self.fixed.push(Found { path, is_folder });
    }

    fn repository(&mut self, git: &Path) {
        self.folders.push(Found {
            path: git.to_owned(),
            is_folder: true,
        });
        for name in CONTROL {
            self.fix_if_there(git.join(name));
        }
        for (folder, name) in DEEPER {
            self.fix_if_there(git.join(folder).join(name));
            self.guard(&git.join(folder), vec![name.as_bytes().to_vec()]);
        }
        let names = CONTROL.iter().map(|name| name.as_bytes().to_vec());
        self.guard(git, names.collect());
        self.pins.push(git.to_owned());
        for folder in ["info", "objects", "objects/info"] {
            let folder = git.join(folder);
            if folder.is_dir() && !plan::is_link(&folder) {
                self.pins.push(folder);
            }
        }
    }

    fn fix_if_there(&mut self, path: PathBuf) {
        if path.symlink_metadata().is_ok() {
            self.fix(path);
        }
    }

    fn guard(&mut self, folder: &Path, names: Vec<Vec<u8>>) {
        if let Some(identity) = plan::identity(folder) {
            self.guarded.entry(identity).or_default().extend(names);
        }
    }
}
