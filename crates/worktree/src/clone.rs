//! Clones of files and folders: copies that share blocks with the original until one side writes.
//!
//! APFS clones a whole folder in one call; Linux clones file by file (`FICLONE`). The portable
//! build copies a folder in one call instead, so that everything around a whole clone runs there.

mod folder;
#[cfg(all(target_os = "linux", not(burin_portable)))]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(all(target_os = "linux", burin_portable))]
mod portable;
#[cfg(target_os = "linux")]
mod reflink;

use std::fs::{self, File};
use std::io;
use std::path::Path;

pub(crate) use self::folder::{FileCopy, copy_folder};
#[cfg(all(target_os = "linux", not(burin_portable)))]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;
#[cfg(all(target_os = "linux", burin_portable))]
use self::portable as system;

/// Whether `tree` works on some file system of this system.
pub(crate) const CLONES_TREES: bool = system::CLONES_TREES;

/// The largest number of threads that clone files at the same time faster than fewer do.
pub(crate) const MAX_THREADS: usize = system::MAX_THREADS;

/// Size of the file that a probe clones, in bytes.
const PROBE_BYTES: usize = 1 << 20;

/// Clones the folder `from` with everything in it to `to`, which must not exist; links are cloned
/// as links, and modification times stay. Killed or failed, it leaves a part of the folder.
///
/// # Errors
/// `Unsupported` if the system cannot clone folders; an error of the file system if this one cannot
/// clone at all, or if it holds something that cannot be cloned, such as a socket.
pub(crate) fn tree(from: &Path, to: &Path) -> io::Result<()> {
    system::tree(from, to)
}

/// Clones the regular file `from` to `to`, which must not exist. Its permissions are those of a new
/// file, executable by `mode`, or those of `from`.
pub(crate) fn file(from: &File, to: &Path, mode: u32) -> io::Result<()> {
    system::file(from, to, mode)
}

/// Clones a folder in the empty folder `place`, and fails unless the clone shares blocks.
pub(crate) fn probe_tree(place: &Path) -> io::Result<()> {
    let (from, to) = (place.join("tree"), place.join("tree-clone"));
    fs::create_dir_all(from.join("inner"))?;
    let original = from.join("inner/file");
    fs::write(&original, vec![7; PROBE_BYTES])?;
    tree(&from, &to)?;
    check_clone(
        &original,
        &to.join("inner/file"),
        system::TREES_SHARE_BLOCKS,
    )
}

/// Clones a file in the empty folder `place`, and fails unless the clone shares blocks.
pub(crate) fn probe_file(place: &Path) -> io::Result<()> {
    let (from, to) = (place.join("file"), place.join("file-clone"));
    fs::write(&from, vec![7; PROBE_BYTES])?;
    file(&File::open(&from)?, &to, 0o100644)?;
    check_clone(&from, &to, true)
}

fn check_clone(from: &Path, to: &Path, can_share: bool) -> io::Result<()> {
    if fs::read(to)? != fs::read(from)? {
        return Err(io::Error::other("the clone differs from the original"));
    }
    if !can_share || !system::shares_blocks(from, to) {
        return Err(io::Error::other("the clone shares no blocks"));
    }
    Ok(())
}
