//! The paths inside writable folders that are read-only because other programs run code through
//! them.
//!
//! An existing path becomes a read-only mount. A missing path cannot be covered without leaving
//! something on the disk, so no mount is made: `watch` denies its creation, and `scan` finds what a
//! race created anyway before the folder is trusted.
//! A protected name also protects its target: a link, and every link in a protected folder, is
//! followed, and its target is protected too, whether or not it exists.
//! A granted path that is named itself is not a writable folder at all (`granted`), and neither is a
//! git folder that is named.

#![expect(
    clippy::disallowed_methods,
    reason = "access is confined by what the disk holds, whatever `host::Files` would show"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use base::names::widest_key;

use crate::Policy;
use crate::git::RepositoryPaths;
use crate::granted::{GrantedPaths, NamedPaths};
use crate::links::trace;
use crate::lookup::{self, Guarded, ResolvedPath};

/// Entries of a git folder that decide which code git runs, and where else it looks.
const CONTROL: &[&str] = &[
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "hooks",
    "modules",
    "worktrees",
];

/// The same, one folder deeper.
const DEEPER: &[(&str, &str)] = &[
    ("info", "attributes"),
    ("info", "grafts"),
    ("objects/info", "alternates"),
    ("objects/info", "http-alternates"),
];

/// Folders of a git folder that git never moves.
const PINNED: [&str; 5] = ["info", "objects", "objects/info", "refs", "logs"];

/// Folders that the worktrees of a repository share and commands write to.
const SHARED: [&str; 3] = ["objects", "refs", "logs"];

/// Maximum number of entries of one protected folder that are searched for links, and maximum
/// depth.
const MAX_ENTRIES: usize = 2_000;
const MAX_DEPTH: usize = 6;

/// The protected paths that were found.
#[derive(Debug, Default)]
pub(crate) struct ProtectedPaths {
    /// Existing files and folders that are read-only.
    pub(crate) fixed: Vec<ResolvedPath>,
    /// Granted paths that are read-only as a whole, with the git folders that belong to them.
    pub(crate) read_only: Vec<ResolvedPath>,
    /// Git folders that can be committed to.
    pub(crate) folders: Vec<ResolvedPath>,
    /// Folders that are writable inside a read-only path.
    pub(crate) open: Vec<PathBuf>,
    /// Folders that are writable, and can be neither renamed nor removed.
    pub(crate) pins: Vec<PathBuf>,
    /// Missing paths that would make git run code once they exist.
    pub(crate) absent: Vec<PathBuf>,
    /// Protected names, whether or not they exist.
    pub(crate) guarded: Guarded,
    /// The folders of `guarded` by path.
    pub(crate) names: Vec<(PathBuf, Vec<Vec<u8>>)>,
    /// Missing git folders that may be created.
    pub(crate) fresh: Vec<PathBuf>,
    /// Git folders, in which no links may be created.
    pub(crate) control: Vec<PathBuf>,
    /// The writable folders in which links are followed.
    roots: Vec<PathBuf>,
    named: NamedPaths,
}

/// Finds the protected paths on disk.
pub(crate) fn find(policy: &Policy, granted: &GrantedPaths) -> ProtectedPaths {
    let folders = granted.writable.iter().filter(|root| root.is_folder);
    let mut protected = ProtectedPaths {
        roots: folders.map(|root| root.path.clone()).collect(),
        named: granted.named.clone(),
        ..ProtectedPaths::default()
    };
    let mut names: Vec<Vec<u8>> = vec![b".git".to_vec()];
    let given = policy.protected.names.iter();
    names.extend(given.map(|name| widest_key(name.as_bytes()).into_owned()));
    for root in protected.roots.clone() {
        protected.root(&root, &names);
    }
    for root in &granted.read_only {
        protected.read_only_path(root.clone());
    }
    protected.repositories(policy, granted);
    // Many of them share few folders.
    let mut folders: BTreeMap<&Path, PathBuf> = BTreeMap::new();
    let rules = &policy.protected;
    let paths = rules.paths.iter().chain(&rules.start_files);
    for path in paths.map(|path| path.as_path()) {
        let is_own = |root: &PathBuf| path.starts_with(root);
        if protected.roots.iter().any(is_own) {
            protected.path(path);
        } else if let (Some(above), Some(name)) = (path.parent(), path.file_name()) {
            let above = folders.entry(above).or_insert_with(|| lookup::real(above));
            protected.path(&above.join(name));
        }
    }
    // The target of a link may be a folder above a writable one, which stays writable.
    let writable = granted.writable.iter().chain(&protected.folders);
    let writable: Vec<PathBuf> = writable.map(|found| found.path.clone()).collect();
    protected.fixed.retain(|found| {
        let path = &found.path;
        let is_above = writable.iter().any(|root| root.starts_with(path));
        !is_above || writable.iter().any(|root| path.starts_with(root))
    });
    protected
}

impl ProtectedPaths {
    /// Adds one writable folder.
    fn root(&mut self, root: &Path, names: &[Vec<u8>]) {
        let there = lookup::names(root).unwrap_or_default();
        for name in there {
            let key = widest_key(name.as_bytes());
            if !names.iter().any(|name| **name == *key) {
                continue;
            }
            let path = root.join(&name);
            let is_git = *key == *b".git";
            if is_git && path.is_dir() && !lookup::is_link(&path) {
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
            && let Some(repository) = RepositoryPaths::of(root)
        {
            if self.named.covers(&repository.git_dir) {
                self.fix(repository.git_dir.clone());
            } else {
                self.repository(&repository.git_dir);
            }
            if repository.common_dir != repository.git_dir {
                self.shared(&repository.common_dir);
            }
        }
    }

    /// Adds a granted path that is read-only: inside a writable folder it is protected like others.
    fn read_only_path(&mut self, found: ResolvedPath) {
        let mut all = vec![found];
        if let Some(repository) = RepositoryPaths::of(&all[0].path) {
            all.extend(linked_folders(&repository, &all[0].path));
        }
        for found in &all {
            if self.roots.iter().any(|root| found.path.starts_with(root)) {
                self.fix(found.path.clone());
            }
        }
        self.read_only.extend(all);
    }

    /// Adds the git folders that the policy lists.
    fn repositories(&mut self, policy: &Policy, granted: &GrantedPaths) {
        let areas = granted.areas();
        for path in &policy.protected.repositories {
            let path = path.as_path();
            let Some(found) = lookup::find_own(path, &areas) else {
                continue;
            };
            let is_open = !granted.is_read_only(&found.path);
            if self.named.contains(path) {
                self.read_only_path(found);
            } else if is_open && found.is_folder {
                self.repository(&found.path);
            } else if is_open {
                self.fix(found.path);
            }
        }
    }

    /// Adds a path named by the policy: an existing one is read-only, a missing one must not be
    /// created.
    fn path(&mut self, path: &Path) {
        let folders = self.folders.iter().map(|found| &found.path);
        let mut roots = self.roots.iter().chain(folders);
        let root = roots.find(|root| path.starts_with(root));
        if let Some(root) = root.cloned() {
            self.follow(&root, path);
        }
    }

    /// Protects a path, the links on the way to it, and its target.
    fn follow(&mut self, root: &Path, path: &Path) {
        let trace = trace(root, path);
        for link in trace.links {
            self.add_fixed(link);
        }
        match trace.target {
            // A link to the whole folder, which a command may have made, or a start-up file.
            Some(end) if end == root => {}
            Some(end) if end.symlink_metadata().is_ok() => self.fix(end),
            Some(end) => self.add_missing_name(&end),
            // A link leads out of the folder, possibly into another writable one.
            None => self.follow_out(path),
        }
    }

    /// Protects the target of a path that leaves its writable folder, and the links on the way that
    /// lie in another one.
    fn follow_out(&mut self, path: &Path) {
        let trace = trace(Path::new("/"), path);
        let is_own = |path: &PathBuf| self.roots.iter().any(|root| path.starts_with(root));
        let is_new = |link: &PathBuf| !self.fixed.iter().any(|found| found.path == *link);
        let links = trace.links.into_iter();
        let links: Vec<PathBuf> = links.filter(|link| is_own(link) && is_new(link)).collect();
        let end = trace.target.filter(is_own);
        for link in links {
            self.add_fixed(link);
        }
        match (lookup::find(path), end) {
            (Some(target), _) => self.fix(target.path),
            (None, Some(end)) if end.symlink_metadata().is_err() => self.add_missing_name(&end),
            (None, _) => {}
        }
    }

    /// Protects a link and its target.
    fn fix(&mut self, path: PathBuf) {
        let root = self.roots.iter().find(|root| path.starts_with(root));
        if lookup::is_link(&path) {
            let root = root.cloned();
            let above = path.parent().unwrap_or(&path).to_owned();
            self.add_fixed(path.clone());
            return self.follow(&root.unwrap_or(above), &path);
        }
        let is_new = !self.fixed.iter().any(|found| self.covers(found, &path));
        if is_new && path.is_dir() && root.is_some() {
            let mut links = Vec::new();
            let mut rest = MAX_ENTRIES;
            gather(&path, 0, &mut rest, &mut links);
            let root = root.cloned().unwrap_or_default();
            self.add_fixed(path);
            for link in links {
                self.follow(&root, &link);
            }
            return;
        }
        self.add_fixed(path);
    }

    /// Returns whether a path is read-only because a path above it is: that one lies in a writable
    /// folder, and there is no further writable folder between the two.
    fn covers(&self, above: &ResolvedPath, path: &Path) -> bool {
        let above = &*above.path;
        let folders = self.folders.iter().map(|found| &*found.path);
        let folders = self.roots.iter().map(PathBuf::as_path).chain(folders);
        let mut is_inside = false;
        for folder in folders.filter(|folder| path.starts_with(folder)) {
            if folder != above && folder.starts_with(above) {
                return false;
            }
            is_inside |= above.starts_with(folder);
        }
        is_inside && path.starts_with(above)
    }

    fn add_fixed(&mut self, path: PathBuf) {
        let is_known =
            |found: &ResolvedPath| self.covers(found, &path) && !lookup::is_link(&found.path);
        // Contents of a read-only path are read-only, unless they were opened again.
        if !self.open.is_empty() || !self.fixed.iter().any(is_known) {
            let is_folder = path.is_dir() && !lookup::is_link(&path);
            self.fixed.push(ResolvedPath { path, is_folder });
        }
    }

    /// Guards the name of a missing path, and missing folders that lead to it.
    fn add_missing_name(&mut self, path: &Path) {
        let mut missing = path;
        while let Some(above) = missing.parent() {
            if above.is_dir() {
                let name = missing.file_name().unwrap_or_default();
                self.pins.push(above.to_owned());
                return self.guard(above, vec![widest_key(name.as_bytes()).into_owned()]);
            }
            missing = above;
        }
    }

    fn repository(&mut self, git: &Path) {
        if self.control.iter().any(|known| known == git) {
            return;
        }
        if self.named.contains(git) {
            return self.fix(git.to_owned());
        }
        self.control.push(git.to_owned());
        self.folders.push(ResolvedPath {
            path: git.to_owned(),
            is_folder: true,
        });
        for name in CONTROL {
            let path = git.join(name);
            match *name {
                // These contain git folders of their own.
                "modules" | "worktrees" if path.is_dir() && !lookup::is_link(&path) => {
                    self.add_fixed(path)
                }
                _ => self.fix_if_there(path),
            }
        }
        for name in ["commondir", "config.worktree", "hooks"] {
            self.add_absent(git.join(name));
        }
        let names = CONTROL.iter().map(|name| name.as_bytes().to_vec());
        self.guard(git, names.collect());
        self.pins.push(git.to_owned());
        self.objects(git);
        for folder in PINNED {
            let folder = git.join(folder);
            if folder.is_dir() && !lookup::is_link(&folder) {
                self.pins.push(folder);
            }
        }
        for module in RepositoryPaths::modules(git) {
            let mut leading = module.ancestors().take_while(|above| *above != git);
            if leading.any(|above| self.named.contains(above)) {
                continue;
            }
            self.open.push(module.clone());
            self.repository(&module);
        }
    }

    /// Adds the part of a git folder that its worktrees share: commits write to it and nothing else
    /// does.
    fn shared(&mut self, common: &Path) {
        self.control.push(common.to_owned());
        if self.named.covers(common) {
            return;
        }
        let folders = shared_folders(common).filter(|found| !self.named.contains(&found.path));
        self.folders.extend(folders);
        let info = common.join("objects/info");
        if info.is_dir() && !lookup::is_link(&info) {
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

    fn add_absent(&mut self, path: PathBuf) {
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
        if let Some(identity) = lookup::identity(folder) {
            self.names.push((folder.to_owned(), names.clone()));
            self.guarded.entry(identity).or_default().extend(names);
        }
    }
}

/// Returns the folders of `SHARED` that exist.
fn shared_folders(common: &Path) -> impl Iterator<Item = ResolvedPath> {
    let paths = SHARED.into_iter().map(move |name| common.join(name));
    paths
        .filter(|path| path.is_dir() && !lookup::is_link(path))
        .map(|path| ResolvedPath {
            path,
            is_folder: true,
        })
}

/// Returns the git folders of a linked worktree or a submodule that lie outside `root`: its own, and
/// what it shares.
fn linked_folders(repository: &RepositoryPaths, root: &Path) -> Vec<ResolvedPath> {
    let mut folders = vec![ResolvedPath {
        path: repository.git_dir.clone(),
        is_folder: true,
    }];
    if repository.common_dir != repository.git_dir {
        folders.extend(shared_folders(&repository.common_dir));
    }
    folders.retain(|found| !found.path.starts_with(root));
    folders
}

/// Collects the links in a folder, up to a depth.
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
            Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => {
                gather(&entry.path(), depth + 1, rest, links);
            }
            _ => {}
        }
    }
}
