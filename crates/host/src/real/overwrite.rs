//! Overwriting a file in place, and finishing a save that a crash cut short.
//!
//! Before the first byte is written, a record with both contents is made durable in a private
//! folder. It is removed once the new content is durable. A record found at the next start shows
//! what was in progress: the file is compared with both contents, and a mixture that only our own
//! write can have produced is finished.
//!
//! Invariant: the file is truncated to its new length last, so that no old content is lost early.
//! Invariant: a record is locked while its save is in progress; other processes leave it alone.

mod record;

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};

use base::{AbsPath, LogErr};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

pub(crate) use self::record::OverwriteRecord;

use super::{ExistingFile, read_whole};
use crate::content_hash::ContentHash;
use crate::durability;
use crate::error::{Error, ErrorReason};
use crate::file_status::FileStatus;
use crate::files::{
    ExpectedContent, InterruptedSave, InterruptedSaveState, OnDisk, SaveMethod, SaveRequest,
    SaveResult,
};
use crate::path_at::PathAt;
use crate::stat::Stamp;
use crate::system_calls;

const SAVE: &str = "save";
/// The smallest part of a file that a disk writes atomically, in bytes.
const SECTOR: usize = 512;

/// Overwrites the file in place after its record is durable.
pub(crate) fn overwrite(
    request: &SaveRequest<'_>,
    found: &ExistingFile,
) -> Result<SaveResult, Error> {
    let failed = |error: &io::Error| Error::from_io(found.at.path(), SAVE, error);
    let file = open_for_writing(&found.at)
        .map_err(|errno| Error::from_errno(found.at.path(), SAVE, errno))?;
    let old = read_old(request, found)?;
    let record = OverwriteRecord::write(request, found, old.as_deref())?;
    if let Err(error) = prepare(&file, request, found) {
        record.remove();
        return Err(error);
    }
    if let Err(error) = write_over(&file, request.content) {
        return Err(give_back(&file, old.as_deref(), &record, failed(&error)));
    }
    restore_mode(&file, found);
    record.remove();
    Ok(saved(request, found, FileStatus::of(&file)))
}

/// Checks the file once more and reserves space before the first byte is written.
fn prepare(file: &File, request: &SaveRequest<'_>, found: &ExistingFile) -> Result<(), Error> {
    let path = found.at.path();
    let now = FileStatus::of(file).map_err(|errno| Error::from_errno(path, SAVE, errno))?;
    if now.stamp() != found.stat.stamp {
        let now = Some(found.at.stat_of(&now));
        return Err(Error::new(path, SAVE, ErrorReason::ChangedOnDisk { now }));
    }
    reserve(file, now.size, request.content.len() as u64).map_err(|error| {
        // Releases the space that was reserved.
        file.set_len(now.size).log_err();
        Error::from_io(path, SAVE, &error)
    })
}

fn saved(
    request: &SaveRequest<'_>,
    found: &ExistingFile,
    now: Result<FileStatus, Errno>,
) -> SaveResult {
    let (stamp, unconfirmed) = match now {
        Ok(now) => (now.stamp(), None),
        Err(errno) => {
            // If this stamp differs, the next save compares the bytes, which requires the right
            // length.
            let stamp = Stamp {
                size: request.content.len() as u64,
                ..found.stat.stamp
            };
            let doing = "confirm the save of";
            (
                stamp,
                Some(Error::from_errno(found.at.path(), doing, errno)),
            )
        }
    };
    SaveResult {
        on_disk: OnDisk {
            stamp,
            hash: ContentHash::of(request.content),
        },
        method: SaveMethod::Overwritten,
        unconfirmed,
    }
}

/// Examines every record of a dead process in `folder`. See `Files::interrupted`.
pub(crate) fn interrupted(folder: &AbsPath) -> (Vec<InterruptedSave>, Vec<Error>) {
    let mut problems = Vec::new();
    let records = match record::left_over(folder, &mut problems) {
        Ok(records) => records,
        Err(error) if error.is_not_found() => return (Vec::new(), problems),
        Err(error) => return (Vec::new(), vec![error]),
    };
    let interrupted = records.into_iter().filter_map(recover).collect();
    (interrupted, problems)
}

/// Finishes an interrupted save if possible and returns its outcome; `None` if the file has exactly
/// its old or its new content. The record is removed for `None` and for `Finished`.
fn recover(found: record::LeftoverRecord) -> Option<InterruptedSave> {
    let state = match state_of(&found) {
        Some(InterruptedSaveState::Finished) => {
            found.remove();
            InterruptedSaveState::Finished
        }
        Some(state) => state,
        None => {
            found.remove();
            return None;
        }
    };
    Some(InterruptedSave {
        target: found.target,
        new: found.new,
        old: found.old,
        state,
        record: found.path,
    })
}

/// Returns the state of an interrupted save, and finishes it if its file is torn. `None` if the
/// file has exactly its old or its new content.
fn state_of(found: &record::LeftoverRecord) -> Option<InterruptedSaveState> {
    let (now, stat) = match read_whole(&PathAt::absolute(&found.target), u64::MAX - 1) {
        Ok(read) => read,
        Err(error) if error.is_not_found() => return Some(InterruptedSaveState::Gone),
        Err(error) => return Some(InterruptedSaveState::Torn(error)),
    };
    let old = found.old.as_deref();
    if now == found.new || Some(now.as_slice()) == old {
        return None;
    }
    let is_same_file = (stat.stamp.device, stat.stamp.inode) == (found.device, found.inode);
    let is_torn = is_same_file && old.is_some_and(|old| is_mixture(&now, old, &found.new));
    if !is_torn {
        return Some(InterruptedSaveState::ChangedSince);
    }
    let finished = open_for_writing(&PathAt::absolute(&found.target))
        .map_err(io::Error::from)
        .and_then(|file| write_over(&file, &found.new));
    Some(match finished {
        Ok(()) => InterruptedSaveState::Finished,
        Err(error) => InterruptedSaveState::Torn(Error::from_io(&found.target, SAVE, &error)),
    })
}

/// Returns whether `now` can result from an interrupted write of `new` over `old`: a prefix of one
/// with the rest of the other, or sectors of either.
fn is_mixture(now: &[u8], old: &[u8], new: &[u8]) -> bool {
    if now.len() < old.len().min(new.len()) || now.len() > old.len().max(new.len()) {
        return false;
    }
    let common = now.iter().zip(new).take_while(|(a, b)| a == b).count();
    if now.get(common..) == old.get(common..) || (common == now.len() && common >= old.len()) {
        return true;
    }
    now.chunks(SECTOR).enumerate().all(|(ix, sector)| {
        let place = ix * SECTOR..ix * SECTOR + sector.len();
        Some(sector) == old.get(place.clone()) || Some(sector) == new.get(place)
    })
}

fn open_for_writing(at: &PathAt) -> Result<File, Errno> {
    at.open(OFlags::WRONLY | OFlags::NOFOLLOW, Mode::empty())
}

/// Reads the old content; returns `None` if the file may be written but not read.
fn read_old(request: &SaveRequest<'_>, found: &ExistingFile) -> Result<Option<Vec<u8>>, Error> {
    let content = match read_whole(&found.at, u64::MAX - 1) {
        Ok((content, _)) => content,
        Err(error) if error.reason == ErrorReason::PermissionDenied => return Ok(None),
        Err(error) => return Err(error),
    };
    match request.expected {
        ExpectedContent::Unchanged(known) if ContentHash::of(&content) != known.hash => {
            let now = Some(found.stat.clone());
            Err(Error::new(
                found.at.path(),
                SAVE,
                ErrorReason::ChangedOnDisk { now },
            ))
        }
        _ => Ok(Some(content)),
    }
}

/// Reserves the space for a longer content before anything is written.
fn reserve(file: &File, old_length: u64, new_length: u64) -> io::Result<()> {
    let Some(more) = new_length.checked_sub(old_length).filter(|more| *more > 0) else {
        return Ok(());
    };
    match system_calls::reserve(file, old_length, more) {
        Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO) => {
            Err(io::Error::from(Errno::NOSPC))
        }
        // Most other errors mean that the volume does not support the call.
        _ => Ok(()),
    }
}

fn write_over(file: &File, content: &[u8]) -> io::Result<()> {
    file.write_all_at(content, 0)?;
    // Done last, even if the file grew: this releases space reserved beyond the end.
    file.set_len(content.len() as u64)?;
    durability::full(file)
}

/// Restores the old content after a failure. If that fails too, the record stays.
fn give_back(file: &File, old: Option<&[u8]>, record: &OverwriteRecord, error: Error) -> Error {
    let given_back = match old {
        Some(old) => write_over(file, old).is_ok(),
        None => false,
    };
    if given_back {
        record.remove();
        return error;
    }
    let sentence = format!(
        "{}; the file on the disk may be incomplete, and both its versions are kept in {}",
        error.reason,
        record.path()
    );
    Error::new(&error.path, SAVE, ErrorReason::Other(sentence))
}

/// Restores set-user-id bits, which writing clears; only the file's owner may set them.
fn restore_mode(file: &File, found: &ExistingFile) {
    let mode = found.status.mode;
    if !FileStatus::of(file).is_ok_and(|now| now.mode == mode) {
        file.set_permissions(Permissions::from_mode(mode)).log_err();
    }
}

#[cfg(test)]
mod tests;
