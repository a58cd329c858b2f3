//! The machine's real files.

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
use std::ops::ControlFlow;
use std::path::PathBuf;

use base::AbsPath;
use rustix::io::Errno;

use crate::error::{Error, ErrorReason};
use crate::files::{AppendLog, FileLock, Files, InterruptedSave, SaveRequest, SaveResult};
use crate::listing::Listing;
use crate::path_at::PathAt;
use crate::stat::Stat;
use crate::watch::{WatchRequest, Watcher};

/// The machine's real files. Stateless.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFiles;

impl Files for RealFiles {
    fn read_with_stat(&self, path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error> {
        read::read_whole(&PathAt::absolute(path), limit)
    }

    fn read_chunks(
        &self,
        path: &AbsPath,
        buffer: &mut Vec<u8>,
        take: &mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        read::chunks(&PathAt::absolute(path), buffer, take)
    }

    fn read_range(&self, path: &AbsPath, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
        read::range(&PathAt::absolute(path), offset, length)
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
        let real = AbsPath::new(&real).ok_or_else(|| {
            Error::new(path, doing, ErrorReason::Other(real.display().to_string()))
        })?;
        Ok(self.stored_path(&real))
    }

    fn save(&self, request: &SaveRequest<'_>) -> Result<SaveResult, Error> {
        save::save(request)
    }

    fn create_file(&self, path: &AbsPath) -> Result<(), Error> {
        folder::create_file(&PathAt::absolute(path))
    }

    fn create_folder(&self, path: &AbsPath) -> Result<(), Error> {
        fs::create_dir_all(path).map_err(|error| Error::from_io(path, "create the folder", &error))
    }

    fn rename(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        folder::rename(&PathAt::absolute(from), &PathAt::absolute(to))
    }

    fn copy(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        folder::copy(&PathAt::absolute(from), &PathAt::absolute(to))
    }

    fn trash(&self, path: &AbsPath) -> Result<(), Error> {
        folder::trash(path)
    }

    fn remove(&self, path: &AbsPath) -> Result<(), Error> {
        folder::remove(&PathAt::absolute(path))
    }

    fn write_private(&self, path: &AbsPath, content: &[u8]) -> Result<(), Error> {
        save::write_private(&PathAt::absolute(path), content)
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

    fn open_beneath(&self, root: &AbsPath) -> Option<Box<dyn Files>> {
        Some(Box::new(beneath::BeneathFiles::new(root)))
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
    let at = PathAt::absolute(path);
    let followed = match at.status() {
        Ok(status) => return Ok(at.stat_of(&status)),
        Err(errno) => errno,
    };
    match at.own_status() {
        Ok(own) if own.file_type.is_symlink() && is_broken_link(followed) => Ok(at.stat_of(&own)),
        _ => Err(Error::from_errno(path, doing, followed)),
    }
}

/// Returns whether following a link failed because of the link itself.
pub(crate) fn is_broken_link(errno: Errno) -> bool {
    matches!(
        ErrorReason::from_errno(errno),
        ErrorReason::NotFound | ErrorReason::LinkLoop | ErrorReason::NotAFolder
    )
}

pub use self::bulk_stat::{BulkStat, FileVersion, RandomAccessFile, WallTime};
pub use self::change_queue::{ChangeQueue, PolledChange};
pub(crate) use self::read::read_whole;
pub(crate) use self::save::ExistingFile;
pub use self::save::is_temp_name;
