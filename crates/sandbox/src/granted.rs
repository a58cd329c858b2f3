//! The paths that a policy grants, and which of them it grants for reading only.
//!
//! Knows: the disk as it is now. Must not know: how access is confined.
//! Invariant: a path that the policy protects is never writable, in whatever spelling it was named.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use base::AbsPath;

use crate::Policy;
use crate::lookup::{ResolvedPath, find_own, identity};

/// The workspace and the writable paths of a policy. All were free of links when they were looked
/// up.
#[derive(Debug)]
pub(crate) struct GrantedPaths {
    /// Paths that commands can change, the workspace first if it is one of them.
    pub(crate) writable: Vec<ResolvedPath>,
    /// Paths that `ProtectionRules::paths` names as well: visible, and read-only as a whole.
    pub(crate) read_only: Vec<ResolvedPath>,
    pub(crate) named: NamedPaths,
}

/// The paths of `ProtectionRules::paths`, comparable with paths in other spellings.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedPaths {
    paths: BTreeSet<PathBuf>,
    /// Device and inode of those that exist.
    identities: BTreeSet<(u64, u64)>,
}

impl GrantedPaths {
    /// Looks up the granted paths. A writable path inside another granted one adds nothing.
    ///
    /// A command may have created a link in a writable folder: such a link must not decide what the
    /// next command can write.
    pub(crate) fn find(policy: &Policy, workspace: &ResolvedPath) -> Self {
        let given = policy.writable.iter().map(|path| path.as_path().to_owned());
        let areas: Vec<PathBuf> = [workspace.path.clone()].into_iter().chain(given).collect();
        let mut granted = Self {
            writable: Vec::new(),
            read_only: Vec::new(),
            named: NamedPaths::find(&policy.protected.paths, &areas),
        };
        granted.add(policy.workspace.as_path(), workspace.clone());
        let found = policy.writable.iter().filter_map(|path| {
            let found = find_own(path.as_path(), &areas)?;
            Some((path.as_path(), found))
        });
        // No writable path inside a read-only one is added.
        let (named, others): (Vec<_>, Vec<_>) =
            found.partition(|(path, _)| granted.named.contains(path));
        for (path, found) in named.into_iter().chain(others) {
            let mut known = granted.writable.iter().chain(&granted.read_only);
            if !known.any(|root| found.path.starts_with(&root.path)) {
                granted.add(path, found);
            }
        }
        granted
    }

    fn add(&mut self, given: &Path, found: ResolvedPath) {
        if self.named.contains(given) || self.named.contains(&found.path) {
            self.read_only.push(found);
        } else {
            self.writable.push(found);
        }
    }

    /// Returns whether a path lies in a read-only one, and in no writable one inside that.
    pub(crate) fn is_read_only(&self, path: &Path) -> bool {
        let nearest = |roots: &[ResolvedPath]| {
            let above = roots.iter().filter(|root| path.starts_with(&root.path));
            above.map(|root| root.path.components().count()).max()
        };
        nearest(&self.read_only) > nearest(&self.writable)
    }

    /// Returns the granted paths. Commands may have created links in all of them: the policy of
    /// another command may protect less.
    pub(crate) fn areas(&self) -> Vec<PathBuf> {
        let granted = self.writable.iter().chain(&self.read_only);
        granted.map(|found| found.path.clone()).collect()
    }
}

impl NamedPaths {
    /// `areas` are the folders in which links are not followed.
    fn find(paths: &[AbsPath], areas: &[PathBuf]) -> Self {
        let found = paths
            .iter()
            .filter_map(|path| find_own(path.as_path(), areas));
        Self {
            identities: found.filter_map(|found| identity(&found.path)).collect(),
            paths: paths.iter().map(|path| path.as_path().to_owned()).collect(),
        }
    }

    /// Returns whether a path is named, in this spelling or another.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        let is_same = |it| self.identities.contains(&it);
        self.paths.contains(path)
            || !self.identities.is_empty() && identity(path).is_some_and(is_same)
    }

    /// Returns whether a path or a folder above it is named.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.contains(above))
    }
}
