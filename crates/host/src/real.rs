//! The machine's real files.

#[cfg(target_os = "linux")]
mod beneath;
mod bulk_stat;
mod change_queue;
mod folder;
pub mod links;
mod log;
pub(crate) mod overwrite;
mod read;
mod save;
mod watch;

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use base::AbsPath;
use rustix::fs::Access;

use crate::error::{Error, ErrorReason};
use crate::files::{AppendLog, FileLock, Files, InterruptedSave, SaveRequest, SaveResult};
use crate::listing::Listing;
use crate::retry::retry;
use crate::stat::{FileKind, Stamp, Stat};
use crate::watch::{WatchRequest, Watcher};

/// The machine's real files. Stateless.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFiles;

impl Files for RealFiles {
    fn read_with_stat(&self, path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error> {
        read::read_whole(path, limit)
    }

    fn read_chunks(
        &self,
        path: &AbsPath,
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        read::chunks(path, take)
    }

    fn stat(&self, path: &AbsPath) -> Result<Stat, Error> {
        stat(path, "look at")
    }

    fn list(&self, path: &AbsPath) -> Result<Listing, Error> {
        folder::list(path)
    }

    fn canonicalize(&self, path: &AbsPath) -> Result<AbsPath, Error> {
        let doing = "resolve";
        let real = fs::canonicalize(path).map_err(|error| Error::from_io(path, doing, &error))?;
        AbsPath::new(&real)
            .ok_or_else(|| Error::new(path, doing, ErrorReason::Other(real.display().to_string())))
    }

    fn save(&self, request: &SaveRequest<'_>) -> Result<SaveResult, Error> {
        save::save(request)
    }

    fn create_file(&self, path: &AbsPath) -> Result<(), Error> {
        fs::File::create_new(path)
            .map(drop)
            .map_err(|error| Error::from_io(path, "create", &error))
    }

    fn create_folder(&self, path: &AbsPath) -> Result<(), Error> {
        fs::create_dir_all(path).map_err(|error| Error::from_io(path, "create the folder", &error))
    }

    fn rename(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        folder::rename(from, to)
    }

    fn copy(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        folder::copy(from, to)
    }

    fn trash(&self, path: &AbsPath) -> Result<(), Error> {
        folder::trash(path)
    }

    fn remove(&self, path: &AbsPath) -> Result<(), Error> {
        folder::remove(path)
    }

    fn write_private(&self, path: &AbsPath, content: &[u8]) -> Result<(), Error> {
        save::write_private(path, content)
    }

    fn open_log(&self, path: &AbsPath) -> Result<Box<dyn AppendLog>, Error> {
        log::open(path)
    }

    fn lock(&self, path: &AbsPath) -> Result<Option<FileLock>, Error> {
        log::lock(path)
    }

    fn watch(&self, request: WatchRequest) -> Result<Watcher, Error> {
        watch::start(request)
    }

    fn interrupted(&self, recovery_folder: &AbsPath) -> (Vec<InterruptedSave>, Vec<Error>) {
        overwrite::interrupted(recovery_folder)
    }

    fn sweep(&self, folder: &AbsPath) -> Result<(), Error> {
        save::sweep(folder)
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, root: &AbsPath) -> Option<Box<dyn Files>> {
        let files = beneath::BeneathFiles::new(root)?;
        Some(Box::new(files))
    }

    fn read_link(&self, path: &AbsPath) -> Option<PathBuf> {
        fs::read_link(path).ok()
    }

    fn free_bytes(&self, path: &AbsPath) -> Option<u64> {
        let volume = rustix::fs::statvfs(path.as_path()).ok()?;
        volume.f_bavail.checked_mul(volume.f_frsize)
    }
}

/// Returns the metadata of the path's target; a dangling link is a `BrokenLink`, not an error.
pub(crate) fn stat(path: &AbsPath, doing: &'static str) -> Result<Stat, Error> {
    let failed = |error: &io::Error| Error::from_io(path, doing, error);
    let followed = match fs::metadata(path) {
        Ok(metadata) => return Ok(stat_of(path, &metadata)),
        Err(error) => error,
    };
    match fs::symlink_metadata(path) {
        Ok(own) if own.is_symlink() && is_broken_link(&followed) => Ok(stat_of(path, &own)),
        _ => Err(failed(&followed)),
    }
}

/// Returns whether following a link failed because of the link itself.
pub(crate) fn is_broken_link(error: &io::Error) -> bool {
    let reason = error
        .raw_os_error()
        .map(|code| ErrorReason::from_errno(rustix::io::Errno::from_raw_os_error(code)));
    matches!(
        reason,
        Some(ErrorReason::NotFound | ErrorReason::LinkLoop | ErrorReason::NotAFolder)
    )
}

pub(crate) fn stat_of(path: &AbsPath, metadata: &fs::Metadata) -> Stat {
    let mode = metadata.mode() & 0o7777;
    Stat {
        kind: kind_of(metadata.file_type()),
        stamp: stamp_of(metadata),
        mode,
        links: metadata.nlink(),
        is_writable: mode & 0o222 != 0
            && rustix::fs::access(path.as_path(), Access::WRITE_OK).is_ok(),
    }
}

pub(crate) fn stamp_of(metadata: &fs::Metadata) -> Stamp {
    Stamp {
        device: metadata.dev(),
        inode: metadata.ino(),
        mtime_ns: i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
        size: metadata.size(),
    }
}

pub(crate) fn kind_of(kind: fs::FileType) -> FileKind {
    if kind.is_file() {
        FileKind::File
    } else if kind.is_dir() {
        FileKind::Folder
    } else if kind.is_symlink() {
        FileKind::BrokenLink
    } else {
        debug_assert!(
            kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device()
        );
        FileKind::Other
    }
}

/// Returns the folder that contains a file.
pub(crate) fn parent_of(path: &AbsPath) -> AbsPath {
    path.parent().unwrap_or_else(|| path.clone())
}

pub use self::bulk_stat::{BulkStat, FileVersion, RandomAccessFile, WallTime};
pub use self::change_queue::{ChangeQueue, PolledChange};
pub(crate) use self::read::read_whole;
pub(crate) use self::save::ExistingFile;
pub use self::save::is_temp_name;

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    let flags =
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
    let opened = match rustix::fs::open(folder, flags, rustix::fs::Mode::empty()) {
        Ok(opened) => opened,
        // A folder that is writable but not readable cannot be synced.
        Err(rustix::io::Errno::ACCESS) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    match retry(|| rustix::fs::fsync(&opened)) {
        // Some network and FUSE volumes do not support the call for folders.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOTSUP | rustix::io::Errno::NOSYS) => {
            Ok(())
        }
        other => other.map_err(io::Error::from),
    }
}
