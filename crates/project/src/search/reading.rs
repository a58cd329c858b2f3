//! Reads files for a search, decoded as the editor opens them.

use std::ops::ControlFlow;

use base::AbsPath;
use host::{Error, ErrorReason, Files};

use crate::load::{LARGE, TOO_LARGE};

/// Bytes of a first read from which on a binary file is recognised before the rest is read.
const LARGE_HEAD: usize = 64 * 1024;

/// Bytes of the largest buffer kept for the next file. A read fills the whole buffer.
const MAX_KEPT_BUFFER: usize = 1 << 20;

/// Reads and decodes a file and passes its text to `take`; `None` if the file is binary or if
/// `take` returns it. Returns an error if the file cannot be read or has `TOO_LARGE` bytes or more.
/// `bytes` is a reusable buffer. `alone` returns a guard to hold while a large file is in memory.
pub(super) fn with_text<T, G>(
    files: &dyn Files,
    path: &AbsPath,
    bytes: &mut Vec<u8>,
    alone: impl Fn() -> G,
    mut take: impl FnMut(&str) -> Option<T>,
) -> Result<Option<T>, Error> {
    bytes.clear();
    let (mut is_first, mut is_binary, mut guard) = (true, false, None);
    files.read_chunks(path, bytes, &mut |bytes| {
        // The rest of a small file is read before it is examined.
        is_binary = is_first && bytes.len() >= LARGE_HEAD && text::looks_binary(bytes);
        is_first = false;
        if is_binary || bytes.len() as u64 >= TOO_LARGE {
            return ControlFlow::Break(());
        }
        if guard.is_none() && bytes.len() as u64 > LARGE {
            guard = Some(alone());
        }
        ControlFlow::Continue(())
    })?;
    if is_binary {
        return Ok(None);
    }
    let size = bytes.len() as u64;
    if size >= TOO_LARGE {
        *bytes = Vec::new();
        let limit = TOO_LARGE - 1;
        return Err(Error::new(
            path,
            "search",
            ErrorReason::TooLarge { size, limit },
        ));
    }
    let taken = text::decode_text(bytes).and_then(|text| take(&text));
    if bytes.capacity() > MAX_KEPT_BUFFER {
        *bytes = Vec::new();
    }
    Ok(taken)
}
