//! The records that precede overwriting in place.
//!
//! Format: the magic, five numbers of 8 bytes (device, inode, length of the path, of the old and of
//! the new content; the old length is all ones if it could not be read), path, old content, new
//! content, and the hash of all that. Numbers are little-endian.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{AbsPath, LogErr};
use rustix::fs::{FlockOperation, flock};

use crate::content_hash::ContentHash;
use crate::dirs::create_private;
use crate::durability;
use crate::error::{Error, ErrorReason};
use crate::files::SaveRequest;
use crate::path_at::PathAt;
use crate::real::{self, read_whole};
use crate::retry::retry;

const MAGIC: &[u8; 8] = b"BURINSV1";
const NUMBERS: usize = 5;
const HEADER: usize = MAGIC.len() + NUMBERS * 8;
const HASH: usize = 16;
const UNREADABLE: u64 = u64::MAX;
/// File extensions of a complete record, and of one still being written.
const COMPLETE: &str = "save";
const PARTIAL: &str = "part";

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A durable record of a save in progress.
pub(crate) struct OverwriteRecord {
    path: AbsPath,
    /// Open for the record's lock.
    _file: File,
}

/// A record whose process is dead.
pub(super) struct LeftoverRecord {
    pub(super) path: AbsPath,
    pub(super) target: AbsPath,
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) old: Option<Vec<u8>>,
    pub(super) new: Vec<u8>,
    /// Holds the lock, so that two starting processes do not both recover it.
    _file: File,
}

impl OverwriteRecord {
    /// Writes a record and makes it durable.
    pub(super) fn write(
        request: &SaveRequest<'_>,
        found: &real::ExistingFile,
        old: Option<&[u8]>,
    ) -> Result<Self, Error> {
        let folder = request.recovery_folder;
        create_private(folder)?;
        let name = fresh_name();
        let partial = folder.join(format!("{name}.{PARTIAL}"));
        let path = folder.join(format!("{name}.{COMPLETE}"));
        let written = write_locked(&partial, request, found, old).and_then(|file| {
            rustix::fs::rename(partial.as_path(), path.as_path())?;
            durability::after_rename_at(&file, &PathAt::absolute(&path))?;
            Ok(file)
        });
        match written {
            Ok(file) => Ok(Self { path, _file: file }),
            Err(error) => {
                for leftover in [&partial, &path] {
                    fs::remove_file(leftover).ok();
                }
                let doing = "write the record that must precede overwriting a file in place to";
                Err(Error::from_io(folder, doing, &error))
            }
        }
    }

    pub(super) fn path(&self) -> &AbsPath {
        &self.path
    }

    /// Removes the record. If that fails, the next start finds it and removes it, since its file is
    /// whole.
    pub(super) fn remove(&self) {
        fs::remove_file(&self.path).log_err();
    }
}

impl LeftoverRecord {
    pub(super) fn remove(&self) {
        fs::remove_file(&self.path).log_err();
    }
}

/// Returns the complete records whose lock is free. Incomplete ones are removed: their saves have
/// not touched anything. Unreadable records stay and become problems.
pub(super) fn left_over(
    folder: &AbsPath,
    problems: &mut Vec<Error>,
) -> Result<Vec<LeftoverRecord>, Error> {
    let failed = |error: &io::Error| Error::from_io(folder, "list", error);
    let mut records = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| failed(&error))? {
        let name = entry.map_err(|error| failed(&error))?.file_name();
        let path = folder.join(&name);
        let ending = Path::new(&name).extension().and_then(OsStr::to_str);
        let Some(ending) = ending.filter(|ending| [COMPLETE, PARTIAL].contains(ending)) else {
            continue;
        };
        let Some(file) = lock(&path) else { continue };
        if ending == PARTIAL {
            fs::remove_file(&path).log_err();
            continue;
        }
        match read(&path, file) {
            Ok(found) => records.push(found),
            Err(error) => problems.push(error),
        }
    }
    records.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(records)
}

/// Opens a record and takes its lock, which the returned file holds. `None` if the record is gone
/// or unreadable, or another process holds the lock.
fn lock(path: &AbsPath) -> Option<File> {
    let file = OpenOptions::new().read(true).open(path).ok()?;
    retry(|| flock(&file, FlockOperation::NonBlockingLockExclusive)).ok()?;
    // Its save may have ended between the two calls.
    let named = fs::symlink_metadata(path).ok()?;
    let own = file.metadata().ok()?;
    ((named.dev(), named.ino()) == (own.dev(), own.ino())).then_some(file)
}

fn fresh_name() -> String {
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let start = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    format!("{start:024}-{}-{count}", process::id())
}

/// Writes a record to a new file and makes it durable. Returns the file, which holds the record's
/// lock. Fails if `path` exists.
fn write_locked(
    path: &AbsPath,
    request: &SaveRequest<'_>,
    found: &real::ExistingFile,
    old: Option<&[u8]>,
) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    retry(|| flock(&file, FlockOperation::NonBlockingLockExclusive))?;
    let bytes = encode(request, found, old);
    file.write_all(&bytes)?;
    durability::before_rename(&file)?;
    Ok(file)
}

fn encode(request: &SaveRequest<'_>, found: &real::ExistingFile, old: Option<&[u8]>) -> Vec<u8> {
    let path = found.at.path().as_path().as_os_str().as_bytes();
    let numbers = [
        found.status.device,
        found.status.inode,
        path.len() as u64,
        old.map_or(UNREADABLE, |old| old.len() as u64),
        request.content.len() as u64,
    ];
    let old = old.unwrap_or_default();
    let length = HEADER + path.len() + old.len() + request.content.len() + HASH;
    let mut bytes = Vec::with_capacity(length);
    bytes.extend_from_slice(MAGIC);
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for part in [path, old, request.content] {
        bytes.extend_from_slice(part);
    }
    let hash = ContentHash::of(&bytes);
    bytes.extend_from_slice(&hash.0.to_le_bytes());
    bytes
}

/// Reads a record whose lock `file` holds. Fails if it is unreadable or damaged.
fn read(path: &AbsPath, file: File) -> Result<LeftoverRecord, Error> {
    let (bytes, _) = read_whole(&PathAt::absolute(path), u64::MAX - 1)?;
    decode(path, file, &bytes).ok_or_else(|| {
        let sentence = "it is damaged; if the file it is about is whole, remove the record";
        let doing = "understand the record of an interrupted save";
        Error::new(path, doing, ErrorReason::Other(sentence.into()))
    })
}

/// Parses the bytes of a record; `None` if its hash, magic or lengths are wrong or its target is
/// not an absolute path.
fn decode(path: &AbsPath, file: File, bytes: &[u8]) -> Option<LeftoverRecord> {
    let (content, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
    let hash = u128::from_le_bytes(hash.try_into().ok()?);
    if ContentHash::of(content).0 != hash {
        return None;
    }
    let rest = content.strip_prefix(MAGIC)?;
    let (header, rest) = rest.split_at_checked(NUMBERS * 8)?;
    let mut numbers = header
        .chunks_exact(8)
        .filter_map(|number| number.try_into().ok().map(u64::from_le_bytes));
    let (device, inode) = (numbers.next()?, numbers.next()?);
    let (path_length, old_length, new_length) = (numbers.next()?, numbers.next()?, numbers.next()?);
    let (target, rest) = rest.split_at_checked(usize::try_from(path_length).ok()?)?;
    let (old, new) = match old_length {
        UNREADABLE => (None, rest),
        length => {
            let (old, new) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Some(old.to_vec()), new)
        }
    };
    (new.len() as u64 == new_length).then_some(())?;
    Some(LeftoverRecord {
        path: path.clone(),
        target: AbsPath::new(OsStr::from_bytes(target))?,
        device,
        inode,
        old,
        new: new.to_vec(),
        _file: file,
    })
}
