//! Listing, renaming, copying and removing files and folders.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::AbsPath;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, RenameFlags};
use rustix::io::Errno;

use crate::error::{Error, ErrorReason};
use crate::file_status::{FileStatus, kind_of};
use crate::listing::{ListedEntry, Listing};
use crate::no_follow;
use crate::path_at::PathAt;
use crate::real::{is_broken_link, read};
use crate::retry::retry;
use crate::stat::FileKind;
use crate::system_calls;

/// Lists a folder, sorted by path. Entries that cannot be examined become problems; fails only if
/// the folder cannot be opened.
pub(super) fn list(path: &AbsPath) -> Result<Listing, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = retry(|| rustix::fs::open(path.as_path(), flags, Mode::empty()))
        .map_err(|errno| Error::from_errno(path, "list", errno))?;
    list_open(folder, path)
}

/// Lists an open folder whose path is `path`.
pub(super) fn list_open(folder: OwnedFd, path: &AbsPath) -> Result<Listing, Error> {
    let failed = |errno| Error::from_errno(path, "list", errno);
    let mut listing = Listing::default();
    // Not opened again: that would require the permission to search it.
    let mut reader = Dir::new(folder).map_err(failed)?;
    let mut entries = Vec::new();
    while let Some(entry) = reader.read() {
        match entry {
            Ok(entry) => {
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name != "." && name != ".." {
                    entries.push((name.to_owned(), entry.file_type()));
                }
            }
            // The rest of the folder may still be readable, but a reader that failed once can fail
            // forever.
            Err(errno) => {
                listing.problems.push(failed(errno));
                break;
            }
        }
    }
    let folder = reader.fd().map_err(failed)?;
    for (name, file_type) in entries {
        let path = path.join(Path::new(&name));
        look_at(folder, &name, path, file_type, &mut listing);
    }
    listing.entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

fn look_at(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    path: AbsPath,
    file_type: FileType,
    listing: &mut Listing,
) {
    let file_type = match file_type {
        // Some file systems do not report the type.
        FileType::Unknown => match no_follow::stat(folder, name) {
            Ok(stat) => no_follow::kind(&stat),
            Err(errno) => {
                let problem = Error::from_errno(&path, "look at", errno);
                listing.problems.push(problem);
                return;
            }
        },
        known => known,
    };
    let is_link = file_type.is_symlink();
    let followed = is_link.then(|| rustix::fs::statat(folder, name, AtFlags::empty()));
    let kind = match followed {
        None => kind_of(file_type),
        Some(Ok(target)) => FileStatus::from_raw(&target).kind(),
        Some(Err(errno)) => {
            if !is_broken_link(errno) {
                let problem = Error::from_errno(&path, "look at", errno);
                listing.problems.push(problem);
            }
            FileKind::BrokenLink
        }
    };
    listing.entries.push(ListedEntry {
        path,
        kind,
        is_link,
    });
}

/// Creates an empty file at an unused name.
pub(super) fn create_file(at: &PathAt) -> Result<(), Error> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    at.open(flags, Mode::from_raw_mode(0o666))
        .map(drop)
        .map_err(|errno| Error::from_errno(at.path(), "create", errno))
}

pub(super) fn rename(from: &PathAt, to: &PathAt) -> Result<(), Error> {
    match rename_to_free_name(from, to) {
        Ok(()) => Ok(()),
        Err(Errno::XDEV) => {
            let sentence = format!("{} is on another volume; copy it instead", to.path());
            let reason = ErrorReason::Other(sentence);
            Err(Error::new(from.path(), "rename", reason))
        }
        Err(Errno::EXIST) => Err(Error::new(
            to.path(),
            "rename to",
            ErrorReason::AlreadyExists,
        )),
        Err(errno) => Err(Error::from_errno(from.path(), "rename", errno)),
    }
}

/// Renames unless the new name is taken: atomically where the kernel supports it, otherwise with a
/// check before. Another spelling of the same entry is not taken: see `is_same_entry`.
pub(super) fn rename_to_free_name(from: &PathAt, to: &PathAt) -> Result<(), Errno> {
    match from.rename_with(to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        Err(Errno::EXIST) if is_respelling(from, to) => return from.rename(to),
        other => return other,
    }
    if to.own_status().is_ok() && !is_respelling(from, to) {
        return Err(Errno::EXIST);
    }
    from.rename(to)
}

/// Returns whether both names lead to the same entry of one folder, on a volume that ignores case or
/// normalizes names.
fn is_respelling(from: &PathAt, to: &PathAt) -> bool {
    if from.path() == to.path() || from.path().parent() != to.path().parent() {
        return false;
    }
    let (Ok(old), Ok(new)) = (from.own_status(), to.own_status()) else {
        return false;
    };
    is_same_entry(
        &old,
        &new,
        to.name().file_name().unwrap_or_default(),
        || {
            let names = no_follow::entries(to.open_parent()?)?;
            Ok(names.into_iter().map(|entry| entry.name).collect())
        },
    )
}

/// Returns whether two names of one folder are spellings of one entry, given the metadata that each
/// leads to and the names that the folder stores.
fn is_same_entry(
    old: &FileStatus,
    new: &FileStatus,
    new_name: &OsStr,
    names: impl FnOnce() -> Result<Vec<OsString>, Errno>,
) -> bool {
    if !old.is_same_file(new) {
        return false;
    }
    // A folder has one name only; a file can have several, which then are stored as such.
    old.file_type.is_dir()
        || old.links == 1
        || names().is_ok_and(|names| names.iter().all(|name| name != new_name))
}

/// Copies a file, or a folder with its contents, to an unused name.
pub(super) fn copy(from: &PathAt, to: &PathAt) -> Result<(), Error> {
    if to.path().is_within(from.path()) && to.path() != from.path() {
        let reason = ErrorReason::Other(format!("{} lies inside it", to.path()));
        return Err(Error::new(from.path(), "copy", reason));
    }
    if to.own_status().is_ok() {
        return Err(Error::new(to.path(), "copy to", ErrorReason::AlreadyExists));
    }
    let failed = |errno| Error::from_errno(from.path(), "copy", errno);
    let status = from.own_status().map_err(failed)?;
    if !status.file_type.is_dir() {
        return copy_entry(from, to, status.file_type);
    }
    let source = no_follow::open_folder(from.folder(), from.name()).map_err(failed)?;
    let made = |errno| Error::from_errno(to.path(), "create the folder", errno);
    rustix::fs::mkdirat(to.folder(), to.name(), Mode::RWXU).map_err(made)?;
    let target = no_follow::open_folder(to.folder(), to.name()).map_err(made)?;
    let copied = CopiedFolder {
        from: from.path().clone(),
        to: to.path().clone(),
        source,
        target,
    };
    copied.copy_contents(status.mode)
}

/// A folder being copied: both sides are open, and all below is reached from them.
struct CopiedFolder {
    from: AbsPath,
    to: AbsPath,
    source: OwnedFd,
    target: OwnedFd,
}

impl CopiedFolder {
    /// Copies everything below the folder, then gives the folders their modes: one without write
    /// permission could not be filled otherwise.
    fn copy_contents(&self, mode: u32) -> Result<(), Error> {
        let mut folders = vec![(PathBuf::new(), mode)];
        let mut next = 0;
        while let Some((relative, _)) = folders.get(next).cloned() {
            next += 1;
            self.copy_level(&relative, &mut folders)?;
        }
        for (relative, mode) in folders.iter().rev() {
            let set = no_follow::open_folder_below(&self.target, relative).and_then(|folder| {
                retry(|| rustix::fs::fchmod(&folder, Mode::from_raw_mode(*mode as RawMode)))
            });
            let path = self.to.join(relative);
            set.map_err(|errno| Error::from_errno(&path, "set the permissions of", errno))?;
        }
        Ok(())
    }

    /// Copies the entries of one folder; its subfolders are created, and appended to `folders`.
    fn copy_level(&self, relative: &Path, folders: &mut Vec<(PathBuf, u32)>) -> Result<(), Error> {
        let (from, to) = (self.from.join(relative), self.to.join(relative));
        let read = |errno| Error::from_errno(&from, "list", errno);
        let made = |errno| Error::from_errno(&to, "create the folder", errno);
        let source = no_follow::open_folder_below(&self.source, relative).map_err(read)?;
        let target = no_follow::open_folder_below(&self.target, relative).map_err(made)?;
        let (source, target) = (Arc::new(source), Arc::new(target));
        for entry in no_follow::entries(&source).map_err(read)? {
            let one = PathAt::in_folder(source.clone(), &from.join(Path::new(&entry.name)));
            let two = PathAt::in_folder(target.clone(), &to.join(Path::new(&entry.name)));
            if !entry.kind.is_dir() {
                copy_entry(&one, &two, entry.kind)?;
                continue;
            }
            let status = one
                .own_status()
                .map_err(|errno| Error::from_errno(one.path(), "copy", errno))?;
            rustix::fs::mkdirat(two.folder(), two.name(), Mode::RWXU)
                .map_err(|errno| Error::from_errno(two.path(), "create the folder", errno))?;
            folders.push((relative.join(&entry.name), status.mode));
        }
        Ok(())
    }
}

fn copy_entry(from: &PathAt, to: &PathAt, file_type: FileType) -> Result<(), Error> {
    match file_type {
        FileType::Symlink => {
            let target = no_follow::read_link(from.folder(), from.name())
                .map_err(|errno| Error::from_errno(from.path(), "copy", errno))?;
            rustix::fs::symlinkat(target.as_slice(), to.folder(), to.name())
                .map_err(|errno| Error::from_errno(to.path(), "copy to", errno))
        }
        FileType::RegularFile => copy_file(from, to),
        other => Err(Error::new(
            from.path(),
            "copy",
            ErrorReason::NotAFile(kind_of(other)),
        )),
    }
}

fn copy_file(from: &PathAt, to: &PathAt) -> Result<(), Error> {
    let into = |errno| Error::from_errno(to.path(), "copy to", errno);
    let (mut source, status) = read::open(from, "copy")?;
    match system_calls::clone_file(&source, to) {
        Ok(()) => return Ok(()),
        Err(Errno::EXIST) => return Err(into(Errno::EXIST)),
        // The volume has no clones, or not to this place.
        Err(_) => {}
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let mut target = to.open(flags, Mode::from_raw_mode(0o666)).map_err(into)?;
    let copied = io::copy(&mut source, &mut target)
        .and_then(|_| target.set_permissions(Permissions::from_mode(status.mode)));
    copied.map_err(|error| {
        // A partial file under the final name would be taken for the whole.
        to.unlink().ok();
        Error::from_io(to.path(), "copy to", &error)
    })
}

pub(super) fn trash(path: &AbsPath) -> Result<(), Error> {
    let doing = "move to the trash";
    fs::symlink_metadata(path).map_err(|error| Error::from_io(path, doing, &error))?;
    system_calls::trash(path.as_path()).map_err(|error| {
        let sentence = format!("the trash refused it ({error}); delete it permanently instead");
        Error::new(path, doing, ErrorReason::Other(sentence))
    })
}

/// Removes a file, a link itself, or a folder with its contents.
pub(super) fn remove(at: &PathAt) -> Result<(), Error> {
    let failed = |errno| Error::from_errno(at.path(), "remove", errno);
    if !at.own_status().map_err(failed)?.file_type.is_dir() {
        return at.unlink().map_err(failed);
    }
    let folder = no_follow::open_folder(at.folder(), at.name()).map_err(failed)?;
    remove_contents(&folder).map_err(failed)?;
    rustix::fs::unlinkat(at.folder(), at.name(), AtFlags::REMOVEDIR).map_err(failed)
}

/// Removes everything below an open folder. Reaches each folder from the top, so that neither depth
/// nor a concurrent rename matters.
fn remove_contents(top: &OwnedFd) -> Result<(), Errno> {
    let mut folders = vec![PathBuf::new()];
    let mut next = 0;
    while let Some(relative) = folders.get(next).cloned() {
        next += 1;
        let folder = match no_follow::open_folder_below(top, &relative) {
            // Another process removed it.
            Err(Errno::NOENT) => continue,
            opened => opened?,
        };
        for entry in no_follow::entries(&folder)? {
            if entry.kind.is_dir() {
                folders.push(relative.join(&entry.name));
                continue;
            }
            match rustix::fs::unlinkat(&folder, &entry.name, AtFlags::empty()) {
                // Another process removed it.
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
    for relative in folders.iter().skip(1).rev() {
        let above = relative.parent().unwrap_or(Path::new(""));
        let name = relative.file_name().unwrap_or_default();
        let removed = no_follow::open_folder_below(top, above)
            .and_then(|above| rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR));
        match removed {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
