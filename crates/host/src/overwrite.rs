//! Overwriting a file in place, and finishing what a crash cut short.
//!
//! Before the first byte is touched a record with both contents is made durable in a private
//! folder. It is removed when the new content is durable. A record found at the next start tells
//! what was going on: the file is compared with both contents, and a mixture that only our own
//! write can have made is finished.
//!
//! Invariant: the file is cut to its new length last, so that nothing of the old is lost early.
//! Invariant: a record is locked while its save lives; others leave it alone.

mod record;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};

use base::{AbsPath, LogErr};
use rustix::fs::OFlags;
use rustix::io::Errno;

pub(crate) use self::record::Record;

use crate::content::ContentHash;
use crate::error::{Error, Reason};
use crate::files::{Expected, OnDisk, SaveRequest, SaveWay, Saved};
use crate::real::{Found, read_whole, stamp_of, stat_of};
use crate::stat::Stamp;

const SAVE: &str = "save";
/// The least part of a file that a disk writes at once.
const SECTOR: usize = 512;

/// A save in place that a crash cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupted {
    /// The file that was being saved.
    pub target: AbsPath,
    /// What was to be saved.
    pub new: Vec<u8>,
    /// What the file held before; `None` when it could not be read.
    pub old: Option<Vec<u8>>,
    /// What has become of it.
    pub state: InterruptedState,
    /// The record on disk. Removing it forgets the save; meant for when the user has decided.
    pub record: AbsPath,
}

/// What has become of a save that was cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterruptedState {
    /// The file was torn and now holds the new content; the record is gone.
    Finished,
    /// The file is torn, and finishing it failed.
    Torn(Error),
    /// The file holds something else: somebody changed it since.
    ChangedSince,
    /// The file is gone.
    Gone,
}

/// Overwrites the file in place; only after its record is durable.
pub(crate) fn overwrite(request: &SaveRequest<'_>, found: &Found) -> Result<Saved, Error> {
    let failed = |error: &io::Error| Error::from_io(&found.path, SAVE, error);
    let file = open_for_writing(&found.path).map_err(|error| failed(&error))?;
    let old = read_old(request, found)?;
    let record = Record::write(request, found, old.as_deref())?;
    if let Err(error) = prepare(&file, request, found) {
        record.remove();
        return Err(error);
    }
    if let Err(error) = write_over(&file, request.content) {
        return Err(give_back(&file, old.as_deref(), &record, failed(&error)));
    }
    restore_mode(&file, found);
    record.remove();
    Ok(saved(request, found, file.metadata()))
}

/// The last look before the first byte, and the space for the last one.
fn prepare(file: &File, request: &SaveRequest<'_>, found: &Found) -> Result<(), Error> {
    let failed = |error: &io::Error| Error::from_io(&found.path, SAVE, error);
    let now = file.metadata().map_err(|error| failed(&error))?;
    if stamp_of(&now) != found.stat.stamp {
        let now = Some(stat_of(&found.path, &now));
        return Err(Error::new(&found.path, SAVE, Reason::ChangedOnDisk { now }));
    }
    reserve(file, now.len(), request.content.len() as u64).map_err(|error| {
        // What was reserved of it is given back.
        file.set_len(now.len()).log_err();
        failed(&error)
    })
}

fn saved(request: &SaveRequest<'_>, found: &Found, now: io::Result<fs::Metadata>) -> Saved {
    let (stamp, unconfirmed) = match now {
        Ok(now) => (stamp_of(&now), None),
        Err(error) => {
            // In doubt the next save compares the bytes, for which the length must be right.
            let stamp = Stamp {
                size: request.content.len() as u64,
                ..found.stat.stamp
            };
            let doing = "confirm the save of";
            (stamp, Some(Error::from_io(&found.path, doing, &error)))
        }
    };
    Saved {
        on_disk: OnDisk {
            stamp,
            hash: ContentHash::of(request.content),
        },
        way: SaveWay::Overwritten,
        unconfirmed,
    }
}

/// Looks at every record of a dead process in `folder`. See `Files::interrupted`.
pub(crate) fn interrupted(folder: &AbsPath) -> (Vec<Interrupted>, Vec<Error>) {
    let mut problems = Vec::new();
    let records = match record::left_over(folder, &mut problems) {
        Ok(records) => records,
        Err(error) if error.is_not_found() => return (Vec::new(), problems),
        Err(error) => return (Vec::new(), vec![error]),
    };
    let interrupted = records.into_iter().filter_map(look_after).collect();
    (interrupted, problems)
}

fn look_after(found: record::Found) -> Option<Interrupted> {
    let state = match state_of(&found) {
        Some(InterruptedState::Finished) => {
            found.remove();
            InterruptedState::Finished
        }
        Some(state) => state,
        None => {
            found.remove();
            return None;
        }
    };
    Some(Interrupted {
        target: found.target,
        new: found.new,
        old: found.old,
        state,
        record: found.path,
    })
}

/// `None` when the file is whole.
fn state_of(found: &record::Found) -> Option<InterruptedState> {
    let (now, stat) = match read_whole(&found.target, u64::MAX - 1) {
        Ok(read) => read,
        Err(error) if error.is_not_found() => return Some(InterruptedState::Gone),
        Err(error) => return Some(InterruptedState::Torn(error)),
    };
    let old = found.old.as_deref();
    if now == found.new || Some(now.as_slice()) == old {
        return None;
    }
    let is_same_file = (stat.stamp.device, stat.stamp.inode) == (found.device, found.inode);
    let is_torn = is_same_file && old.is_some_and(|old| is_mixture(&now, old, &found.new));
    if !is_torn {
        return Some(InterruptedState::ChangedSince);
    }
    let finished = open_for_writing(&found.target).and_then(|file| write_over(&file, &found.new));
    Some(match finished {
        Ok(()) => InterruptedState::Finished,
        Err(error) => InterruptedState::Torn(Error::from_io(&found.target, SAVE, &error)),
    })
}

/// Whether `now` can be what an interrupted write of `new` over `old` leaves: the beginning of the
/// one with the rest of the other, or sectors of either.
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

fn open_for_writing(path: &AbsPath) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed())
        .open(path)
}

/// The old content; `None` when the file may be written but not read.
fn read_old(request: &SaveRequest<'_>, found: &Found) -> Result<Option<Vec<u8>>, Error> {
    let content = match read_whole(&found.path, u64::MAX - 1) {
        Ok((content, _)) => content,
        Err(error) if error.reason == Reason::PermissionDenied => return Ok(None),
        Err(error) => return Err(error),
    };
    match request.expected {
        Expected::Unchanged(known) if ContentHash::of(&content) != known.hash => {
            let now = Some(found.stat.clone());
            Err(Error::new(&found.path, SAVE, Reason::ChangedOnDisk { now }))
        }
        _ => Ok(Some(content)),
    }
}

/// Makes sure of the space for a longer content before anything is written.
fn reserve(file: &File, old_length: u64, new_length: u64) -> io::Result<()> {
    let Some(more) = new_length.checked_sub(old_length).filter(|more| *more > 0) else {
        return Ok(());
    };
    match reserve_range(file, old_length, more) {
        Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO) => {
            Err(io::Error::from(Errno::NOSPC))
        }
        // Most others mean that this kind of volume does not know the call.
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn reserve_range(file: &File, start: u64, length: u64) -> rustix::io::Result<()> {
    let flags = rustix::fs::FallocateFlags::KEEP_SIZE;
    crate::real::retry(|| rustix::fs::fallocate(file, flags, start, length))
}

#[cfg(not(target_os = "linux"))]
fn reserve_range(_: &File, _: u64, _: u64) -> rustix::io::Result<()> {
    Err(Errno::NOTSUP)
}

fn write_over(file: &File, content: &[u8]) -> io::Result<()> {
    file.write_all_at(content, 0)?;
    // Last, and also when it grew: space reserved beyond the end is given back.
    file.set_len(content.len() as u64)?;
    file.sync_all()
}

/// Puts the old content back after a failure. Where that fails too, the record stays.
fn give_back(file: &File, old: Option<&[u8]>, record: &Record, error: Error) -> Error {
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
    Error::new(&error.path, SAVE, Reason::Other(sentence))
}

/// Writing takes set-user-id bits away; whoever owns the file may set them again.
fn restore_mode(file: &File, found: &Found) {
    let mode = found.metadata.mode() & 0o7777;
    let is_kept = file
        .metadata()
        .is_ok_and(|now: fs::Metadata| now.mode() & 0o7777 == mode);
    if !is_kept {
        file.set_permissions(fs::Permissions::from_mode(mode))
            .log_err();
    }
}

#[cfg(test)]
mod tests;
