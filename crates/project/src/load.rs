//! Loads a file into a document. Blocks: call it on a background thread.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use base::AbsPath;
use host::{ContentHash, Error, ErrorReason, FileKind, Files, OnDisk};
use text::{Buffer, Encoding, FileFormat, LineEndings};

/// Syntax highlighting is off from this file size on, in bytes.
pub const LARGE: u64 = 64 << 20;
/// Files of this size and more are refused, in bytes.
pub const TOO_LARGE: u64 = 2 << 30;
/// A line counts as long from this length on, in bytes.
pub const LONG_LINE: usize = 1 << 20;

/// The treatment of files that are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Refuse to open it.
    Refuse,
    /// Show it read-only, with invalid bytes replaced.
    ShowLossy,
}

/// A file that was read and decoded. Can be sent to the thread that creates its document with
/// `Document::from_loaded`.
pub struct Loaded {
    /// Path as requested, in the spelling that its folders store; links are not resolved.
    pub path: AbsPath,
    /// Path with its links resolved.
    pub real_path: Option<AbsPath>,
    /// Decoded text of the file.
    pub buffer: Buffer,
    /// Encoding and line endings of the file.
    pub format: FileFormat,
    /// Identity and fingerprint of the file.
    pub on_disk: OnDisk,
    /// Reason why it cannot be written back, if any.
    pub read_only: Option<String>,
    /// Further properties of the file.
    pub flags: FileFlags,
}

/// Properties noticed when a file was read: size, long lines, write protection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFlags {
    /// Too large for syntax highlighting.
    pub is_large: bool,
    /// It has a line of `LONG_LINE` bytes or more.
    pub has_long_line: bool,
    /// The file's permissions forbid writing it.
    pub is_write_protected: bool,
}

/// The reason why a file cannot be opened: not text, too large, a broken link, or an error of the
/// file system. Displays as a message that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// It is not text. `Binary::ShowLossy` can show it anyway.
    Binary(AbsPath),
    /// It has `TOO_LARGE` bytes or more.
    TooLarge {
        /// Path of the file.
        path: AbsPath,
        /// File size in bytes.
        size: u64,
    },
    /// It is a link to a missing file.
    BrokenLink {
        /// Path of the link.
        path: AbsPath,
        /// Target of the link.
        target: PathBuf,
    },
    /// It could not be read.
    Files(Error),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary(path) => write!(
                f,
                "cannot open {path}: it is not text; open it read-only to view it"
            ),
            Self::TooLarge { path, size } => write!(
                f,
                "cannot open {path}: it has {size} bytes, and at most {} can be opened; cut it \
                 into parts first",
                TOO_LARGE - 1
            ),
            Self::BrokenLink { path, target } => write!(
                f,
                "cannot open {path}: broken link: {} does not exist",
                target.display()
            ),
            Self::Files(error) => error.fmt(f),
        }
    }
}

impl LoadError {
    /// Returns whether the file does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Files(error) if error.is_not_found())
    }
}

impl std::error::Error for LoadError {}

/// Reads and decodes a file. Setting `cancel` stops it at the next opportunity with an error.
/// Blocks on the disk.
///
/// # Errors
///
/// Fails if the file cannot be read, has `TOO_LARGE` bytes or more, or is binary and `binary`
/// refuses that.
pub fn load(
    files: &dyn Files,
    path: &AbsPath,
    binary: Binary,
    cancel: &AtomicBool,
) -> Result<Loaded, LoadError> {
    let (bytes, stat) = files
        .read_with_stat(path, TOO_LARGE - 1)
        .map_err(|error| refused(files, path, error))?;
    let cancelled = || cancel.load(Ordering::Relaxed);
    if cancelled() {
        return Err(LoadError::Files(Error::new(
            path,
            "open",
            ErrorReason::Cancelled,
        )));
    }
    let decoded = text::decode(&bytes);
    let read_only = match (decoded.binary, binary) {
        (true, Binary::Refuse) => return Err(LoadError::Binary(path.clone())),
        (true, Binary::ShowLossy) => Some("it is not text: invalid bytes were replaced".to_owned()),
        (false, _) => decoded.read_only,
    };
    if cancelled() {
        return Err(LoadError::Files(Error::new(
            path,
            "open",
            ErrorReason::Cancelled,
        )));
    }
    let (stored_path, real_path) = stored_and_real(files, path);
    Ok(Loaded {
        path: stored_path,
        real_path,
        flags: FileFlags {
            is_large: bytes.len() as u64 > LARGE,
            has_long_line: has_long_line(decoded.text.as_bytes()),
            is_write_protected: !stat.is_writable,
        },
        buffer: Buffer::new(&decoded.text),
        format: decoded.format,
        on_disk: OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&bytes),
        },
        read_only,
    })
}

/// Returns the path in the spelling that its folders store, and the same with links resolved; `None`
/// if it leads nowhere.
pub(crate) fn stored_and_real(files: &dyn Files, path: &AbsPath) -> (AbsPath, Option<AbsPath>) {
    let real = files.canonicalize(path).ok();
    // A real path is a stored one: most paths need no second look.
    let stored = match &real {
        Some(real) if real == path => path.clone(),
        _ => files.stored_path(path),
    };
    (stored, real)
}

/// Returns the format of new files: UTF-8 with line feeds.
pub(crate) fn new_file_format() -> FileFormat {
    FileFormat {
        encoding: Encoding::UTF_8,
        bom: false,
        line_endings: LineEndings::Lf,
    }
}

fn refused(files: &dyn Files, path: &AbsPath, mut error: Error) -> LoadError {
    error.doing = "open";
    match error.reason {
        ErrorReason::NotFound | ErrorReason::NotAFile(FileKind::BrokenLink) => {
            error.reason = ErrorReason::NotFound;
            match files.read_link(path) {
                Some(target) => LoadError::BrokenLink {
                    path: path.clone(),
                    target,
                },
                None => LoadError::Files(error),
            }
        }
        ErrorReason::TooLarge { size, .. } => LoadError::TooLarge {
            path: path.clone(),
            size,
        },
        _ => LoadError::Files(error),
    }
}

/// Whether a line has `LONG_LINE` bytes or more, without its line feed.
fn has_long_line(text: &[u8]) -> bool {
    // Search from each window's last line feed: a line that fills a whole window is long.
    let mut start = 0;
    while start + LONG_LINE <= text.len() {
        match text[start..start + LONG_LINE]
            .iter()
            .rposition(|byte| *byte == b'\n')
        {
            Some(feed) => start += feed + 1,
            None => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests;
