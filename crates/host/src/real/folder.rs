//! Listing, renaming, copying and removing folders.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};

use base::AbsPath;
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;

use crate::error::{Error, ErrorReason};
use crate::listing::{ListedEntry, Listing};
use crate::real::{is_broken_link, kind_of, read, retry};
use crate::stat::FileKind;

/// Lists a folder, sorted by path. Entries that cannot be examined become problems; fails only if
/// the folder cannot be opened.
pub(super) fn list(path: &AbsPath) -> Result<Listing, Error> {
    let doing = "list";
    let entries = fs::read_dir(path).map_err(|error| Error::from_io(path, doing, &error))?;
    let mut listing = Listing::default();
    for entry in entries {
        match entry {
            Ok(entry) => look_at(path.join(entry.file_name()), &entry, &mut listing),
            // The rest of the folder may still be readable, but a reader that failed once can fail
            // forever.
            Err(error) => {
                listing.problems.push(Error::from_io(path, doing, &error));
                break;
            }
        }
    }
    listing.entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

fn look_at(path: AbsPath, entry: &fs::DirEntry, listing: &mut Listing) {
    let kind = match entry.file_type() {
        Ok(kind) => kind,
        Err(error) => {
            listing
                .problems
                .push(Error::from_io(&path, "look at", &error));
            return;
        }
    };
    let is_link = kind.is_symlink();
    let kind = match is_link.then(|| fs::metadata(&path)) {
        None => kind_of(kind),
        Some(Ok(target)) => kind_of(target.file_type()),
        Some(Err(error)) => {
            if !is_broken_link(&error) {
                listing
                    .problems
                    .push(Error::from_io(&path, "look at", &error));
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

/// Renames a file or folder to a name on the same volume. Fails with `AlreadyExists` if that name
/// is taken.
pub(super) fn rename(from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
    match rename_to_free_name(from, to) {
        Ok(()) => Ok(()),
        Err(Errno::XDEV) => {
            let reason = ErrorReason::Other(format!("{to} is on another volume; copy it instead"));
            Err(Error::new(from, "rename", reason))
        }
        Err(Errno::EXIST) => Err(Error::new(to, "rename to", ErrorReason::AlreadyExists)),
        Err(errno) => Err(Error::from_errno(from, "rename", errno)),
    }
}

/// Renames unless the new name is taken: atomically where the kernel supports it, otherwise with a
/// check before.
pub(super) fn rename_to_free_name(from: &AbsPath, to: &AbsPath) -> Result<(), Errno> {
    let (from, to) = (from.as_path(), to.as_path());
    match retry(|| rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        other => return other,
    }
    match fs::symlink_metadata(to) {
        Ok(_) => Err(Errno::EXIST),
        Err(_) => retry(|| rustix::fs::rename(from, to)),
    }
}

/// Copies a file, a link itself, or a folder with its contents. Fails with `AlreadyExists` if `to`
/// exists, and also if `to` lies inside `from`.
pub(super) fn copy(from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
    if to.is_within(from) && to != from {
        let reason = ErrorReason::Other(format!("{to} lies inside it"));
        return Err(Error::new(from, "copy", reason));
    }
    if fs::symlink_metadata(to).is_ok() {
        return Err(Error::new(to, "copy to", ErrorReason::AlreadyExists));
    }
    copy_one(from, to)
}

/// Copies a file, a link itself, or a folder with its contents to an unused path. Fails with
/// `NotAFile` for a pipe, socket or device. Recursive: as deep as the folders, and the system
/// limits a path to 4,096 bytes.
fn copy_one(from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
    let failed = |error: &io::Error| Error::from_io(from, "copy", error);
    let metadata = fs::symlink_metadata(from).map_err(|error| failed(&error))?;
    let kind = metadata.file_type();
    if kind.is_symlink() {
        let target = fs::read_link(from).map_err(|error| failed(&error))?;
        return symlink(target, to).map_err(|error| Error::from_io(to, "copy to", &error));
    }
    match kind_of(kind) {
        FileKind::File => copy_file(from, to),
        FileKind::Folder => copy_folder(from, to, metadata.permissions().mode()),
        other => Err(Error::new(from, "copy", ErrorReason::NotAFile(other))),
    }
}

/// Copies a file with its permissions to an unused path. If that fails midway, the incomplete copy
/// is removed.
fn copy_file(from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
    let into = |error: &io::Error| Error::from_io(to, "copy to", error);
    let mut source = read::open(from, "copy")?;
    let mode = source
        .metadata()
        .map_err(|error| Error::from_io(from, "copy", &error))?
        .permissions();
    let mut target = fs::File::create_new(to).map_err(|error| into(&error))?;
    let copied = io::copy(&mut source, &mut target).and_then(|_| target.set_permissions(mode));
    copied.map_err(|error| {
        // A partial file under the final name would be taken for the whole.
        fs::remove_file(to).ok();
        into(&error)
    })
}

/// Copies a folder with its contents to an unused path and gives it the permissions `mode` last. If
/// that fails midway, the incomplete copy stays.
fn copy_folder(from: &AbsPath, to: &AbsPath, mode: u32) -> Result<(), Error> {
    fs::DirBuilder::new()
        .mode(0o700)
        .create(to)
        .map_err(|error| Error::from_io(to, "create the folder", &error))?;
    let mut listing = list(from)?;
    if let Some(problem) = listing.problems.pop() {
        return Err(problem);
    }
    for entry in &listing.entries {
        copy_one(
            &entry.path,
            &to.join(entry.path.as_path().file_name().unwrap_or_default()),
        )?;
    }
    fs::set_permissions(to, fs::Permissions::from_mode(mode & 0o7777))
        .map_err(|error| Error::from_io(to, "set the permissions of", &error))
}

/// Moves a file, a link itself, or a folder to the system's trash. Fails if it does not exist or
/// the trash does not take it.
pub(super) fn trash(path: &AbsPath) -> Result<(), Error> {
    let doing = "move to the trash";
    fs::symlink_metadata(path).map_err(|error| Error::from_io(path, doing, &error))?;
    trash::delete(path).map_err(|error| {
        let sentence = format!("the trash refused it ({error}); delete it for good instead");
        Error::new(path, doing, ErrorReason::Other(sentence))
    })
}

/// Deletes a file, a link itself, or a folder with its contents. Fails if it does not exist.
pub(super) fn remove(path: &AbsPath) -> Result<(), Error> {
    let failed = |error: &io::Error| Error::from_io(path, "remove", error);
    let metadata = fs::symlink_metadata(path).map_err(|error| failed(&error))?;
    let removed = if metadata.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    removed.map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests;
