//! Reading a file into a document. Blocks: belongs on a background thread.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::document::FileFlags;
use base::AbsPath;
use host::{ContentHash, Error, FileKind, Files, OnDisk, Reason};
use text::{Buffer, Encoding, FileFormat, LineEndings};

/// From this length on, in bytes, highlighting is off.
pub const LARGE: u64 = 64 << 20;
/// Files of this length, in bytes, and longer are refused.
pub const TOO_LARGE: u64 = 2 << 30;
/// From this length on, in bytes, a line counts as long.
pub const LONG_LINE: usize = 1 << 20;

/// What to do with a file that is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Refuse it.
    Refuse,
    /// Show it read-only, with what is no text replaced.
    ShowLossy,
}

/// A file that was read. Can be sent to the thread that makes a document of it.
pub struct Loaded {
    /// Where it was asked for; links are not resolved.
    pub path: AbsPath,
    /// Where the links of that path lead.
    pub real_path: Option<AbsPath>,
    /// Its text.
    pub buffer: Buffer,
    /// How it lies in its file.
    pub format: FileFormat,
    /// Its identity and fingerprint.
    pub on_disk: OnDisk,
    /// Why it cannot be written back, if it cannot.
    pub read_only: Option<String>,
    /// What else was noticed.
    pub flags: FileFlags,
}

/// Why a file is not opened. As text: a sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// It is no text. It can be shown all the same: `Binary::ShowLossy`.
    Binary(AbsPath),
    /// It has `TOO_LARGE` bytes or more.
    TooLarge {
        /// Which file.
        path: AbsPath,
        /// Its length in bytes.
        size: u64,
    },
    /// It is a link to something that does not exist.
    BrokenLink {
        /// The link.
        path: AbsPath,
        /// Where it says it leads.
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
                "cannot open {path}: it is not text; open it read-only to look at what there is"
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
    /// Whether there is simply no such file.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Files(error) if error.is_not_found())
    }
}

impl std::error::Error for LoadError {}

/// Reads and decodes a file. Setting `cancel` makes it stop at the next opportunity.
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
            Reason::Cancelled,
        )));
    }
    let decoded = text::decode(&bytes);
    let read_only = match (decoded.binary, binary) {
        (true, Binary::Refuse) => return Err(LoadError::Binary(path.clone())),
        (true, Binary::ShowLossy) => {
            Some("it is not text: what could not be read as characters was replaced".to_owned())
        }
        (false, _) => decoded.read_only,
    };
    if cancelled() {
        return Err(LoadError::Files(Error::new(
            path,
            "open",
            Reason::Cancelled,
        )));
    }
    Ok(Loaded {
        path: path.clone(),
        real_path: files.canonicalize(path).ok(),
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

/// UTF-8 with line feeds.
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
        Reason::NotFound | Reason::NotAFile(FileKind::BrokenLink) => {
            error.reason = Reason::NotFound;
            match files.read_link(path) {
                Some(target) => LoadError::BrokenLink {
                    path: path.clone(),
                    target,
                },
                None => LoadError::Files(error),
            }
        }
        Reason::TooLarge { size, .. } => LoadError::TooLarge {
            path: path.clone(),
            size,
        },
        _ => LoadError::Files(error),
    }
}

fn has_long_line(text: &[u8]) -> bool {
    // From each window's last line feed on: a line that fills a whole window is long.
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
