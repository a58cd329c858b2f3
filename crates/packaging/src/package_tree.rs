//! The files of a package as a value.
//!
//! Invariant: paths are relative, use `/`, and are sorted, so that the same files give the same package.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::error::Error;

/// A file or link of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageEntry {
    /// A regular file.
    File {
        content: Vec<u8>,
        is_executable: bool,
    },
    /// A symbolic link with its target.
    Link(String),
}

impl PackageEntry {
    /// Returns the permissions: those of every package, whatever the building machine has.
    pub(crate) fn mode(&self) -> u32 {
        match self {
            Self::File {
                is_executable: false,
                ..
            } => 0o644,
            Self::File { .. } => 0o755,
            Self::Link(_) => 0o777,
        }
    }

    fn content(&self) -> Option<&[u8]> {
        match self {
            Self::File { content, .. } => Some(content),
            Self::Link(_) => None,
        }
    }
}

/// The files and links of a package by their paths. Folders exist as far as entries need them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackageTree {
    entries: BTreeMap<String, PackageEntry>,
}

impl PackageTree {
    /// Adds a file that cannot be executed.
    pub(crate) fn add(&mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.insert(path.into(), content.into(), false);
    }

    /// Adds a program or a script.
    pub(crate) fn add_program(&mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.insert(path.into(), content.into(), true);
    }

    /// Adds a symbolic link.
    pub(crate) fn add_link(&mut self, path: impl Into<String>, target: impl Into<String>) {
        self.entries
            .insert(path.into(), PackageEntry::Link(target.into()));
    }

    fn insert(&mut self, path: String, content: Vec<u8>, is_executable: bool) {
        let entry = PackageEntry::File {
            content,
            is_executable,
        };
        self.entries.insert(path, entry);
    }

    /// Returns the tree with every path below `folder`.
    pub(crate) fn below(self, folder: &str) -> Self {
        let entries = self.entries.into_iter();
        let entries = entries
            .map(|(path, entry)| (format!("{folder}/{path}"), entry))
            .collect();
        Self { entries }
    }

    /// Returns the content of a file.
    #[cfg(test)]
    pub(crate) fn file(&self, path: &str) -> Option<&[u8]> {
        self.entries.get(path)?.content()
    }

    /// Returns the regular files with their contents, sorted by path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.entries
            .iter()
            .filter_map(|(path, entry)| Some((path.as_str(), entry.content()?)))
    }

    /// Returns everything in the order of archives: sorted, folders (`None`) before their contents.
    pub(crate) fn walk(&self) -> BTreeMap<&str, Option<&PackageEntry>> {
        let mut all = BTreeMap::new();
        for (path, entry) in &self.entries {
            for (at, _) in path.match_indices('/') {
                all.entry(&path[..at]).or_insert(None);
            }
            all.insert(path.as_str(), Some(entry));
        }
        all
    }

    /// Returns the value of the control field `Installed-Size` (Debian Policy, section 5.6.20), in KiB: the size of each
    /// file rounded up, and 1 for each folder and symbolic link.
    pub(crate) fn installed_size(&self) -> u64 {
        let size = |entry: Option<&PackageEntry>| {
            let content = entry.and_then(PackageEntry::content);
            content.map_or(1, |content| (content.len() as u64).div_ceil(1024))
        };
        self.walk().into_values().map(size).sum()
    }

    /// Writes the tree into a folder, which must not exist, with the permissions of the package.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        make_folder(folder)?;
        for (path, entry) in self.walk() {
            let path = folder.join(path);
            match entry {
                None => make_folder(&path)?,
                Some(PackageEntry::Link(target)) => {
                    symlink(target, &path).map_err(Error::io("make", &path))?;
                }
                Some(file) => {
                    let content = file.content().unwrap_or_default();
                    fs::write(&path, content).map_err(Error::io("write", &path))?;
                    set_mode(&path, file.mode())?;
                }
            }
        }
        Ok(())
    }
}

fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir(path).map_err(Error::io("make", path))?;
    set_mode(path, 0o755)
}

/// Sets the permissions of a file.
pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<(), Error> {
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, permissions).map_err(Error::io("change the mode of", path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::PackageTree;

    fn tree() -> PackageTree {
        let mut tree = PackageTree::default();
        tree.add("share/b", "text");
        tree.add_program("bin/a", vec![0; 1025]);
        tree.add_link("bin/link", "a");
        tree.add("bin-x/c", "");
        tree
    }

    #[test]
    fn folders_come_before_their_contents() {
        let tree = tree();
        let paths: Vec<&str> = tree.walk().into_keys().collect();
        let expected = [
            "bin", "bin-x", "bin-x/c", "bin/a", "bin/link", "share", "share/b",
        ];
        assert_eq!(paths, expected);
        for (ix, path) in paths.iter().enumerate() {
            if let Some((folder, _)) = path.rsplit_once('/') {
                assert!(paths[..ix].contains(&folder), "{path}");
            }
        }
        // Two for the program, one for text, link and each of three folders, none for the empty file.
        assert_eq!(tree.installed_size(), 7);
    }

    #[test]
    fn a_tree_moves_below_a_folder() {
        let moved = tree().below("usr");
        assert_eq!(moved.file("usr/share/b"), Some(&b"text"[..]));
        assert_eq!(moved.file("share/b"), None);
        assert_eq!(moved.files().count(), 3);
    }

    #[test]
    fn written_files_have_the_modes_of_packages() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("new");
        tree().write(&folder).expect("written");
        let mode = |name: &str| {
            let metadata = std::fs::metadata(folder.join(name)).expect("metadata");
            metadata.permissions().mode() & 0o7777
        };
        assert_eq!(
            [mode("bin"), mode("bin/a"), mode("share/b")],
            [0o755, 0o755, 0o644]
        );
        let target = std::fs::read_link(folder.join("bin/link")).expect("a link");
        assert_eq!(target, std::path::Path::new("a"));
        assert!(tree().write(&folder).is_err(), "the folder exists");
    }
}
