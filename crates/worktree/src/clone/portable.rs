//! Clones of a whole folder made of copies, for builds without APFS. Files are cloned as on Linux.

use std::io;
use std::path::Path;

pub(super) use super::reflink::{MAX_THREADS, file, shares_blocks};
use super::{FileCopy, copy_folder};

pub(super) const CLONES_TREES: bool = true;
pub(super) const TREES_SHARE_BLOCKS: bool = false;

pub(super) fn tree(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir(to)?;
    copy_folder(from, to, FileCopy::Bytes).map_err(|error| io::Error::other(error.to_string()))
}
