//! Saving so that a crash leaves exactly the old or exactly the new content.
//!
//! The usual method writes a temporary file in the same folder, syncs it, copies the old file's
//! metadata to it and renames it over the old one. If that would lose something (hard links, owner,
//! attributes) or is not permitted (the folder), `overwrite` writes in place.
//!
//! Invariant: until the new content is durable, nothing of the old file is touched.
//! Invariant: a failure removes the temporary file.

mod attributes;
mod metadata;
mod temp;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use base::{AbsPath, LogErr};
use rustix::fs::{Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use self::temp::Temp;
use crate::content_hash::ContentHash;
use crate::durability;
use crate::error::{Error, ErrorReason};
use crate::file_status::FileStatus;
use crate::files::{ExpectedContent, OnDisk, SaveMethod, SaveRequest, SaveResult};
use crate::path_at::PathAt;
use crate::real::{folder, overwrite, read};
use crate::stat::{FileKind, Stamp, Stat};
use crate::system_calls;

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
    pub(crate) at: PathAt,
    pub(crate) status: FileStatus,
    pub(crate) stat: Stat,
}

/// Saves a file, following links. Fails without touching the old file if it is not writable, not a
/// regular file or not as expected.
pub(super) fn save(request: &SaveRequest<'_>) -> Result<SaveResult, Error> {
    save_at(request, &PathAt::absolute(&resolve(request.path)?))
}

/// Saves to a path without links; a link at its last component is refused.
pub(super) fn save_at(request: &SaveRequest<'_>, target: &PathAt) -> Result<SaveResult, Error> {
    let Some(found) = find_existing(target)? else {
        return create(request, target);
    };
    refuse_unless_writable(&found)?;
    check_expected(request.expected, &found)?;
    match try_replace(request, &found)? {
        Some(saved) => Ok(saved),
        None => overwrite::overwrite(request, &found),
    }
}

/// Writes a private file of Burin's own through a temporary one.
pub(super) fn write_private(at: &PathAt, content: &[u8]) -> Result<(), Error> {
    let failed = |error: &io::Error| Error::from_io(at.path(), SAVE, error);
    let errno = |errno| Error::from_errno(at.path(), SAVE, errno);
    let mut temp = Temp::create(at, 0o600).map_err(errno)?;
    write_and_sync(&mut temp, content).map_err(|error| failed(&error))?;
    temp.at().rename(at).map_err(errno)?;
    temp.persist();
    durability::after_rename_at(temp.as_file(), at).map_err(|error| failed(&error))
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

fn find_existing(target: &PathAt) -> Result<Option<ExistingFile>, Error> {
    match target.own_status() {
        Ok(status) => Ok(Some(ExistingFile {
            at: target.clone(),
            stat: target.stat_of(&status),
            status,
        })),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(Error::from_errno(target.path(), SAVE, errno)),
    }
}

/// Fails with `NotAFile` for anything but a regular file, with `ReadOnly` if no write bit is set,
/// and with the system's reason if this process may not write the file.
fn refuse_unless_writable(found: &ExistingFile) -> Result<(), Error> {
    let refused = |reason| Err(Error::new(found.at.path(), SAVE, reason));
    let kind = found.status.kind();
    if kind != FileKind::File {
        return refused(ErrorReason::NotAFile(kind));
    }
    // Renaming over it would work, but the missing write bit is deliberate.
    if found.stat.mode & 0o222 == 0 {
        return refused(ErrorReason::ReadOnly);
    }
    match found.at.check_writable() {
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
            found.at.path(),
            SAVE,
            ErrorReason::ChangedOnDisk { now },
        ))
    };
    match expected {
        ExpectedContent::Anything => Ok(()),
        ExpectedContent::Absent => Err(Error::new(
            found.at.path(),
            SAVE,
            ErrorReason::AlreadyExists,
        )),
        ExpectedContent::Unchanged(known) => {
            let stamp = found.stat.stamp;
            if stamp.size != known.stamp.size {
                return changed();
            }
            if stamp == known.stamp && stamp.size > ALWAYS_COMPARED {
                return Ok(());
            }
            match read::read_whole(&found.at, stamp.size) {
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

fn create(request: &SaveRequest<'_>, target: &PathAt) -> Result<SaveResult, Error> {
    if matches!(request.expected, ExpectedContent::Unchanged(_)) {
        return Err(changed_on_disk(target));
    }
    let failed = |errno| Error::from_errno(target.path(), SAVE, errno);
    let mut temp = Temp::create(target, 0o666).map_err(failed)?;
    let stamp = write_and_sync(&mut temp, request.content)
        .map_err(|error| Error::from_io(target.path(), SAVE, &error))?;
    match folder::rename_to_free_name(temp.at(), target) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Err(changed_on_disk(target)),
        Err(errno) => return Err(failed(errno)),
    }
    temp.persist();
    let confirmed = durability::after_rename_at(temp.as_file(), target);
    Ok(saved(
        request,
        target,
        stamp,
        SaveMethod::Created,
        confirmed,
    ))
}

/// Saves through a temporary file; returns `None` if only overwriting in place preserves
/// everything.
fn try_replace(
    request: &SaveRequest<'_>,
    found: &ExistingFile,
) -> Result<Option<SaveResult>, Error> {
    if found.status.links > 1 {
        return Ok(None);
    }
    let Some(old) = open_old(found) else {
        return Ok(None);
    };
    let target = stored(found, system_calls::stored_name(&old).as_deref());
    let failed = |error: &io::Error| Error::from_io(target.path(), SAVE, error);
    let mut temp = match Temp::create(&target, 0o600) {
        Ok(temp) => temp,
        Err(errno) if is_forbidden(errno) => return Ok(None),
        Err(errno) => return Err(Error::from_errno(target.path(), SAVE, errno)),
    };
    if !metadata::keep_owner(&temp, found).map_err(|error| failed(&error))? {
        return Ok(None);
    }
    write(&mut temp, request.content).map_err(|error| failed(&error))?;
    // Follows the write, which clears set-user-id bits and capabilities.
    if !metadata::keep_rest(&temp, &old, found).map_err(|error| failed(&error))? {
        return Ok(None);
    }
    let stamp = sync(&mut temp).map_err(|error| failed(&error))?;
    if request.expected != ExpectedContent::Anything {
        check_unchanged(found)?;
    }
    let new = match put_in_place(temp, request, found, &target) {
        Ok(new) => new,
        // Another user's file in a sticky folder, or a file that is a mount point.
        Err(ReplaceFailure::Forbidden) => return Ok(None),
        Err(ReplaceFailure::Failed(error)) => return Err(error),
    };
    let confirmed = durability::after_rename_at(&new, &target);
    Ok(Some(saved(
        request,
        &target,
        stamp,
        SaveMethod::Replaced,
        confirmed,
    )))
}

/// Opens the file for its metadata: for reading, or for writing if it is unreadable. Returns `None`
/// if it cannot be opened or was replaced by another file.
fn open_old(found: &ExistingFile) -> Option<File> {
    let open = |flags: OFlags| found.at.open(flags | OFlags::NOFOLLOW, Mode::empty());
    let file = match open(OFlags::RDONLY) {
        Err(Errno::ACCESS) => open(OFlags::WRONLY),
        other => other,
    }
    .ok()?;
    let own = FileStatus::of(&file).ok()?;
    own.is_same_file(&found.status).then_some(file)
}

/// Returns the file's path with the name that the volume stores, which the save keeps: on a volume
/// that ignores case, a rename would replace it by the spelling of the request.
fn stored(found: &ExistingFile, name: Option<&OsStr>) -> PathAt {
    match name {
        Some(name) if found.at.name().file_name() != Some(name) => {
            let stored = found.at.sibling(name);
            // It is the same file under another spelling, since it has only one link; otherwise it
            // was moved.
            let is_same = stored
                .own_status()
                .is_ok_and(|status| status.is_same_file(&found.status));
            if is_same { stored } else { found.at.clone() }
        }
        _ => found.at.clone(),
    }
}

enum ReplaceFailure {
    Forbidden,
    Failed(Error),
}

/// Renames the temporary file over the old one, and returns it open. If the kernel can exchange the
/// two, the old file is checked once more afterwards: a concurrent change is restored.
fn put_in_place(
    mut temp: Temp,
    request: &SaveRequest<'_>,
    found: &ExistingFile,
    target: &PathAt,
) -> Result<File, ReplaceFailure> {
    let refused = |errno| match errno {
        Errno::PERM | Errno::ACCESS | Errno::BUSY | Errno::XDEV => ReplaceFailure::Forbidden,
        other => ReplaceFailure::Failed(Error::from_errno(target.path(), SAVE, other)),
    };
    let new = (temp.as_file().try_clone())
        .map_err(|error| ReplaceFailure::Failed(Error::from_io(target.path(), SAVE, &error)))?;
    let exchanged = match request.expected {
        ExpectedContent::Anything => Err(Errno::NOSYS),
        ExpectedContent::Unchanged(_) | ExpectedContent::Absent => {
            temp.at().rename_with(target, RenameFlags::EXCHANGE)
        }
    };
    match exchanged {
        Ok(()) => {}
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            temp.at().rename(target).map_err(refused)?;
            temp.persist();
            return Ok(new);
        }
        Err(errno) => return Err(refused(errno)),
    }
    let is_ours = (temp.at().own_status()).is_ok_and(|now| now.stamp() == found.stat.stamp);
    if !is_ours {
        if let Err(errno) = temp.at().rename_with(target, RenameFlags::EXCHANGE) {
            // The other program's version stays under the temporary name rather than being lost.
            temp.persist();
            return Err(refused(errno));
        }
        return Err(ReplaceFailure::Failed(changed_on_disk(target)));
    }
    // The temporary name now refers to the old file; dropping `temp` removes it.
    Ok(new)
}

/// Fails with `ChangedOnDisk` if the file is gone or its stamp differs from the one found before.
fn check_unchanged(found: &ExistingFile) -> Result<(), Error> {
    let now = find_existing(&found.at)?;
    match now {
        Some(now) if now.stat.stamp == found.stat.stamp => Ok(()),
        other => {
            let now = other.map(|now| now.stat);
            Err(Error::new(
                found.at.path(),
                SAVE,
                ErrorReason::ChangedOnDisk { now },
            ))
        }
    }
}

fn changed_on_disk(target: &PathAt) -> Error {
    let now = find_existing(target).ok().flatten().map(|found| found.stat);
    Error::new(target.path(), SAVE, ErrorReason::ChangedOnDisk { now })
}

fn is_forbidden(errno: Errno) -> bool {
    matches!(errno, Errno::ACCESS | Errno::PERM | Errno::ROFS)
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
    durability::before_rename(temp.as_file())?;
    Ok(FileStatus::of(temp.as_file())?.stamp())
}

fn saved(
    request: &SaveRequest<'_>,
    target: &PathAt,
    stamp: Stamp,
    method: SaveMethod,
    confirmed: io::Result<()>,
) -> SaveResult {
    SaveResult {
        on_disk: OnDisk {
            stamp,
            hash: ContentHash::of(request.content),
        },
        method,
        unconfirmed: confirmed
            .map_err(|error| Error::from_io(target.path(), "confirm the save of", &error))
            .err(),
    }
}

/// Removes the temporary file.
fn remove_temp(at: &PathAt) {
    match at.unlink() {
        Ok(()) | Err(Errno::NOENT) => {}
        // The next save or sweep finds it again.
        other => {
            other.log_err();
        }
    }
}

#[cfg(test)]
mod tests;
