//! A file that is read in parts.

use std::sync::Arc;

use base::AbsPath;
use host::{Error, Files, Stamp};

/// A file that is read in parts, never whole. Cheap to clone and to send to threads.
#[derive(Clone)]
pub struct FileBytes {
    files: Arc<dyn Files>,
    path: AbsPath,
    stamp: Stamp,
}

impl std::fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileBytes")
            .field("path", &self.path)
            .field("stamp", &self.stamp)
            .finish_non_exhaustive()
    }
}

impl FileBytes {
    /// Looks at a file. Blocks on the disk.
    pub fn open(files: Arc<dyn Files>, path: AbsPath) -> Result<Self, Error> {
        let stat = files.stat(&path)?;
        if stat.kind != host::FileKind::File {
            let reason = host::ErrorReason::NotAFile(stat.kind);
            return Err(Error::new(&path, "read", reason));
        }
        Ok(Self {
            files,
            path,
            stamp: stat.stamp,
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &AbsPath {
        &self.path
    }

    /// Returns the length in bytes when the file was opened.
    pub fn len(&self) -> u64 {
        self.stamp.size
    }

    /// Returns whether the file was empty when it was opened.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads up to `length` bytes from `offset` on; fewer at the end. Blocks on the disk.
    pub fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
        self.files.read_range(&self.path, offset, length)
    }
}
