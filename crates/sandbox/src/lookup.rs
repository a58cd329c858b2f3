//! Looks up the paths of a policy on the disk, with links resolved.
//!
//! Knows: the disk as it is now. Must not know: how access is confined.
//! Invariant: every returned path was absolute and free of links when it was looked up.
#![expect(
    clippy::disallowed_methods,
    reason = "access is confined by what the disk holds, whatever `host::Files` would show"
)]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base::AbsPath;
use base::names::widest_key;

use crate::links::trace;
use crate::{Policy, SandboxError};

/// From this many paths on, listing their folder is faster than checking each.
const WORTH_READING: usize = 8;

/// Folders by device and inode, each with the keys of its protected names (`base::names::widest_key`).
pub(crate) type Guarded = BTreeMap<(u64, u64), Vec<Vec<u8>>>;

/// A path that was resolved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResolvedPath {
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
}

/// Resolves the links of a path; returns `None` if it is missing or inaccessible.
pub(crate) fn find(path: &Path) -> Option<ResolvedPath> {
    fs::symlink_metadata(path).ok()?;
    let path = fs::canonicalize(path).ok()?;
    let is_folder = fs::metadata(&path).ok()?.is_dir();
    Some(ResolvedPath { path, is_folder })
}

/// Resolves the links of a path as far as it exists; missing components are kept.
pub(crate) fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| {
        let real = fs::canonicalize(above).ok()?;
        Some(real.join(path.strip_prefix(above).ok()?))
    });
    there.unwrap_or_else(|| path.to_owned())
}

/// Like `find`, but does not follow links below `roots`, which a command could have created.
pub(crate) fn find_own(path: &Path, roots: &[PathBuf]) -> Option<ResolvedPath> {
    let trace = trace(Path::new("/"), path);
    let is_planted = |link: &PathBuf| roots.iter().any(|root| link.starts_with(root));
    if trace.links.iter().any(is_planted) {
        None
    } else {
        find(path)
    }
}

/// Returns the device and inode of a path.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    let facts = fs::metadata(path).ok()?;
    Some((facts.dev(), facts.ino()))
}

/// Returns the names in a folder.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect()
}

/// Returns whether the path itself is a link.
pub(crate) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_symlink())
}

/// Returns the working folder without links; refuses folders that belong to the system.
pub(crate) fn workspace(policy: &Policy) -> Result<ResolvedPath, SandboxError> {
    let given = &policy.workspace;
    let refused = |reason: String| SandboxError::Policy { reason };
    let path = fs::canonicalize(given)
        .map_err(|error| refused(format!("the workspace {given} cannot be opened: {error}")))?;
    if !path.is_dir() {
        return Err(refused(format!("the workspace {given} is not a folder")));
    }
    let system = [
        "/proc",
        "/sys",
        "/dev",
        "/usr",
        "/etc",
        "/bin",
        "/sbin",
        "/lib",
        "/boot",
        "/System",
        "/private/etc",
    ];
    let is_system = system.iter().any(|folder| {
        path.starts_with(folder) && !path.starts_with("/dev/shm/") && path != Path::new("/dev/shm")
    });
    if is_system || path.parent().is_none() {
        return Err(refused(format!(
            "{} belongs to the system and cannot be a workspace; open the folder of a project",
            path.display()
        )));
    }
    Ok(ResolvedPath {
        path,
        is_folder: true,
    })
}

/// The keys (`base::names::widest_key`) of the names in each listed folder. Folders are bytes, which compare faster than
/// the components of paths.
type Listings<'a> = BTreeMap<&'a [u8], BTreeSet<Vec<u8>>>;

/// Returns the paths that exist. A folder that contains several of them is listed once, and a path
/// below a name that such a listing lacks is not looked up.
pub(crate) fn existing(paths: &[AbsPath]) -> Vec<ResolvedPath> {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for (folder, _) in paths.iter().filter_map(|path| split(bytes_of(path))) {
        *counts.entry(folder).or_default() += 1;
    }
    let mut listings = Listings::new();
    // Folders come before those inside them.
    for (folder, count) in counts {
        if is_listed_as_missing(folder, &listings) {
            listings.insert(folder, BTreeSet::new());
        } else if count >= WORTH_READING {
            // In a folder that can be entered but not listed, each path is checked.
            match self::names(Path::new(OsStr::from_bytes(folder))) {
                Ok(names) => {
                    let keys = names.iter().map(|name| widest_key(name.as_bytes()));
                    listings.insert(folder, keys.map(Cow::into_owned).collect());
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    listings.insert(folder, BTreeSet::new());
                }
                Err(_) => {}
            }
        }
    }
    let paths = paths.iter();
    paths
        .filter(|path| !is_listed_as_missing(bytes_of(path), &listings))
        .filter_map(|path| find(path.as_path()))
        .collect()
}

/// Returns whether the nearest listed folder above a path lacks the next name of the path. A name in
/// another spelling may be the same file, which only the disk can tell.
fn is_listed_as_missing(path: &[u8], listings: &Listings<'_>) -> bool {
    let mut inner = path;
    while let Some((above, name)) = split(inner) {
        if let Some(names) = listings.get(above) {
            return !names.contains(&*widest_key(name));
        }
        inner = above;
    }
    false
}

fn bytes_of(path: &AbsPath) -> &[u8] {
    path.as_path().as_os_str().as_bytes()
}

/// Splits an absolute path into its folder and its last name; `None` for the root.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    let name = &path[slash + 1..];
    (!name.is_empty()).then(|| (&path[..slash.max(1)], name))
}

#[cfg(test)]
mod tests;
