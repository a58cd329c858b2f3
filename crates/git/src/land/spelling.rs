//! Paths that the volume of a checkout takes for the same name.
//!
//! A volume that folds case keeps one file where a tree may have two. A tree with such a pair is an
//! obstacle; a change of case alone is none, although both spellings open the file until it is
//! written.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base::{AbsPath, NameRules};
use host::no_follow;

use super::checkout::Obstacle;
use crate::merge::{Changes, TreePath};

/// The paths of a set that have another spelling in it.
#[derive(Debug, Default)]
pub(super) struct Respelled(HashSet<TreePath>);

impl Respelled {
    /// Finds the paths that are the same as another one of `paths` by `rules`.
    pub(super) fn of<'a>(paths: impl Iterator<Item = &'a TreePath>, rules: NameRules) -> Self {
        if rules == NameRules::EXACT {
            return Self::default();
        }
        let mut known: HashMap<_, &TreePath> = HashMap::new();
        let mut respelled = HashSet::new();
        for path in paths {
            if let Some(other) = known.insert(rules.key(path.as_bytes()), path)
                && other != path
            {
                respelled.extend([path.clone(), other.clone()]);
            }
        }
        Self(respelled)
    }

    /// Returns whether the file that opens at `path` below `root` has another spelling: the path
    /// itself is free then.
    pub(super) fn is_other(&self, root: &AbsPath, path: &TreePath) -> bool {
        self.0.contains(path) && !is_spelled(root, path)
    }
}

/// Returns whether all components of a path are listed in their folders exactly as given. A folder
/// that cannot be listed lists nothing.
fn is_spelled(root: &AbsPath, path: &TreePath) -> bool {
    let is_listed = |path: &TreePath| {
        let folder = no_follow::open_root(root.as_path())
            .and_then(|root| {
                no_follow::open_folder_below(root, Path::new(OsStr::from_bytes(path.folder())))
            })
            .and_then(|folder| no_follow::entries(&folder));
        let mut entries = folder.into_iter().flatten();
        entries.any(|entry| entry.name.as_bytes() == path.name())
    };
    is_listed(path) && path.folders().all(|folder| is_listed(&folder))
}

/// Returns an obstacle for every path that `landed` adds and that is the same as another one of
/// `after`, all paths of the new tree. `is_new` indicates whether the old tree lacks a path.
pub(super) fn collisions(
    landed: &Changes,
    after: &[TreePath],
    rules: NameRules,
    is_new: &dyn Fn(&TreePath) -> bool,
) -> Vec<Obstacle> {
    let key = |path: &TreePath| rules.key(path.as_bytes()).into_owned();
    let mut files: HashMap<Vec<u8>, Vec<&TreePath>> = HashMap::new();
    let mut folders: HashMap<Vec<u8>, TreePath> = HashMap::new();
    for path in after {
        files.entry(key(path)).or_default().push(path);
        for folder in path.folders() {
            folders.entry(key(&folder)).or_insert(folder);
        }
    }
    let other_of = |path: &TreePath| -> Option<TreePath> {
        let own = key(path);
        let alike = files.get(&own).into_iter().flatten();
        let file = alike.copied().find(|other| *other != path).cloned();
        let above = || {
            path.folders()
                .find_map(|folder| files.get(&key(&folder))?.first().copied().cloned())
        };
        file.or_else(|| folders.get(&own).cloned()).or_else(above)
    };
    let added = landed
        .iter()
        .filter(|(path, entry)| entry.is_some() && is_new(path));
    added
        .filter_map(|(path, _)| {
            let other = other_of(path)?;
            Some(Obstacle {
                path: path.clone(),
                reason: format!(
                    "the volume of your checkout takes it and {other} for the same name; rename one of them"
                ),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
