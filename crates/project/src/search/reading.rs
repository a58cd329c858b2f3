//! Reads files for a search, decoded as the editor opens them.

use std::ops::ControlFlow;

use base::AbsPath;
use host::{Error, ErrorReason, Files};

use crate::load::{LARGE, TOO_LARGE};

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
    let (mut is_binary, mut guard) = (false, None);
    files.read_chunks(path, &mut |chunk| {
        is_binary = bytes.is_empty() && text::looks_binary(chunk);
        if is_binary || bytes.len() as u64 + chunk.len() as u64 >= TOO_LARGE {
            bytes.extend_from_slice(chunk);
            return ControlFlow::Break(());
        }
        bytes.extend_from_slice(chunk);
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
    let decoded = text::decode(bytes);
    let taken = if decoded.binary {
        None
    } else {
        take(&decoded.text)
    };
    drop(decoded);
    if size > LARGE {
        *bytes = Vec::new();
    }
    Ok(taken)
}
