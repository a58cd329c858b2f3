//! The files that a set of edits is about: where they lie and what they hold.
//!
//! Invariant: no path leads outside the root, neither by `..` nor through links. What other programs
//! do to folders and links between the look and the writing is beyond this.
//! Invariant: nothing is written here.
//! Start at `Ground::new`; a plan becomes bytes in `changes`, and `commit` writes them.

mod commit;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Component, Path};

use base::AbsPath;
use host::{ContentHash, FileKind, Files, OnDisk};
use patch::set::{Effect, FilePlan, Found, Texts};
use text::{Buffer, FileFormat, decode, encode};

pub use commit::{CommitError, commit};

/// The largest file that is edited, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// A folder and the files in it that are edited.
pub struct Ground<'a> {
    files: &'a dyn Files,
    /// As the user gave it.
    root: AbsPath,
    /// Without links.
    real_root: AbsPath,
    /// By the path as asked for; read once.
    seen: RefCell<BTreeMap<String, Result<Option<File>, String>>>,
}

/// A file of text.
#[derive(Clone)]
struct File {
    text: String,
    /// How its text is written.
    format: FileFormat,
    before: Before,
}

/// What lies on the disk.
#[derive(Clone, Debug)]
pub struct Before {
    /// The bytes.
    pub content: Vec<u8>,
    /// What they are known by.
    pub on_disk: OnDisk,
}

impl Texts for Ground<'_> {
    fn find(&self, path: &str) -> Found<'_> {
        match self.file(path) {
            Ok(Some(file)) => Found::Text(Cow::Owned(file.text)),
            Ok(None) => Found::Missing,
            Err(reason) => Found::Refused(reason),
        }
    }
}

impl<'a> Ground<'a> {
    /// A ground of one folder.
    ///
    /// # Errors
    /// A sentence when it is missing, or no folder.
    pub fn new(files: &'a dyn Files, root: &AbsPath) -> Result<Self, String> {
        let real_root = files
            .canonicalize(root)
            .map_err(|error| error.to_string())?;
        match files.stat(&real_root) {
            Ok(stat) if stat.kind == FileKind::Folder => {}
            Ok(_) => return Err(format!("{root} is no folder")),
            Err(error) => return Err(error.to_string()),
        }
        Ok(Self {
            files,
            root: root.clone(),
            real_root,
            seen: RefCell::default(),
        })
    }

    /// The root without links in it.
    pub fn real_root(&self) -> &AbsPath {
        &self.real_root
    }

    /// Where a path of an edit leads, links followed.
    ///
    /// # Errors
    /// A sentence when it must not be used: it leads out, or is no path.
    pub fn resolve(&self, path: &str) -> Result<AbsPath, String> {
        let outside = || format!("{path} lies outside of {}", self.root);
        let inner = Path::new(path);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.contains('\0') || path.trim().is_empty() {
            return Err(format!("{path:?} is no path"));
        }
        if !inner.components().all(is_plain) {
            return Err(outside());
        }
        let real = follow(self.files, &self.real_root.join(inner))?;
        match real.is_within(&self.real_root) && real != self.real_root {
            true => Ok(real),
            false => Err(outside()),
        }
    }

    /// As `resolve`, for a name that goes away: it must be the file's own, not a link to it.
    ///
    /// # Errors
    /// A sentence, as for `resolve`, and for a link.
    pub fn resolve_own(&self, path: &str) -> Result<AbsPath, String> {
        let real = self.resolve(path)?;
        let own = self.real_root.join(path);
        let folder = own
            .parent()
            .and_then(|folder| self.files.canonicalize(&folder).ok());
        match folder.is_none_or(|folder| folder.join(own.name()) == real) {
            true => Ok(real),
            false => Err(format!(
                "the path {path} is a link; name the file that it leads to"
            )),
        }
    }

    fn file(&self, path: &str) -> Result<Option<File>, String> {
        if let Some(seen) = self.seen.borrow().get(path) {
            return seen.clone();
        }
        let file = self.resolve(path).and_then(|real| self.read(&real));
        self.seen.borrow_mut().insert(path.to_owned(), file.clone());
        file
    }

    fn read(&self, path: &AbsPath) -> Result<Option<File>, String> {
        let (content, stat) = match self.files.read_with_stat(path, MAX_FILE) {
            Ok(read) => read,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let decoded = decode(&content);
        if decoded.binary {
            return Err(format!("{path} is no text file"));
        }
        if let Some(reason) = decoded.read_only {
            return Err(format!("{path} cannot be edited: {reason}"));
        }
        let (text, format) = (decoded.text.into_owned(), decoded.format);
        let on_disk = OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&content),
        };
        Ok(Some(File {
            text,
            format,
            before: Before { content, on_disk },
        }))
    }

    /// What a plan means on the disk, with the files as they were when they were read.
    ///
    /// # Errors
    /// A sentence when a path must not be used, two lead to one file, or a text cannot be written.
    pub fn changes(&self, plan: &[FilePlan]) -> Result<Vec<Change>, String> {
        let mut changes: Vec<Change> = Vec::new();
        for FilePlan { path, effect } in plan {
            let file = self.file(path)?;
            let change = match effect {
                Effect::Delete => Change {
                    path: self.resolve_own(path)?,
                    action: Action::Remove(file.ok_or_else(|| format!("{path} is gone"))?.before),
                },
                Effect::Create { text, moved_from }
                | Effect::Modify {
                    text, moved_from, ..
                } => {
                    let source = moved_from.as_deref().map(|from| self.file(from));
                    let source = source.transpose()?.flatten();
                    let format = source.as_ref().or(file.as_ref());
                    let format = format.map_or(FileFormat::NEW, |file| file.format);
                    let moved_from = moved_from.as_deref().map(|from| self.resolve_own(from));
                    Change {
                        path: self.resolve(path)?,
                        action: Action::Write {
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

/// The path without links; the part of it that is missing stays as it is.
pub(crate) fn follow(files: &dyn Files, path: &AbsPath) -> Result<AbsPath, String> {
    let error = match files.canonicalize(path) {
        Ok(real) => return Ok(real),
        Err(error) => error,
    };
    // A link that leads nowhere yet would lead a new file to where it points.
    let is_missing = matches!(files.stat(path), Err(error) if error.is_not_found());
    let (true, true, Some(folder)) = (error.is_not_found(), is_missing, path.parent()) else {
        return Err(error.to_string());
    };
    Ok(follow(files, &folder)?.join(path.name()))
}

fn bytes(path: &str, text: &str, format: &FileFormat) -> Result<Vec<u8>, String> {
    let snapshot = Buffer::new(text).snapshot();
    encode(&snapshot, format).map_err(|error| format!("{path} cannot be written: {error}"))
}

/// What is to be done with one file.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where.
    pub path: AbsPath,
    /// What.
    pub action: Action,
}

/// What is to be done with a file.
#[derive(Clone, Debug)]
pub enum Action {
    /// It holds something else from now on.
    Write {
        /// All of it.
        content: Vec<u8>,
        /// What it held; `None` where it is new.
        before: Option<Before>,
        /// Takes this file's name away, so that it keeps its mode.
        moved_from: Option<AbsPath>,
    },
    /// It goes away.
    Remove(Before),
}

#[cfg(test)]
mod tests;
