//! Saving so that a crash leaves exactly the old or exactly the new content.
//!
//! The usual method writes a temporary file in the same folder, syncs it, copies the old file's
//! metadata to it and renames it over the old one. If that would lose something (hard links, owner,
//! attributes) or is not permitted (the folder), `overwrite` writes in place.
//!
//! Invariant: until the new content is durable, nothing of the old file is touched.
//! Invariant: a failure removes the temporary file.

mod metadata;
mod temp;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use base::{AbsPath, LogErr};
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;

use self::temp::Temp;
use crate::content_hash::ContentHash;
use crate::error::{Error, ErrorReason};
use crate::files::{ExpectedContent, OnDisk, SaveMethod, SaveRequest, SaveResult};
use crate::real::{
    folder, kind_of, overwrite, parent_of, read, retry, stamp_of, stat_of, sync_folder,
};
use crate::stat::{FileKind, Stamp, Stat};

pub use self::temp::is_temp_name;
pub(super) use self::temp::sweep;

const SAVE: &str = "save";
/// Up to this many bytes the content itself is compared before it is replaced, since two changes
/// within one tick of the file system's clock have the same time. Larger files are compared only if
/// the stamp differs.
const ALWAYS_COMPARED: u64 = 1 << 20;
/// The kernel's own limit.
const MAX_LINKS: usize = 40;

/// The file to be replaced, as it was found.
pub(crate) struct ExistingFile {
    pub(crate) path: AbsPath,
    pub(crate) metadata: fs::Metadata,
    pub(crate) stat: Stat,
}

/// Saves a file, following links. Fails without touching the old file if it is not writable, not a
/// regular file or not as expected.
pub(super) fn save(request: &SaveRequest<'_>) -> Result<SaveResult, Error> {
    let target = resolve(request.path)?;
    match find_existing(&target)? {
        None => create(request, &target),
        Some(found) => {
            refuse_unless_writable(&found)?;
            check_expected(request.expected, &found)?;
            replace(request, &found)
        }
    }
}

/// Like `save`, for a name in an open folder: `target` is that name through the folder's handle. A
/// link at that name is refused. The request's path is the same without the handle.
pub(super) fn save_at(request: &SaveRequest<'_>, target: &AbsPath) -> Result<SaveResult, Error> {
    let Some(found) = find_existing(target)? else {
        return create(request, target);
    };
    refuse_unless_writable(&found)?;
    check_expected(request.expected, &found)?;
    if let Some(saved) = try_replace(request, &found)? {
        return Ok(saved);
    }
    // Uses the permanent path, since the record outlives the handle; it is opened only if it is
    // still the same file.
    let found = ExistingFile {
        path: request.path.clone(),
        ..found
    };
    overwrite::overwrite(request, &found)
}

/// Writes a private file of Burin's own through a temporary one.
pub(super) fn write_private(path: &AbsPath, content: &[u8]) -> Result<(), Error> {
    let failed = |error: &io::Error| Error::from_io(path, SAVE, error);
    let mut temp = Temp::create(path, 0o600).map_err(|error| failed(&error))?;
    write_and_sync(&mut temp, content).map_err(|error| failed(&error))?;
    rustix::fs::rename(temp.path().as_path(), path.as_path())
        .map_err(|errno| Error::from_errno(path, SAVE, errno))?;
    temp.persist();
    sync_folder(parent_of(path).as_path()).map_err(|error| failed(&error))
}

/// Follows links to the name to write, which need not exist.
fn resolve(path: &AbsPath) -> Result<AbsPath, Error> {
    let failed = |error: &io::Error| Error::from_io(path, SAVE, error);
    let absolute = |real: PathBuf| {
        AbsPath::new(&real)
            .ok_or_else(|| Error::new(path, SAVE, ErrorReason::Other(real.display().to_string())))
    };
    match fs::canonicalize(path) {
        Ok(real) => return absolute(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(&error)),
    }
    // A new file, possibly behind a link whose target does not exist yet.
    let mut name = path.as_path().to_path_buf();
    for _ in 0..MAX_LINKS {
        let (Some(folder), Some(last)) = (name.parent(), name.file_name()) else {
            return absolute(name);
        };
        let folder = fs::canonicalize(folder).map_err(|error| failed(&error))?;
        let candidate = folder.join(last);
        match fs::read_link(&candidate) {
            Ok(link) => name = folder.join(link),
            Err(_) => return absolute(candidate),
        }
    }
    Err(Error::new(path, SAVE, ErrorReason::LinkLoop))
}

/// Returns the entry at a path, without following a link at its end; `None` if there is none.
fn find_existing(target: &AbsPath) -> Result<Option<ExistingFile>, Error> {
    match fs::symlink_metadata(target) {
        Ok(metadata) => Ok(Some(ExistingFile {
            path: target.clone(),
            stat: stat_of(target, &metadata),
            metadata,
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::from_io(target, SAVE, &error)),
    }
}

/// Fails with `NotAFile` for anything but a regular file, with `ReadOnly` if no write bit is set,
/// and with the system's reason if this process may not write the file.
fn refuse_unless_writable(found: &ExistingFile) -> Result<(), Error> {
    let refused = |reason| Err(Error::new(&found.path, SAVE, reason));
    let kind = kind_of(found.metadata.file_type());
    if kind != FileKind::File {
        return refused(ErrorReason::NotAFile(kind));
    }
    // Renaming over it would work, but the missing write bit is deliberate.
    if found.stat.mode & 0o222 == 0 {
        return refused(ErrorReason::ReadOnly);
    }
    match rustix::fs::access(found.path.as_path(), rustix::fs::Access::WRITE_OK) {
        Ok(()) => Ok(()),
        Err(errno) => refused(ErrorReason::from_errno(errno)),
    }
}

/// Fails with `AlreadyExists` or `ChangedOnDisk` if the file is not as expected. Compares the
/// content if it is short (`ALWAYS_COMPARED`) or has the same length with another stamp.
fn check_expected(expected: ExpectedContent, found: &ExistingFile) -> Result<(), Error> {
    let changed = || {
        let now = Some(found.stat.clone());
        Err(Error::new(
            &found.path,
            SAVE,
            ErrorReason::ChangedOnDisk { now },
        ))
    };
    match expected {
        ExpectedContent::Anything => Ok(()),
        ExpectedContent::Absent => Err(Error::new(&found.path, SAVE, ErrorReason::AlreadyExists)),
        ExpectedContent::Unchanged(known) => {
            let stamp = found.stat.stamp;
            if stamp.size != known.stamp.size {
                return changed();
            }
            if stamp == known.stamp && stamp.size > ALWAYS_COMPARED {
                return Ok(());
            }
            match read::read_whole(&found.path, stamp.size) {
                Ok((content, _)) if ContentHash::of(&content) == known.hash => Ok(()),
                Ok(_) => changed(),
                Err(error) if matches!(error.reason, ErrorReason::TooLarge { .. }) => changed(),
                // The file is writable but not readable, so only the stamp can be compared.
                Err(_) if stamp == known.stamp => Ok(()),
                Err(_) => changed(),
            }
        }
    }
}

/// Creates a file that does not exist. Fails with `ChangedOnDisk` if it was expected to exist or
/// appears meanwhile.
fn create(request: &SaveRequest<'_>, target: &AbsPath) -> Result<SaveResult, Error> {
    if matches!(request.expected, ExpectedContent::Unchanged(_)) {
        return Err(changed_on_disk(target));
    }
    let failed = |error: &io::Error| Error::from_io(target, SAVE, error);
    let mut temp = Temp::create(target, 0o666).map_err(|error| failed(&error))?;
    let stamp = write_and_sync(&mut temp, request.content).map_err(|error| failed(&error))?;
    match folder::rename_to_free_name(temp.path(), target) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Err(changed_on_disk(target)),
        Err(errno) => return Err(Error::from_errno(target, SAVE, errno)),
    }
    temp.persist();
    Ok(saved(request, target, stamp, SaveMethod::Created))
}

/// Replaces an existing file through a temporary one or, if that would lose something, in place.
fn replace(request: &SaveRequest<'_>, found: &ExistingFile) -> Result<SaveResult, Error> {
    match try_replace(request, found)? {
        Some(saved) => Ok(saved),
        None => overwrite::overwrite(request, found),
    }
}

/// Saves through a temporary file; returns `None` if only overwriting in place preserves
/// everything.
fn try_replace(
    request: &SaveRequest<'_>,
    found: &ExistingFile,
) -> Result<Option<SaveResult>, Error> {
    if found.metadata.nlink() > 1 {
        return Ok(None);
    }
    let failed = |error: &io::Error| Error::from_io(&found.path, SAVE, error);
    let mut temp = match Temp::create(&found.path, 0o600) {
        Ok(temp) => temp,
        Err(error) if is_forbidden(&error) => return Ok(None),
        Err(error) => return Err(failed(&error)),
    };
    if !metadata::keep_owner(&temp, found).map_err(|error| failed(&error))? {
        return Ok(None);
    }
    write(&mut temp, request.content).map_err(|error| failed(&error))?;
    // Follows the write, which clears set-user-id bits and capabilities.
    if !metadata::keep_rest(&temp, found).map_err(|error| failed(&error))? {
        return Ok(None);
    }
    let stamp = sync(&mut temp).map_err(|error| failed(&error))?;
    if request.expected != ExpectedContent::Anything {
        check_unchanged(found)?;
    }
    match put_in_place(temp, request, found) {
        Ok(()) => Ok(Some(saved(
            request,
            &found.path,
            stamp,
            SaveMethod::Replaced,
        ))),
        // Another user's file in a sticky folder, or a file that is a mount point.
        Err(ReplaceFailure::Forbidden) => Ok(None),
        Err(ReplaceFailure::Failed(error)) => Err(error),
    }
}

enum ReplaceFailure {
    Forbidden,
    Failed(Error),
}

/// Renames the temporary file over the old one. If the kernel can exchange the two, the old file is
/// checked once more afterwards: a concurrent change is restored.
fn put_in_place(
    mut temp: Temp,
    request: &SaveRequest<'_>,
    found: &ExistingFile,
) -> Result<(), ReplaceFailure> {
    let (new, old) = (temp.path().clone(), &found.path);
    let (new, old) = (new.as_path(), old.as_path());
    let refused = |errno| match errno {
        Errno::PERM | Errno::ACCESS | Errno::BUSY | Errno::XDEV => ReplaceFailure::Forbidden,
        other => ReplaceFailure::Failed(Error::from_errno(&found.path, SAVE, other)),
    };
    let exchange =
        || retry(|| rustix::fs::renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE));
    let exchanged = match request.expected {
        ExpectedContent::Anything => Err(Errno::NOSYS),
        ExpectedContent::Unchanged(_) | ExpectedContent::Absent => exchange(),
    };
    match exchanged {
        Ok(()) => {}
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            retry(|| rustix::fs::rename(new, old)).map_err(refused)?;
            temp.persist();
            return Ok(());
        }
        Err(errno) => return Err(refused(errno)),
    }
    let is_ours =
        fs::symlink_metadata(new).is_ok_and(|metadata| stamp_of(&metadata) == found.stat.stamp);
    if !is_ours {
        if let Err(errno) = exchange() {
            // The other program's version stays under the temporary name rather than being lost.
            temp.persist();
            return Err(refused(errno));
        }
        return Err(ReplaceFailure::Failed(changed_on_disk(&found.path)));
    }
    // The temporary name now refers to the old file; dropping `temp` removes it.
    Ok(())
}

/// Fails with `ChangedOnDisk` if the file is gone or its stamp differs from the one found before.
fn check_unchanged(found: &ExistingFile) -> Result<(), Error> {
    let now = find_existing(&found.path)?;
    match now {
        Some(now) if now.stat.stamp == found.stat.stamp => Ok(()),
        other => {
            let now = other.map(|now| now.stat);
            Err(Error::new(
                &found.path,
                SAVE,
                ErrorReason::ChangedOnDisk { now },
            ))
        }
    }
}

fn changed_on_disk(target: &AbsPath) -> Error {
    let now = find_existing(target).ok().flatten().map(|found| found.stat);
    Error::new(target, SAVE, ErrorReason::ChangedOnDisk { now })
}

/// Returns whether an error means missing permission or a read-only volume.
fn is_forbidden(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::ACCESS | Errno::PERM | Errno::ROFS))
}

/// Writes the content, makes it durable and returns the file's stamp.
fn write_and_sync(temp: &mut Temp, content: &[u8]) -> io::Result<Stamp> {
    write(temp, content)?;
    sync(temp)
}

/// Writes the content at the current position of the temporary file.
fn write(temp: &mut Temp, content: &[u8]) -> io::Result<()> {
    // Continues after interruptions and short writes.
    temp.file().write_all(content)
}

/// Makes the temporary file durable and returns its stamp.
fn sync(temp: &mut Temp) -> io::Result<Stamp> {
    temp.file().sync_all()?;
    Ok(stamp_of(&temp.file().metadata()?))
}

fn saved(request: &SaveRequest<'_>, target: &AbsPath, stamp: Stamp, way: SaveMethod) -> SaveResult {
    let synced = sync_folder(parent_of(target).as_path());
    SaveResult {
        on_disk: OnDisk {
            stamp,
            hash: ContentHash::of(request.content),
        },
        method: way,
        unconfirmed: synced
            .map_err(|error| Error::from_io(target, "confirm the save of", &error))
            .err(),
    }
}

/// Removes the temporary file.
fn remove_temp(path: &AbsPath) {
    match rustix::fs::unlink(path.as_path()) {
        Ok(()) | Err(Errno::NOENT) => {}
        // The next save or sweep finds it again.
        other => {
            other.log_err();
        }
    }
}

#[cfg(test)]
mod tests;
