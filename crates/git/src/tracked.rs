//! Finds unchanged files by the index's stat data, without reading them.

use std::collections::HashMap;

use base::AbsPath;
use host::{Files, RealFiles, Stamp};

use crate::merge::{ObjectId, TreePath};
use crate::repository::{Error, Repository, unreadable};

/// A tracked file with the stat data of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackedFile {
    /// Id of the file's content.
    pub id: ObjectId,
    mtime_s: i32,
    mtime_ns: u32,
    size: u32,
    inode: u32,
}

impl TrackedFile {
    /// Returns whether the file on disk still has the stat data of the index.
    pub fn is(&self, stamp: &Stamp) -> bool {
        let seconds = stamp.mtime_ns.div_euclid(1_000_000_000);
        let rest = stamp.mtime_ns.rem_euclid(1_000_000_000);
        self.mtime_s as i128 == seconds
            && (self.mtime_ns == 0 || i128::from(self.mtime_ns) == rest)
            && self.size == stamp.size as u32
            && (self.inode == 0 || self.inode == stamp.inode as u32)
    }
}

impl Repository {
    /// Returns the files whose index stat data are reliable, by path relative to the working tree.
    /// Files modified within the same clock tick as the index are omitted, as their stat data prove
    /// nothing.
    pub fn tracked(&self) -> Result<HashMap<TreePath, TrackedFile>, Error> {
        const FILE: u32 = 0o100_000;
        let failed = |error: git2::Error| unreadable(self.workdir().as_path(), &error);
        let index = self.inner.index().map_err(failed)?;
        let written = index
            .path()
            .and_then(AbsPath::new)
            .and_then(|path| RealFiles.stat(&path).ok())
            .map_or(0, |stat| stat.stamp.mtime_ns);
        let mut tracked = HashMap::new();
        for entry in index.iter() {
            let is_file = entry.mode & 0o170_000 == FILE;
            let is_merged = (entry.flags >> 12) & 3 == 0;
            let (seconds, rest) = (entry.mtime.seconds(), entry.mtime.nanoseconds());
            let changed = i128::from(seconds) * 1_000_000_000 + i128::from(rest);
            if !is_file || !is_merged || changed >= written {
                continue;
            }
            let seen = TrackedFile {
                id: ObjectId(entry.id),
                mtime_s: seconds,
                mtime_ns: rest,
                size: entry.file_size,
                inode: entry.ino,
            };
            tracked.insert(TreePath::new(&entry.path), seen);
        }
        Ok(tracked)
    }
}

#[cfg(test)]
mod tests;
