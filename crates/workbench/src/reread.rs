//! Reads a file in an encoding that the caller names, where detection would find another one.

use base::AbsPath;
use host::{ContentHash, Files, OnDisk};
use project::{FileFlags, Loaded, load};
use text::{Buffer, Encoding};

/// Reads and decodes a file as `encoding`. Bytes that are invalid in it make the text read-only.
///
/// # Errors
/// If the file cannot be read, or is too large.
pub(crate) fn load_as(
    files: &dyn Files,
    path: AbsPath,
    encoding: Encoding,
) -> Result<Loaded, host::Error> {
    let (bytes, stat) = files.read_with_stat(&path, load::TOO_LARGE - 1)?;
    let decoded = text::decode_as(&bytes, encoding);
    Ok(Loaded {
        real_path: files.canonicalize(&path).ok(),
        path,
        buffer: Buffer::new(&decoded.text),
        format: decoded.format,
        on_disk: OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&bytes),
        },
        read_only: decoded.read_only,
        flags: FileFlags {
            is_write_protected: !stat.is_writable,
            ..FileFlags::default()
        },
    })
}
