//! The paths of a policy as they lie on the disk, for a profile.
//!
//! The same lookups decide as on Linux (`lookup`, `protect`): links are followed once, those that a
//! command could have planted never, and a protected link protects its target as well.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use base::AbsPath;

use crate::granted::GrantedPaths;
use crate::lookup::{existing, find_own, workspace};
use crate::names::GIT_CONTROL;
use crate::protect::{self, ProtectedPaths};
use crate::{Policy, SandboxError, SandboxLayer};

/// The paths of a profile. All are absolute and were free of links when they were looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProfilePaths {
    /// Writable files and folders, with the git folders that can be committed to.
    pub(crate) writable: Vec<AbsPath>,
    /// Paths that stay visible, read-only, inside a hidden folder.
    pub(crate) readable: Vec<AbsPath>,
    /// Paths that can be neither read nor written.
    pub(crate) hidden: Vec<AbsPath>,
    /// Existing paths that are read-only, inside a writable one or although they are granted.
    pub(crate) fixed: Vec<AbsPath>,
    /// Folders, each with names or relative paths in it that are read-only and cannot be created,
    /// in any spelling.
    pub(crate) names: Vec<(AbsPath, Vec<String>)>,
    /// Folders that are writable inside a read-only path.
    pub(crate) open: Vec<AbsPath>,
    /// Folders that can be neither renamed nor removed, besides those that lead to another path.
    pub(crate) pins: Vec<AbsPath>,
}

impl ProfilePaths {
    /// Finds the paths of a policy on the disk.
    ///
    /// # Errors
    /// If the workspace is missing, is not a folder, or belongs to the system.
    pub(crate) fn find(policy: &Policy) -> Result<Self, SandboxError> {
        let workspace = workspace(policy)?;
        let granted = GrantedPaths::find(policy, &workspace);
        let protected = protect::find(policy, &granted);
        let areas = granted.areas();
        let all = |paths: &mut dyn Iterator<Item = &Path>| paths.filter_map(AbsPath::new).collect();
        let readable = policy.readable.iter();
        let readable = readable.filter_map(|path| find_own(path.as_path(), &areas));
        let mut readable: Vec<PathBuf> = readable.map(|found| found.path).collect();
        let read_only = || protected.read_only.iter().map(|found| found.path.as_path());
        readable.extend(read_only().map(Path::to_owned));
        let hidden = if policy.without.contains(&SandboxLayer::Mounts) {
            Vec::new()
        } else {
            existing(&policy.hidden)
        };
        let writable = granted.writable.iter().chain(&protected.folders);
        let mut writable = writable.map(|found| found.path.as_path());
        Ok(Self {
            writable: all(&mut writable),
            readable: all(&mut readable.iter().map(PathBuf::as_path)),
            hidden: all(&mut hidden.iter().map(|found| found.path.as_path())),
            fixed: all(
                &mut read_only().chain(protected.fixed.iter().map(|found| found.path.as_path()))
            ),
            open: all(&mut protected.open.iter().map(PathBuf::as_path)),
            pins: all(&mut protected.pins.iter().map(PathBuf::as_path)),
            names: names(&protected),
        })
    }
}

/// Returns the protected names by folder. Those of a git folder are complete, whether or not the
/// folders in which they lie exist.
fn names(protected: &ProtectedPaths) -> Vec<(AbsPath, Vec<String>)> {
    let mut names: BTreeMap<AbsPath, BTreeSet<String>> = BTreeMap::new();
    for folder in protected.control.iter().filter_map(AbsPath::new) {
        let control = GIT_CONTROL.iter().map(|name| (*name).to_owned());
        names.entry(folder).or_default().extend(control);
    }
    let control: Vec<AbsPath> = names.keys().cloned().collect();
    for (folder, known) in &protected.names {
        let Some(folder) = AbsPath::new(folder) else {
            continue;
        };
        for name in known {
            let name = String::from_utf8_lossy(name).into_owned();
            let is_control = |git: &AbsPath| {
                let path = folder.join(&name);
                let inner = path.relative_to(git).and_then(Path::to_str);
                inner.is_some_and(|inner| GIT_CONTROL.contains(&inner))
            };
            if is_plain(&name) && !control.iter().any(is_control) {
                names.entry(folder.clone()).or_default().insert(name);
            }
        }
    }
    let list = names.into_iter();
    list.map(|(folder, names)| (folder, names.into_iter().collect()))
        .collect()
}

/// Returns whether a name stays in its folder.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    parts.clone().next().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}
