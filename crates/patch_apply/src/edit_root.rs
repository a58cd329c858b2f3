//! The root folder of an edit: the paths and contents of the files below it.
//!
//! Start at `EditRoot::new`; `changes` turns a plan into bytes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Component, Path};

use base::{AbsPath, NameRules};
use host::{ContentHash, FileKind, Files, OnDisk};
use patch::set::{FileEffect, FileLookup, FilePlan, TextSource};
use text::{Buffer, FileFormat, decode, encode};

use crate::Error;

/// Maximum size of an editable file, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// A root folder and the files below it that one edit reads. Each file is read once. The edit's
/// paths cannot lead out of the root.
pub struct EditRoot<'a> {
    files: &'a dyn Files,
    /// The root as the user gave it.
    root: AbsPath,
    /// The root with symlinks resolved.
    real_root: AbsPath,
    links: LinkPolicy,
    /// Files by the path that was asked for; each is read once.
    loaded: RefCell<BTreeMap<String, Result<Option<LoadedFile>, Error>>>,
}

/// The treatment of symlinks in paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkPolicy {
    /// They are followed, and the result is checked.
    Follow,
    /// The caller has resolved them.
    Resolved,
}

/// A text file loaded from disk.
#[derive(Clone)]
struct LoadedFile {
    text: String,
    /// Encoding, line endings and other properties needed to write the text back.
    format: FileFormat,
    before: OriginalFile,
}

/// The content of a file on disk before an edit, with the stamp of the file. The stamp reveals
/// later changes.
#[derive(Clone, Debug)]
pub struct OriginalFile {
    /// The raw bytes of the file.
    pub content: Vec<u8>,
    /// The stamp and hash that detect later changes.
    pub on_disk: OnDisk,
}

impl TextSource for EditRoot<'_> {
    fn find(&self, path: &str) -> FileLookup<'_> {
        match self.file(path) {
            Ok(Some(file)) => FileLookup::Text(Cow::Owned(file.text)),
            Ok(None) => FileLookup::Missing,
            Err(error) => FileLookup::Refused(error.to_string()),
        }
    }
}

impl<'a> EditRoot<'a> {
    /// Opens a root folder.
    ///
    /// # Errors
    ///
    /// When the folder is missing or is not a folder.
    pub fn new(files: &'a dyn Files, root: &AbsPath) -> Result<Self, Error> {
        Self::open(files, root, LinkPolicy::Follow)
    }

    /// Opens a root folder for paths whose symlinks the caller has resolved. `files` must follow no
    /// symlink below the root (`Files::open_beneath`), so that a path cannot lead elsewhere later.
    ///
    /// # Errors
    ///
    /// When the folder is missing or is not a folder.
    pub fn of_resolved(files: &'a dyn Files, root: &AbsPath) -> Result<Self, Error> {
        Self::open(files, root, LinkPolicy::Resolved)
    }

    /// Opens a root folder with its symlinks resolved. Fails if it is missing or no folder.
    fn open(files: &'a dyn Files, root: &AbsPath, links: LinkPolicy) -> Result<Self, Error> {
        let real_root = files.canonicalize(root)?;
        if files.stat(&real_root)?.kind != FileKind::Folder {
            return Err(Error::RootIsNoFolder(root.clone()));
        }
        Ok(Self {
            files,
            root: root.clone(),
            real_root,
            links,
            loaded: RefCell::default(),
        })
    }

    /// Returns the root with symlinks resolved.
    pub fn real_root(&self) -> &AbsPath {
        &self.real_root
    }

    /// Resolves the path of an edit, relative to the root, following symlinks. The file need not
    /// exist.
    ///
    /// # Errors
    ///
    /// When the path is invalid or leads outside the root.
    pub fn resolve(&self, path: &str) -> Result<AbsPath, Error> {
        let outside = || Error::OutsideRoot {
            path: path.to_owned(),
            root: self.root.clone(),
        };
        let inner = Path::new(path);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.contains('\0') || path.trim().is_empty() {
            return Err(Error::InvalidPath(path.to_owned()));
        }
        if !inner.components().all(is_plain) {
            return Err(outside());
        }
        let joined = self.real_root.join(inner);
        let real = match self.links {
            LinkPolicy::Follow => follow_links(self.files, &joined)?,
            LinkPolicy::Resolved => joined,
        };
        if real.is_within(&self.real_root) && real != self.real_root {
            Ok(real)
        } else {
            Err(outside())
        }
    }

    /// Resolves a path that is about to be removed or renamed. Unlike `resolve`, refuses a symlink.
    ///
    /// # Errors
    ///
    /// As for `resolve`, and when the path is a symlink.
    pub fn resolve_own(&self, path: &str) -> Result<AbsPath, Error> {
        let real = self.resolve(path)?;
        if self.links == LinkPolicy::Resolved {
            return Ok(real);
        }
        let own = self.real_root.join(path);
        let folder = own
            .parent()
            .and_then(|folder| self.files.canonicalize(&folder).ok());
        let own_name = |folder: AbsPath| folder.join(Path::new(own.file_name()));
        if folder.is_none_or(|folder| self.files.stored_path(&own_name(folder)) == real) {
            Ok(real)
        } else {
            Err(Error::IsLink(path.to_owned()))
        }
    }

    /// Returns the file at a path relative to the root; `None` if it does not exist. The result of
    /// the first call for a path, an error included, is kept.
    fn file(&self, path: &str) -> Result<Option<LoadedFile>, Error> {
        if let Some(seen) = self.loaded.borrow().get(path) {
            return seen.clone();
        }
        let file = self.resolve(path).and_then(|real| self.read(&real));
        self.loaded
            .borrow_mut()
            .insert(path.to_owned(), file.clone());
        file
    }

    /// Reads a file as text; `None` if it does not exist. Fails if it is larger than `MAX_FILE`,
    /// binary, or in an encoding that cannot be written back.
    fn read(&self, path: &AbsPath) -> Result<Option<LoadedFile>, Error> {
        let (content, stat) = match self.files.read_with_stat(path, MAX_FILE) {
            Ok(read) => read,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let decoded = decode(&content);
        if decoded.binary {
            return Err(Error::NotText(path.clone()));
        }
        if let Some(reason) = decoded.read_only {
            let path = path.clone();
            return Err(Error::NotEditable { path, reason });
        }
        let (text, format) = (decoded.text.into_owned(), decoded.format);
        let on_disk = OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&content),
        };
        Ok(Some(LoadedFile {
            text,
            format,
            before: OriginalFile { content, on_disk },
        }))
    }

    /// Converts a plan into changes on disk, based on the files as they were when they were read.
    /// Does not write to the disk.
    ///
    /// # Errors
    ///
    /// When a path is refused, two paths name one file, or a text cannot be encoded.
    pub fn changes(&self, plan: &[FilePlan]) -> Result<Vec<PlannedChange>, Error> {
        let mut changes: Vec<PlannedChange> = Vec::new();
        for FilePlan { path, effect } in plan {
            let change = self.change(path, effect)?;
            if changes
                .iter()
                .any(|other| self.is_same_file(&other.path, &change.path))
            {
                return Err(Error::SameFile(path.clone()));
            }
            changes.push(change);
        }
        Ok(changes)
    }

    /// Returns whether two paths name one file. Those of existing files have one spelling; those of
    /// new files are compared as the volume does.
    fn is_same_file(&self, one: &AbsPath, other: &AbsPath) -> bool {
        let (left, right) = (one.as_path(), other.as_path());
        one == other
            || NameRules::FOLDING.is_same(left, right)
                && self.files.name_rules(&self.real_root).is_same(left, right)
    }

    fn change(&self, path: &str, effect: &FileEffect) -> Result<PlannedChange, Error> {
        let file = self.file(path)?;
        let (text, moved_from) = match effect {
            FileEffect::Delete => {
                let file = file.ok_or_else(|| Error::Missing(path.to_owned()))?;
                return Ok(PlannedChange {
                    path: self.resolve_own(path)?,
                    action: CommitAction::Remove(file.before),
                });
            }
            FileEffect::Create { text, moved_from }
            | FileEffect::Modify {
                text, moved_from, ..
            } => (text, moved_from.as_deref()),
        };
        let source = moved_from.map(|from| self.file(from)).transpose()?;
        let source = source.flatten();
        let format = source.as_ref().or(file.as_ref());
        let format = format.map_or(FileFormat::NEW, |file| file.format);
        let moved_from = moved_from.map(|from| self.resolve_own(from));
        Ok(PlannedChange {
            path: self.resolve(path)?,
            action: CommitAction::Write {
                content: encoded(path, text, &format)?,
                before: file.map(|file| file.before),
                moved_from: moved_from.transpose()?,
            },
        })
    }
}

/// Resolves symlinks in a path; components that do not exist are kept as they are.
///
/// # Errors
///
/// When the path is a dangling symlink, or cannot be examined.
pub fn follow_links(files: &dyn Files, path: &AbsPath) -> Result<AbsPath, host::Error> {
    let error = match files.canonicalize(path) {
        Ok(real) => return Ok(real),
        Err(error) => error,
    };
    // A dangling symlink is refused: writing through it would create its target.
    let is_missing = matches!(files.stat(path), Err(error) if error.is_not_found());
    let (true, true, Some(folder)) = (error.is_not_found(), is_missing, path.parent()) else {
        return Err(error);
    };
    Ok(follow_links(files, &folder)?.join(path.name()))
}

/// Encodes a text in a file's format; fails with `NotEncodable` if the encoding lacks a character.
fn encoded(path: &str, text: &str, format: &FileFormat) -> Result<Vec<u8>, Error> {
    let snapshot = Buffer::new(text).snapshot();
    encode(&snapshot, format).map_err(|source| Error::NotEncodable {
        path: path.to_owned(),
        source,
    })
}

/// A change to one file on disk, to be made by `commit`.
#[derive(Clone, Debug)]
pub struct PlannedChange {
    /// The file, with symlinks resolved.
    pub path: AbsPath,
    /// The change to make.
    pub action: CommitAction,
}

/// The operation on one file: write it, possibly after a rename, or remove it.
#[derive(Clone, Debug)]
pub enum CommitAction {
    /// Writes new contents to the file.
    Write {
        /// The complete new contents.
        content: Vec<u8>,
        /// The previous contents; `None` for a new file.
        before: Option<OriginalFile>,
        /// The file to rename to this path first, so that its mode is preserved.
        moved_from: Option<AbsPath>,
    },
    /// Removes the file with these contents.
    Remove(OriginalFile),
}

#[cfg(test)]
mod tests;
