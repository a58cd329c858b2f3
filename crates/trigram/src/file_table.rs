//! The files below a root: their list, their state when they were read, and the location of their
//! trigrams.
//!
//! Invariant: files and folders are sorted by the bytes of their paths, without duplicates; a
//! folder's parent is among the folders. A published value never changes: the next state is another
//! value that shares the segments.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use host::FileVersion;

use super::segment::TrigramSegment;

/// The complete state of a trigram index as one value: files, folders and segments. A search uses
/// one value throughout. An update replaces the value.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileTable {
    /// The paths of files and folders, concatenated.
    pub(crate) names: Vec<u8>,
    pub(crate) files: Vec<IndexedFile>,
    pub(crate) folders: Vec<IndexedFolder>,
    pub(crate) segments: Vec<OpenSegment>,
    /// A fingerprint of the ignore rules used for listing; `None` if they may have changed
    /// meanwhile.
    pub(crate) rules: Option<u64>,
    /// Whether some folder could not be listed: the walk has to report that each time.
    pub(crate) has_problems: bool,
}

/// A segment of trigrams in use, with the number of the segment if it is on disk.
#[derive(Clone, Debug)]
pub(crate) struct OpenSegment {
    pub(crate) segment: Arc<TrigramSegment>,
    /// The number in its file name.
    pub(crate) number: Option<u64>,
}

/// A path as a range of bytes in `FileTable::names`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameRange {
    pub(crate) begin: u32,
    pub(crate) length: u32,
}

/// A file below the root, and the indexed state of its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexedFile {
    pub(crate) name: NameRange,
    /// Whether a walk that skips hidden files visits it.
    pub(crate) is_plain: bool,
    pub(crate) content: ContentState,
}

/// The indexed state of a file's content: unread, not indexable, binary, or stored in a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ContentState {
    /// Unknown: every search reads it.
    Unread,
    /// Every search reads it while its version is unchanged: it is searched in another encoding
    /// than it is stored in.
    Opaque(FileVersion),
    /// Binary: searches skip it.
    Binary(FileVersion),
    /// Its trigrams are stored in a segment.
    Grams {
        mark: FileVersion,
        /// The index into `FileTable::segments`.
        segment: u32,
        file: u32,
    },
}

impl ContentState {
    /// Returns the version of the file for which this state was determined. Returns `None` if the
    /// file is unread.
    pub(crate) fn mark(&self) -> Option<FileVersion> {
        match self {
            Self::Unread => None,
            Self::Opaque(mark) | Self::Binary(mark) | Self::Grams { mark, .. } => Some(*mark),
        }
    }
}

/// A folder below the root that was listed, with the version of the folder at that time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexedFolder {
    pub(crate) name: NameRange,
    /// Whether a walk that skips hidden files visits it.
    pub(crate) is_plain: bool,
    /// Whether it contains one of `IgnoreRules::NAMES`.
    pub(crate) has_rules: bool,
    /// Its version when it was listed; `None` if it may have changed meanwhile.
    pub(crate) mark: Option<FileVersion>,
}

impl FileTable {
    /// Returns a stored path, relative to the root.
    pub(crate) fn path(&self, name: NameRange) -> &Path {
        Path::new(OsStr::from_bytes(self.bytes(name)))
    }

    /// Returns the bytes of a stored path.
    pub(crate) fn bytes(&self, name: NameRange) -> &[u8] {
        let begin = name.begin as usize;
        &self.names[begin..begin + name.length as usize]
    }

    /// Stores a path in the table. Returns `None` if the paths would exceed 4 GB. The listing then
    /// leaves out this path and all paths after it.
    pub(crate) fn name(&mut self, path: &[u8]) -> Option<NameRange> {
        let begin = u32::try_from(self.names.len()).ok()?;
        let length = u32::try_from(path.len()).ok()?;
        begin.checked_add(length)?;
        self.names.extend_from_slice(path);
        Some(NameRange { begin, length })
    }

    /// Returns the index of the file with this path relative to the root. Returns `None` if the
    /// path is unknown.
    pub(crate) fn file(&self, path: &Path) -> Option<usize> {
        let path = path.as_os_str().as_bytes();
        let found = self
            .files
            .binary_search_by(|file| self.bytes(file.name).cmp(path));
        found.ok()
    }

    /// Returns the index of the folder with this path relative to the root. Returns `None` if the
    /// path is unknown.
    pub(crate) fn folder(&self, path: &Path) -> Option<usize> {
        let path = path.as_os_str().as_bytes();
        let found = self
            .folders
            .binary_search_by(|folder| self.bytes(folder.name).cmp(path));
        found.ok()
    }

    /// Returns whether both tables have folders with the same paths.
    pub(crate) fn has_folders_of(&self, other: &Self) -> bool {
        let names = |table: &Self| -> Vec<NameRange> {
            table.folders.iter().map(|folder| folder.name).collect()
        };
        let (own, others) = (names(self), names(other));
        let is_same =
            |(own, others): (&NameRange, &NameRange)| self.bytes(*own) == other.bytes(*others);
        own.len() == others.len() && own.iter().zip(&others).all(is_same)
    }

    /// Returns the range of indices of the files below a folder, at any depth. For the empty path,
    /// returns the indices of all files.
    pub(crate) fn files_below(&self, folder: &Path) -> std::ops::Range<usize> {
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

    /// Returns the folders with ignore rules, in order.
    pub(crate) fn folders_with_rules(&self) -> impl Iterator<Item = &Path> {
        let folders = self.folders.iter().filter(|folder| folder.has_rules);
        folders.map(|folder| self.path(folder.name))
    }

    /// Returns the memory use in bytes, including segments.
    pub(crate) fn bytes_held(&self) -> u64 {
        let own = self.names.capacity()
            + self.files.capacity() * size_of::<IndexedFile>()
            + self.folders.capacity() * size_of::<IndexedFolder>();
        let segments = self.segments.iter().map(|held| held.segment.bytes_held());
        own as u64 + segments.sum::<u64>()
    }
}
