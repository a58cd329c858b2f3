//! The volume of a pool: its file system, and its rules for names.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use base::NameRules;
use git::lease::CommitContents;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fill::as_path;
use crate::system::{self, FileSystem};

/// Facts of a volume that decide whether it can hold leases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VolumeFacts {
    /// Name of its file system in lower case.
    file_system: String,
    /// Whether a disk of this machine holds it.
    is_local: bool,
    /// Whether its files can be cloned.
    can_clone: bool,
    /// Whether names that differ only in case are the same.
    folds_case: bool,
    /// Whether composed and decomposed accents are the same.
    normalizes: bool,
}

/// File systems without links and permissions, which no checkout can do without.
const BARE_FILE_SYSTEMS: &[&str] = &["exfat", "msdos", "vfat", "fat"];

impl VolumeFacts {
    /// Examines the volume of `folder`, with files in the empty folder `place` on the same volume.
    pub(crate) fn probe(folder: &Path, place: &Path, can_clone: bool) -> io::Result<Self> {
        let FileSystem { name, is_local } = system::file_system(folder)?;
        let rules = probe_names(place)?;
        Ok(Self {
            file_system: name,
            is_local,
            can_clone,
            folds_case: rules.folds_case,
            normalizes: rules.normalizes,
        })
    }

    /// Returns the rules by which the volume compares names.
    pub(crate) fn names(&self) -> NameRules {
        NameRules {
            folds_case: self.folds_case,
            normalizes: self.normalizes,
        }
    }

    /// Returns the reason that the volume cannot hold leases, as the end of a sentence about a folder on
    /// it; `None` if it can.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.refusal_with(system::HAS_NETWORK_LOCKS)
    }

    /// Returns the same as `refusal`, for a system whose locks hold on network volumes or not.
    fn refusal_with(&self, has_network_locks: bool) -> Option<String> {
        let name = &self.file_system;
        if BARE_FILE_SYSTEMS.contains(&name.as_str()) {
            return Some(format!(
                "is on a volume with the file system {name}, which has no links and no permissions"
            ));
        }
        let is_unsafe = !self.is_local && !self.can_clone && !has_network_locks;
        is_unsafe.then(|| {
            format!("is on a network volume ({name}), which cannot clone files and may lose locks")
        })
    }
}

/// Finds out how the volume of the empty folder `place` compares names, by a file there.
fn probe_names(place: &Path) -> io::Result<NameRules> {
    // One letter with a case, one with two normal forms, each in a name of its own.
    let is_found = |name: &str, other: &str| -> io::Result<bool> {
        fs::write(place.join(name), b"")?;
        Ok(fs::symlink_metadata(place.join(other)).is_ok())
    };
    Ok(NameRules {
        folds_case: is_found("names-case", "NAMES-CASE")?,
        normalizes: is_found("names-\u{e9}", "names-e\u{301}")?,
    })
}

/// Checks that a volume with the rules `names` keeps all files of a commit apart, and returns the
/// spellings of folders that become one there, the first pair only.
///
/// # Errors
/// `Error::SameName` with the first two paths that are the same file there, or a file and a folder.
pub(crate) fn check_names(
    contents: &CommitContents,
    names: NameRules,
    folder: &Path,
) -> Result<Option<(String, String)>, Error> {
    if names == NameRules::EXACT {
        return Ok(None);
    }
    let shown = |path: &[u8]| as_path(path).display().to_string();
    let same = |one: &[u8], other: &[u8]| Error::SameName {
        folder: folder.to_path_buf(),
        one: shown(one),
        other: shown(other),
    };
    let paths = || {
        let files = contents.files.iter().map(|file| file.path.as_slice());
        files.chain(contents.submodules.iter().map(Vec::as_slice))
    };
    let mut files = HashMap::with_capacity(contents.files.len());
    for path in paths() {
        if let Some(other) = files.insert(names.key(path), path) {
            return Err(same(other, path));
        }
    }
    let mut folders: HashMap<_, &[u8]> = HashMap::new();
    let mut merged = None;
    for path in paths() {
        let ends = (0..path.len()).rev().filter(|ix| path[*ix] == b'/');
        for folder in ends.map(|end| &path[..end]) {
            let key = names.key(folder);
            if let Some(file) = files.get(&key) {
                return Err(same(file, path));
            }
            match folders.insert(key, folder) {
                // All folders above it are known as well.
                Some(known) if known == folder => break,
                Some(other) => {
                    merged.get_or_insert_with(|| (shown(other), shown(folder)));
                }
                None => {}
            }
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests;
