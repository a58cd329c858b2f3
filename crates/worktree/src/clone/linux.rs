//! Clones of Linux: file by file.

use std::io;
use std::path::Path;

pub(super) use super::reflink::{MAX_THREADS, file, shares_blocks};

pub(super) const CLONES_TREES: bool = false;
pub(super) const TREES_SHARE_BLOCKS: bool = false;

pub(super) fn tree(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Linux clones files, but no folders",
    ))
}
