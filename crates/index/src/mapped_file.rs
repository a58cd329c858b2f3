//! Byte ranges of a memory-mapped file or of memory.

#![expect(
    clippy::disallowed_methods,
    unsafe_code,
    reason = "`host::Files` cannot map files; no other code in this crate opens files"
)]

use std::ops::{Deref, Range};
use std::sync::Arc;

use base::AbsPath;

/// The bytes of a record, held in memory or mapped from the log. Cheap to clone.
#[derive(Clone)]
pub(crate) enum RecordBytes {
    /// Bytes held in memory.
    Held(Arc<[u8]>),
    /// A range of a memory-mapped file of Burin's own.
    Mapped(Arc<MappedFile>, Range<usize>),
}

impl Deref for RecordBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            RecordBytes::Held(bytes) => bytes,
            RecordBytes::Mapped(map, range) => map.0.get(range.clone()).unwrap_or_default(),
        }
    }
}

/// A memory-mapped file of Burin's own.
pub(crate) struct MappedFile(memmap2::Mmap);

impl MappedFile {
    /// Maps a whole file read-only. Returns `None` if the file is missing or empty, and an error
    /// for any other failure.
    pub(crate) fn of(path: &AbsPath) -> std::io::Result<Option<Self>> {
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() == 0 {
            return Ok(None);
        }
        // SAFETY: the file is Burin's own and only grows; when it is truncated or recreated,
        // another file takes its name, and this one stays as it was.
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Ok(Some(Self(map)))
    }

    /// Returns all bytes of the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
