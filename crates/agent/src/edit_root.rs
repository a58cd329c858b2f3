//! The files a set of edits refers to: their paths and their contents.
//!
//! Invariant: no path leads outside the root, neither through `..` nor through symlinks. Changes
//! that other programs make to folders and symlinks between the check and the write are out of
//! scope.
//! Invariant: this module writes nothing.
//! Start at `Ground::new`; `changes` turns a plan into bytes, and `commit` writes them.

mod commit;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Component, Path};

use base::AbsPath;
use host::{ContentHash, FileKind, Files, OnDisk};
use patch::set::{FileEffect, FileLookup, FilePlan, TextSource};
use text::{Buffer, FileFormat, decode, encode};

pub use commit::{CommitError, commit};

/// Maximum size of an editable file, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// A root folder and the files below it that an edit reads.
pub struct EditRoot<'a> {
    files: &'a dyn Files,
    /// The root as the user gave it.
    root: AbsPath,
    /// The root with symlinks resolved.
    real_root: AbsPath,
    /// Files by the path that was asked for; each is read once.
    loaded: RefCell<BTreeMap<String, Result<Option<LoadedFile>, String>>>,
}

/// A text file loaded from disk.
#[derive(Clone)]
struct LoadedFile {
    text: String,
    /// Encoding, line endings and other properties needed to write the text back.
    format: FileFormat,
    before: OriginalFile,
}

/// The contents of a file on disk before an edit.
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
            Err(reason) => FileLookup::Refused(reason),
        }
    }
}

impl<'a> EditRoot<'a> {
    /// Opens a root folder.
    ///
    /// # Errors
    ///
    /// The reason, as a sentence, when the folder is missing or is not a folder.
    pub fn new(files: &'a dyn Files, root: &AbsPath) -> Result<Self, String> {
        let real_root = files
            .canonicalize(root)
            .map_err(|error| error.to_string())?;
        match files.stat(&real_root) {
            Ok(stat) if stat.kind == FileKind::Folder => {}
            Ok(_) => return Err(format!("{root} is not a folder")),
            Err(error) => return Err(error.to_string()),
        }
        Ok(Self {
            files,
            root: root.clone(),
            real_root,
            loaded: RefCell::default(),
        })
    }

    /// Returns the root with symlinks resolved.
    pub fn real_root(&self) -> &AbsPath {
        &self.real_root
    }

    /// Resolves the path of an edit, following symlinks.
    ///
    /// # Errors
    ///
    /// The reason, as a sentence, when the path is invalid or leads outside the root.
    pub fn resolve(&self, path: &str) -> Result<AbsPath, String> {
        let outside = || format!("{path} lies outside of {}", self.root);
        let inner = Path::new(path);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.contains('\0') || path.trim().is_empty() {
            return Err(format!("{path:?} is not a path"));
        }
        if !inner.components().all(is_plain) {
            return Err(outside());
        }
        let real = follow_link(self.files, &self.real_root.join(inner))?;
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
    /// The reason, as a sentence, as for `resolve`, and when the path is a symlink.
    pub fn resolve_own(&self, path: &str) -> Result<AbsPath, String> {
        let real = self.resolve(path)?;
        let own = self.real_root.join(path);
        let folder = own
            .parent()
            .and_then(|folder| self.files.canonicalize(&folder).ok());
        if folder.is_none_or(|folder| folder.join(own.name()) == real) {
            Ok(real)
        } else {
            Err(format!(
                "the path {path} is a link; name the file that it leads to"
            ))
        }
    }

    fn file(&self, path: &str) -> Result<Option<LoadedFile>, String> {
        if let Some(seen) = self.loaded.borrow().get(path) {
            return seen.clone();
        }
        let file = self.resolve(path).and_then(|real| self.read(&real));
        self.loaded
            .borrow_mut()
            .insert(path.to_owned(), file.clone());
        file
    }

    fn read(&self, path: &AbsPath) -> Result<Option<LoadedFile>, String> {
        let (content, stat) = match self.files.read_with_stat(path, MAX_FILE) {
            Ok(read) => read,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let decoded = decode(&content);
        if decoded.binary {
            return Err(format!("{path} is not a text file"));
        }
        if let Some(reason) = decoded.read_only {
            return Err(format!("{path} cannot be edited: {reason}"));
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
    ///
    /// # Errors
    ///
    /// The reason, as a sentence, when a path is refused, two paths name one file, or a text cannot
    /// be encoded.
    pub fn changes(&self, plan: &[FilePlan]) -> Result<Vec<PlannedChange>, String> {
        let mut changes: Vec<PlannedChange> = Vec::new();
        for FilePlan { path, effect } in plan {
            let file = self.file(path)?;
            let change = match effect {
                FileEffect::Delete => PlannedChange {
                    path: self.resolve_own(path)?,
                    action: CommitAction::Remove(
                        file.ok_or_else(|| format!("{path} is gone"))?.before,
                    ),
                },
                FileEffect::Create { text, moved_from }
                | FileEffect::Modify {
                    text, moved_from, ..
                } => {
                    let source = moved_from.as_deref().map(|from| self.file(from));
                    let source = source.transpose()?.flatten();
                    let format = source.as_ref().or(file.as_ref());
                    let format = format.map_or(FileFormat::NEW, |file| file.format);
                    let moved_from = moved_from.as_deref().map(|from| self.resolve_own(from));
                    PlannedChange {
                        path: self.resolve(path)?,
                        action: CommitAction::Write {
                            content: bytes(path, text, &format)?,
                            before: file.map(|file| file.before),
                            moved_from: moved_from.transpose()?,
                        },
                    }
                }
            };
            if changes.iter().any(|other| other.path == change.path) {
                return Err(format!(
                    "{path} and another path of these edits lead to one file; name it by one path"
                ));
            }
            changes.push(change);
        }
        Ok(changes)
    }
}

/// Resolves symlinks in a path; components that do not exist are kept as they are.
pub(crate) fn follow_link(files: &dyn Files, path: &AbsPath) -> Result<AbsPath, String> {
    let error = match files.canonicalize(path) {
        Ok(real) => return Ok(real),
        Err(error) => error,
    };
    // A dangling symlink is refused: writing through it would create its target.
    let is_missing = matches!(files.stat(path), Err(error) if error.is_not_found());
    let (true, true, Some(folder)) = (error.is_not_found(), is_missing, path.parent()) else {
        return Err(error.to_string());
    };
    Ok(follow_link(files, &folder)?.join(path.name()))
}

fn bytes(path: &str, text: &str, format: &FileFormat) -> Result<Vec<u8>, String> {
    let snapshot = Buffer::new(text).snapshot();
    encode(&snapshot, format).map_err(|error| format!("{path} cannot be written: {error}"))
}

/// A change to one file.
#[derive(Clone, Debug)]
pub struct PlannedChange {
    /// The file, with symlinks resolved.
    pub path: AbsPath,
    /// The change to make.
    pub action: CommitAction,
}

/// The operation on one file.
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
