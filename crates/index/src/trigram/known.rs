//! What is known of the files below a root: which there are, how they looked when they were read, and where their
//! trigrams are.
//!
//! Invariant: files and folders are sorted by the bytes of their paths, each once; a folder's parent is among the
//! folders. What is published never changes: the next state is another value that shares the segments.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use host::Mark;

use super::segment::Segment;

/// Everything, as one value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The paths of files and folders, one behind the other.
    pub(crate) names: Vec<u8>,
    pub(crate) files: Vec<File>,
    pub(crate) folders: Vec<Folder>,
    pub(crate) segments: Vec<Held>,
    /// Of the rules when the files were listed; `None` where they may have changed meanwhile.
    pub(crate) rules: Option<u64>,
    /// Whether something could not be listed: the walk has to say so each time.
    pub(crate) has_problems: bool,
}

/// A segment, and its name where it is on the disk.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) segment: Arc<Segment>,
    /// The number in its name.
    pub(crate) number: Option<u64>,
}

/// Part of `Known::names`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Name {
    pub(crate) begin: u32,
    pub(crate) length: u32,
}

/// A file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    pub(crate) name: Name,
    /// Whether a walk that leaves out names with a dot visits it.
    pub(crate) is_plain: bool,
    pub(crate) content: Content,
}

/// What is known of a file's content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Content {
    /// Nothing: it is looked into.
    Unread,
    /// It is looked into as long as it looks like this: it is searched in another form than it is stored in.
    Opaque(Mark),
    /// It is no text: a search leaves it out.
    Binary(Mark),
    /// Its trigrams are those of a file of a segment.
    Grams {
        mark: Mark,
        /// Index into `Known::segments`.
        segment: u32,
        file: u32,
    },
}

impl Content {
    /// How the file looked when this was found out.
    pub(crate) fn mark(&self) -> Option<Mark> {
        match self {
            Self::Unread => None,
            Self::Opaque(mark) | Self::Binary(mark) | Self::Grams { mark, .. } => Some(*mark),
        }
    }
}

/// A folder that was listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folder {
    pub(crate) name: Name,
    /// Whether a walk that leaves out names with a dot visits it.
    pub(crate) is_plain: bool,
    /// Whether one of `Rules::NAMES` is in it.
    pub(crate) has_rules: bool,
    /// How it looked when it was listed; `None` where it may have changed meanwhile.
    pub(crate) mark: Option<Mark>,
}

impl Known {
    pub(crate) fn path(&self, name: Name) -> &Path {
        Path::new(OsStr::from_bytes(self.bytes(name)))
    }

    pub(crate) fn bytes(&self, name: Name) -> &[u8] {
        let begin = name.begin as usize;
        &self.names[begin..begin + name.length as usize]
    }

    /// Puts a path down. Beyond 4 GB of paths nothing more is known of.
    pub(crate) fn name(&mut self, path: &[u8]) -> Option<Name> {
        let begin = u32::try_from(self.names.len()).ok()?;
        let length = u32::try_from(path.len()).ok()?;
        begin.checked_add(length)?;
        self.names.extend_from_slice(path);
        Some(Name { begin, length })
    }

    pub(crate) fn file(&self, path: &Path) -> Option<usize> {
        let path = path.as_os_str().as_bytes();
        let found = self
            .files
            .binary_search_by(|file| self.bytes(file.name).cmp(path));
        found.ok()
    }

    pub(crate) fn folder(&self, path: &Path) -> Option<usize> {
        let path = path.as_os_str().as_bytes();
        let found = self
            .folders
            .binary_search_by(|folder| self.bytes(folder.name).cmp(path));
        found.ok()
    }

    /// Whether both have the same folders.
    pub(crate) fn has_folders_of(&self, other: &Self) -> bool {
        let names = |known: &Self| -> Vec<Name> {
            known.folders.iter().map(|folder| folder.name).collect()
        };
        let (own, others) = (names(self), names(other));
        let is_same = |(own, others): (&Name, &Name)| self.bytes(*own) == other.bytes(*others);
        own.len() == others.len() && own.iter().zip(&others).all(is_same)
    }

    /// The files below a folder, all for the empty path.
    pub(crate) fn below(&self, folder: &Path) -> std::ops::Range<usize> {
        let prefix = folder.as_os_str().as_bytes();
        if prefix.is_empty() {
            return 0..self.files.len();
        }
        let first = [prefix, b"/"].concat();
        let behind = [prefix, b"0"].concat();
        let at = |border: &[u8]| {
            self.files
                .partition_point(|file| self.bytes(file.name) < border)
        };
        at(&first)..at(&behind)
    }

    /// The folders that have rules, in order.
    pub(crate) fn folders_with_rules(&self) -> impl Iterator<Item = &Path> {
        let folders = self.folders.iter().filter(|folder| folder.has_rules);
        folders.map(|folder| self.path(folder.name))
    }

    /// Bytes it takes in memory, segments and all.
    pub(crate) fn bytes_held(&self) -> u64 {
        let own = self.names.capacity()
            + self.files.capacity() * size_of::<File>()
            + self.folders.capacity() * size_of::<Folder>();
        let segments = self.segments.iter().map(|held| held.segment.bytes_held());
        own as u64 + segments.sum::<u64>()
    }
}
