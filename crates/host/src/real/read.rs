//! Reading: only regular files, only up to a limit, and one consistent version.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;

use base::AbsPath;
use rustix::fs::OFlags;

use crate::error::{Error, ErrorReason};
use crate::real::{kind_of, stamp_of, stat_of};
use crate::stat::{FileKind, Stat};

/// Number of attempts to read a file that changes meanwhile.
const TRIES: usize = 5;
const CHUNK: usize = 256 * 1024;
const SMALLEST_CHUNK: usize = 4 * 1024;

/// Reads a regular file of at most `limit` bytes with its state. Reads it again while it changes,
/// up to `TRIES` times, then returns the last content. Fails with `NotAFile` or `TooLarge`, or if
/// it is unreadable.
pub(crate) fn read_whole(path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error> {
    let mut last = None;
    for _ in 0..TRIES {
        let mut file = open(path, "read")?;
        let before = metadata(path, &file)?;
        let content = read_up_to(path, &mut file, before.len(), limit)?;
        let after = metadata(path, &file)?;
        let stat = stat_of(path, &after);
        // Files in /proc report length 0, so there the length shows no change.
        let is_same = stamp_of(&before) == stamp_of(&after)
            && (content.len() as u64 == after.len() || after.len() == 0);
        if is_same {
            return Ok((content, stat));
        }
        last = Some((content, stat));
    }
    // Another program keeps writing, as with a log. The newest content is as good as any; its stamp
    // makes the next comparison notice the rest.
    last.ok_or_else(|| Error::new(path, "read", ErrorReason::Busy))
}

/// Passes the content of a regular file to `take` in pieces until its end or until `take` breaks
/// off, which is `Ok` too. A read may see changes made meanwhile.
pub(super) fn chunks(
    path: &AbsPath,
    take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut file = open(path, "read")?;
    // Most files are small. One extra byte detects the end of the file; files in /proc report
    // length 0.
    let size = usize::try_from(metadata(path, &file)?.len()).unwrap_or(CHUNK);
    let mut chunk = vec![0; size.saturating_add(1).clamp(SMALLEST_CHUNK, CHUNK)];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                if take(&chunk[..count]).is_break() {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::from_io(path, "read", &error)),
        }
    }
}

/// Opens a regular file. Other kinds are refused before they are opened: opening a pipe blocks, and
/// opening a device can have side effects.
pub(crate) fn open(path: &AbsPath, doing: &'static str) -> Result<File, Error> {
    let failed = |error: &io::Error| Error::from_io(path, doing, error);
    refuse_others(
        path,
        doing,
        &fs::metadata(path).map_err(|error| failed(&error))?,
    )?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .open(path)
        .map_err(|error| failed(&error))?;
    // The file may have been replaced since the first check.
    refuse_others(path, doing, &metadata(path, &file)?)?;
    Ok(file)
}

/// Fails with `NotAFile` if the metadata is not that of a regular file.
fn refuse_others(
    path: &AbsPath,
    doing: &'static str,
    metadata: &fs::Metadata,
) -> Result<(), Error> {
    match kind_of(metadata.file_type()) {
        FileKind::File => Ok(()),
        other => Err(Error::new(path, doing, ErrorReason::NotAFile(other))),
    }
}

/// Returns the metadata of an open file; `path` is for the error.
fn metadata(path: &AbsPath, file: &File) -> Result<fs::Metadata, Error> {
    file.metadata()
        .map_err(|error| Error::from_io(path, "read", &error))
}

/// Reads the rest of a file whose length was `size`. Fails with `TooLarge` if `size` or the bytes
/// read exceed `limit`, and with `Exhausted` if there is no memory for them.
fn read_up_to(path: &AbsPath, file: &mut File, size: u64, limit: u64) -> Result<Vec<u8>, Error> {
    let too_large = |size| Error::new(path, "read", ErrorReason::TooLarge { size, limit });
    if size > limit {
        return Err(too_large(size));
    }
    let mut content = Vec::new();
    // One byte above the limit shows that the file grew beyond it.
    let wanted = usize::try_from(size + 1).unwrap_or(usize::MAX);
    if content.try_reserve_exact(wanted).is_err() {
        return Err(Error::new(path, "read", ErrorReason::Exhausted));
    }
    file.take(limit.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|error| Error::from_io(path, "read", &error))?;
    if content.len() as u64 > limit {
        return Err(too_large(content.len() as u64));
    }
    Ok(content)
}
