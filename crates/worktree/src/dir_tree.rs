//! Removes and measures folders with untrusted contents: symlinks are not followed, any depth is
//! allowed.

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use host::no_follow::{self, FolderEntry};
use rustix::fs::{AtFlags, FileType, Mode, chmodat, renameat, unlinkat};
use rustix::io::Errno;

/// Removes a folder with all its contents. A missing folder is not an error; nor is another process
/// that removes it at the same time.
///
/// Subfolders are first moved to the top, so that neither the stack nor the number of open files
/// grows with a depth that an agent chose.
pub(crate) fn remove_all(folder: &Path) -> io::Result<()> {
    /// Number of passes over a folder that another process empties or fills meanwhile.
    const PASSES: usize = 64;
    for pass in 1.. {
        let top = match no_follow::open_root(folder) {
            Ok(top) => top,
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::NOTDIR | Errno::LOOP) => return fs::remove_file(folder),
            Err(errno) => return Err(errno.into()),
        };
        empty_top(&top)?;
        drop(top);
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && pass < PASSES => {}
            other => return other,
        }
    }
    Ok(())
}

/// Removes everything in an open folder, apart from what another process puts there meanwhile.
fn empty_top(top: &OwnedFd) -> io::Result<()> {
    let mut moved = 0_u64;
    let mut waiting = empty_folder(top, top, &mut moved)?;
    while let Some(name) = waiting.pop() {
        let inner = match no_follow::open_folder(top, &name) {
            Ok(inner) => inner,
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(errno.into()),
        };
        waiting.extend(empty_folder(&inner, top, &mut moved)?);
        match unlinkat(top, &name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Removes the files of `folder`, moves its subfolders into `top` and returns their names there.
fn empty_folder(folder: &OwnedFd, top: &OwnedFd, moved: &mut u64) -> io::Result<Vec<CString>> {
    let mut folders = Vec::new();
    for FolderEntry { name, kind } in no_follow::entries(folder)? {
        if kind != FileType::Directory {
            match unlinkat(folder, &name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno.into()),
            }
        }
        // Renaming a folder changes its `..`, which needs write permission; the kernel's work
        // folder has no permissions at all.
        let mode = Mode::from_raw_mode(0o700);
        match chmodat(folder, &name, mode, AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(errno.into()),
        }
        loop {
            *moved += 1;
            let own = CString::new(format!("\u{1}{moved}"))?;
            match renameat_free(folder, &name, top, &own) {
                Ok(()) => {
                    folders.push(own);
                    break;
                }
                Err(Errno::NOENT) => break,
                Err(Errno::EXIST | Errno::NOTEMPTY) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    Ok(folders)
}

/// Renames an entry and fails with `EXIST` if the new name exists, as far as the file system can
/// check that. Otherwise it may replace an entry of that name.
fn renameat_free(from: &OwnedFd, name: &OsStr, to: &OwnedFd, own: &CStr) -> Result<(), Errno> {
    let flags = rustix::fs::RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(from, name, to, own, flags) {
        // Some file systems do not support `NOREPLACE`. Only another process that removes the same
        // folder can have taken the name, and only an empty folder is replaced.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => renameat(from, name, to, own),
        other => other,
    }
}

/// Returns the disk usage of a folder in bytes, by blocks; a file with several names counts once,
/// unreadable ones not at all, and blocks that clones share count in each.
pub(crate) fn disk_usage(folder: &Path) -> u64 {
    let Ok(top) = no_follow::open_root(folder) else {
        return 0;
    };
    let mut seen = HashSet::new();
    size_in(&top, &mut seen, 0)
}

/// Maximum depth of folders that are measured.
const MAX_DEPTH: usize = 200;

/// Returns the disk usage of a folder's entries in bytes. `seen` holds the inodes of files with
/// several hard links, which count once. Folders deeper than `MAX_DEPTH` count as empty.
fn size_in(folder: &OwnedFd, seen: &mut HashSet<u64>, depth: usize) -> u64 {
    let Ok(entries) = no_follow::entries(folder) else {
        return 0;
    };
    let mut bytes = 0;
    for FolderEntry { name, kind } in entries {
        let Ok(stat) = no_follow::stat(folder, &name) else {
            continue;
        };
        if stat.st_nlink < 2 || kind == FileType::Directory || seen.insert(stat.st_ino) {
            bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
        }
        if kind == FileType::Directory
            && depth < MAX_DEPTH
            && let Ok(inner) = no_follow::open_folder(folder, &name)
        {
            bytes += size_in(&inner, seen, depth + 1);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_are_removed_but_not_their_targets() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "x").unwrap();
        let gone = folder.path().join("gone");
        fs::create_dir_all(gone.join("a/b")).unwrap();
        symlink(&kept, gone.join("link")).unwrap();
        symlink("/", gone.join("a/b/root")).unwrap();
        fs::write(gone.join("a/file"), "x").unwrap();
        let closed = gone.join("a/closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
        remove_all(&gone).unwrap();
        assert!(!gone.exists());
        assert!(kept.join("file").exists());
        remove_all(&gone).unwrap();
    }

    #[test]
    fn several_may_remove_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        for outer in 0..40 {
            for inner in 0..10 {
                let path = gone.join(format!("{outer}/{inner}"));
                fs::create_dir_all(&path).unwrap();
                fs::write(path.join("file"), "x").unwrap();
            }
        }
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..3).map(|_| scope.spawn(|| remove_all(&gone))).collect();
            for one in all {
                one.join().unwrap().unwrap();
            }
        });
        assert!(!gone.exists());
    }

    #[test]
    fn depth_does_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        fs::create_dir(&gone).unwrap();
        let mut inner = no_follow::open_root(&gone).unwrap();
        for _ in 0..700 {
            rustix::fs::mkdirat(&inner, "deeper", Mode::from_raw_mode(0o755)).unwrap();
            inner = no_follow::open_folder(&inner, "deeper").unwrap();
        }
        assert!(disk_usage(&gone) > 0);
        remove_all(&gone).unwrap();
        assert!(!gone.exists());
    }
}
