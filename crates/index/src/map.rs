//! Bytes of a file that are read where they lie, or bytes in memory.

#![expect(
    clippy::disallowed_methods,
    unsafe_code,
    reason = "a mapped file is no content that `host::Files` could hand over; nobody else in this crate opens files"
)]

use std::ops::{Deref, Range};
use std::sync::Arc;

use base::AbsPath;

/// A stretch of bytes. Cheap to clone.
#[derive(Clone)]
pub(crate) enum Bytes {
    /// In memory.
    Held(Arc<[u8]>),
    /// In a file of ours.
    Mapped(Arc<Map>, Range<usize>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Held(bytes) => bytes,
            Bytes::Mapped(map, range) => map.0.get(range.clone()).unwrap_or_default(),
        }
    }
}

/// A file of ours in the address space.
pub(crate) struct Map(memmap2::Mmap);

impl Map {
    /// Maps a whole file. `None` for one that is missing or empty.
    pub(crate) fn of(path: &AbsPath) -> std::io::Result<Option<Self>> {
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() == 0 {
            return Ok(None);
        }
        // SAFETY: the file is ours and only grows; where it is cut or made anew, another file takes its name, and this
        // one stays what it was.
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Ok(Some(Self(map)))
    }

    /// All bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
