//! Writes an index whose stat data match the files on disk, so that the first status reads no file.

use std::path::Path;

use git2::{Index, IndexEntry, IndexTime, Oid};

use super::{CommitFile, Error, MainRepo};

/// A time stamp of the file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime {
    /// Whole seconds since 1970.
    pub seconds: i64,
    /// Nanoseconds within the second, below 1,000,000,000.
    pub nanoseconds: u32,
}

/// Stat data of a checked-out file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStat {
    /// Time of the last inode change.
    pub ctime: FileTime,
    /// Time of the last content change.
    pub mtime: FileTime,
    /// Number of the file's device.
    pub device: u64,
    /// Inode number on the device.
    pub inode: u64,
    /// User id of the owner.
    pub user: u32,
    /// Group id of the file.
    pub group: u32,
    /// Size of the file in bytes.
    pub size: u64,
}

/// Writes an index of `tree` to `path`: `files` with their stat data, `submodules` without, and a
/// cache of all tree ids, which makes comparing with HEAD a single comparison.
pub fn write_index<'a>(
    main_repo: &MainRepo,
    tree: &str,
    files: impl Iterator<Item = (&'a CommitFile, FileStat)>,
    path: &Path,
) -> Result<(), Error> {
    let failed = |error: git2::Error| Error::new("write an index at", path, &error);
    let mut index = Index::open(path).map_err(failed)?;
    let id = Oid::from_str(tree).map_err(failed)?;
    let whole = main_repo.repository.find_tree(id).map_err(failed)?;
    // Submodules come from the tree; files are then overwritten with their stat data.
    index.read_tree(&whole).map_err(failed)?;
    for (file, stamped) in files {
        let id = Oid::from_str(&file.id).map_err(failed)?;
        index.add(&entry(file, id, &stamped)).map_err(failed)?;
    }
    // This writes no object, as the trees exist already. It fills the index's tree cache.
    let written = index.write_tree_to(&main_repo.repository).map_err(failed)?;
    debug_assert_eq!(written, id, "the index does not match its tree");
    index.write().map_err(failed)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "git stores and compares the low 32 bits of each of these"
)]
fn entry(file: &CommitFile, id: Oid, stamped: &FileStat) -> IndexEntry {
    let time = |time: FileTime| IndexTime::new(time.seconds as i32, time.nanoseconds);
    IndexEntry {
        ctime: time(stamped.ctime),
        mtime: time(stamped.mtime),
        dev: stamped.device as u32,
        ino: stamped.inode as u32,
        mode: file.mode,
        uid: stamped.user,
        gid: stamped.group,
        file_size: stamped.size as u32,
        id,
        flags: 0,
        flags_extended: 0,
        path: file.path.clone(),
    }
}
