//! Reading: only regular files, only up to a limit, and one consistent version.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Error, ErrorReason};
use crate::file_status::FileStatus;
use crate::path_at::PathAt;
use crate::stat::{FileKind, Stat};

/// Number of attempts to read a file that changes meanwhile.
const TRIES: usize = 5;
const CHUNK: usize = 256 * 1024;
const SMALLEST_CHUNK: usize = 4 * 1024;

pub(crate) fn read_whole(at: &PathAt, limit: u64) -> Result<(Vec<u8>, Stat), Error> {
    let mut last = None;
    for _ in 0..TRIES {
        let (mut file, before) = open(at, "read")?;
        let content = read_up_to(at, &mut file, before.size, limit)?;
        let after = status(at, &file)?;
        let stat = at.stat_of(&after);
        // Files in /proc report length 0, so there the length shows no change.
        let is_same = before.stamp() == after.stamp()
            && (content.len() as u64 == after.size || after.size == 0);
        if is_same {
            return Ok((content, stat));
        }
        last = Some((content, stat));
    }
    // Another program keeps writing, as with a log. The newest content is as good as any; its stamp
    // makes the next comparison notice the rest.
    last.ok_or_else(|| Error::new(at.path(), "read", ErrorReason::Busy))
}

/// Appends the content of a file that its folder lists as a regular one to `buffer` in pieces, and calls `take` after
/// each until `take` breaks off, which is `Ok` too. A read may see changes made meanwhile.
pub(super) fn chunks(
    at: &PathAt,
    buffer: &mut Vec<u8>,
    take: &mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
) -> Result<(), Error> {
    let (file, status) = open_listed(at, "read")?;
    // Most files are small. One extra byte detects the end of the file; files in /proc report
    // length 0.
    let size = usize::try_from(status.size).unwrap_or(CHUNK);
    buffer.reserve(size.saturating_add(1).clamp(SMALLEST_CHUNK, CHUNK));
    let mut total = 0;
    loop {
        if buffer.len() == buffer.capacity() {
            buffer.reserve(CHUNK);
        }
        let spare = buffer.capacity() - buffer.len();
        let count = match rustix::io::read(&file, spare_capacity(buffer)) {
            Ok(count) => count,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(Error::from_errno(at.path(), "read", errno)),
        };
        total += count;
        if count == 0 || take(buffer).is_break() {
            return Ok(());
        }
        // A read that stops short at the length of the file has reached its end.
        if count < spare && total == size {
            return Ok(());
        }
    }
}

/// Reads up to `length` bytes of a regular file from `offset` on; fewer at its end.
pub(super) fn range(at: &PathAt, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
    let (file, status) = open(at, "read")?;
    if i64::try_from(offset).is_err() {
        // No file is that long, and the system refuses the offset.
        return Ok(Vec::new());
    }
    // The length keeps the buffer small; files in /proc report length 0.
    let known = status
        .size
        .saturating_sub(offset)
        .max(SMALLEST_CHUNK as u64);
    let length = length.min(usize::try_from(known).unwrap_or(usize::MAX));
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::from_io(at.path(), "read", &error)),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Opens a regular file and returns its metadata. Other kinds are refused before they are opened:
/// opening a pipe blocks, and opening a device can have side effects.
pub(super) fn open(at: &PathAt, doing: &'static str) -> Result<(File, FileStatus), Error> {
    let failed = |errno| Error::from_errno(at.path(), doing, errno);
    refuse_others(at, doing, &at.status().map_err(failed)?)?;
    open_listed(at, doing)
}

/// Opens a file that a listing or a `stat` showed to be a regular one, and returns its metadata. Another kind that has
/// replaced it since is refused after it was opened, without waiting for a pipe.
fn open_listed(at: &PathAt, doing: &'static str) -> Result<(File, FileStatus), Error> {
    let failed = |errno| Error::from_errno(at.path(), doing, errno);
    let file = at.open(OFlags::RDONLY, Mode::empty()).map_err(failed)?;
    let status = FileStatus::of(&file).map_err(failed)?;
    refuse_others(at, doing, &status)?;
    Ok((file, status))
}

fn refuse_others(at: &PathAt, doing: &'static str, status: &FileStatus) -> Result<(), Error> {
    match status.kind() {
        FileKind::File => Ok(()),
        other => Err(Error::new(at.path(), doing, ErrorReason::NotAFile(other))),
    }
}

fn status(at: &PathAt, file: &File) -> Result<FileStatus, Error> {
    FileStatus::of(file).map_err(|errno| Error::from_errno(at.path(), "read", errno))
}

fn read_up_to(at: &PathAt, file: &mut File, size: u64, limit: u64) -> Result<Vec<u8>, Error> {
    let too_large = |size| Error::new(at.path(), "read", ErrorReason::TooLarge { size, limit });
    if size > limit {
        return Err(too_large(size));
    }
    let mut content = Vec::new();
    // One byte above the limit shows that the file grew beyond it.
    let wanted = usize::try_from(size + 1).unwrap_or(usize::MAX);
    if content.try_reserve_exact(wanted).is_err() {
        return Err(Error::new(at.path(), "read", ErrorReason::Exhausted));
    }
    file.take(limit.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|error| Error::from_io(at.path(), "read", &error))?;
    if content.len() as u64 > limit {
        return Err(too_large(content.len() as u64));
    }
    Ok(content)
}
