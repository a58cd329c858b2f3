//! An index whose stat data are those of the files on the disk, so that the first status reads none of them.

use std::path::Path;

use git2::{Index, IndexEntry, IndexTime, Oid};

use super::{Error, Hub, TreeFile};

/// A moment as a file system keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime {
    /// Since 1970.
    pub seconds: i64,
    /// Below a thousand million.
    pub nanoseconds: u32,
}

/// What the file system says of a checked-out file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamped {
    /// When its inode changed.
    pub ctime: FileTime,
    /// When its content changed.
    pub mtime: FileTime,
    /// The number of its device.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Whose it is.
    pub user: u32,
    /// And of which group.
    pub group: u32,
    /// In bytes.
    pub size: u64,
}

/// Writes an index of `tree` to `path`: `files` with their stamps, `submodules` without, and the ids of all folders,
/// so that comparing with HEAD is one comparison.
pub fn write_index<'a>(
    hub: &Hub,
    tree: &str,
    files: impl Iterator<Item = (&'a TreeFile, Stamped)>,
    path: &Path,
) -> Result<(), Error> {
    let failed = |error: git2::Error| Error::new("write an index at", path, &error);
    let mut index = Index::open(path).map_err(failed)?;
    let id = Oid::from_str(tree).map_err(failed)?;
    let whole = hub.repository.find_tree(id).map_err(failed)?;
    // Submodules come from here; files are put over what it brings.
    index.read_tree(&whole).map_err(failed)?;
    for (file, stamped) in files {
        let id = Oid::from_str(&file.id).map_err(failed)?;
        index.add(&entry(file, id, &stamped)).map_err(failed)?;
    }
    // Nothing is written by this: the trees are there. It fills the index's cache of them.
    let written = index.write_tree_to(&hub.repository).map_err(failed)?;
    debug_assert_eq!(written, id, "the index holds other files than its tree");
    index.write().map_err(failed)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "git keeps the low 32 bits of each of these, and compares the same"
)]
fn entry(file: &TreeFile, id: Oid, stamped: &Stamped) -> IndexEntry {
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
