//! Files below one folder, reached so that no link leads out of it, even if it is created at the
//! same time.
//!
//! Each operation opens the folder that contains the name, without following links, and then acts
//! on the name in that open folder, which it does not follow either. The path must be free of
//! links: see `canonicalize`. Paths outside the folder behave as with `RealFiles`.

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use base::AbsPath;
use rustix::fs::Mode;
use rustix::io::Errno;

use super::{RealFiles, folder, read, save};
use crate::error::{Error, ErrorReason};
use crate::files::{AppendLog, FileLock, Files, InterruptedSave, SaveRequest, SaveResult};
use crate::listing::Listing;
use crate::no_follow;
use crate::path_at::PathAt;
use crate::stat::Stat;
use crate::watch::{WatchRequest, Watcher};

/// Real files that follow no links below `root`.
pub(super) struct BeneathFiles {
    root: AbsPath,
}

impl BeneathFiles {
    pub(super) fn new(root: &AbsPath) -> Self {
        Self { root: root.clone() }
    }

    /// Returns the part of a path below the root; `None` for the root itself and for paths outside.
    fn inner<'p>(&self, path: &'p AbsPath) -> Option<&'p Path> {
        let inner = path.relative_to(&self.root)?;
        (!inner.as_os_str().is_empty()).then_some(inner)
    }

    /// Returns a path below the root as a name in its open folder, and any other as it is.
    fn reach(&self, path: &AbsPath, doing: &'static str) -> Result<PathAt, Error> {
        if self.inner(path).is_none() {
            return Ok(PathAt::absolute(path));
        }
        self.open_parent(path, doing)
    }

    /// Opens the folder that contains a name below the root.
    pub(super) fn open_parent(&self, path: &AbsPath, doing: &'static str) -> Result<PathAt, Error> {
        let above = path.parent().unwrap_or_else(|| path.clone());
        let inner = above.relative_to(&self.root).unwrap_or(Path::new(""));
        let folder = self
            .open_inner(inner)
            .map_err(|errno| refused(path, doing, errno))?;
        Ok(PathAt::in_folder(Arc::new(folder), path))
    }

    /// Opens a folder below the root for resolving names in it.
    fn open_inner(&self, inner: &Path) -> Result<OwnedFd, Errno> {
        let top = no_follow::open_root_for_search(self.root.as_path())?;
        if inner.as_os_str().is_empty() {
            return Ok(top);
        }
        no_follow::open_for_search(&top, inner)
    }
}

fn refused(path: &AbsPath, doing: &'static str, errno: Errno) -> Error {
    match errno {
        Errno::LOOP | Errno::XDEV => {
            let reason = "it lies behind a link that was not there a moment ago; look again";
            Error::new(path, doing, ErrorReason::Other(reason.to_owned()))
        }
        other => Error::from_errno(path, doing, other),
    }
}

impl Files for BeneathFiles {
    fn read_with_stat(&self, path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error> {
        read::read_whole(&self.reach(path, "read")?, limit)
    }

    fn read_chunks(
        &self,
        path: &AbsPath,
        buffer: &mut Vec<u8>,
        take: &mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        read::chunks(&self.reach(path, "read")?, buffer, take)
    }

    fn read_range(&self, path: &AbsPath, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
        read::range(&self.reach(path, "read")?, offset, length)
    }

    fn stat(&self, path: &AbsPath) -> Result<Stat, Error> {
        RealFiles.stat(path)
    }

    fn list(&self, path: &AbsPath) -> Result<Listing, Error> {
        let Some(inner) = self.inner(path) else {
            return RealFiles.list(path);
        };
        let opened = no_follow::open_root_for_search(self.root.as_path())
            .and_then(|top| no_follow::open_folder_below(&top, inner));
        let opened = opened.map_err(|errno| refused(path, "list", errno))?;
        folder::list_open(opened, path)
    }

    fn canonicalize(&self, path: &AbsPath) -> Result<AbsPath, Error> {
        RealFiles.canonicalize(path)
    }

    fn save(&self, request: &SaveRequest<'_>) -> Result<SaveResult, Error> {
        if self.inner(request.path).is_none() {
            return RealFiles.save(request);
        }
        save::save_at(request, &self.open_parent(request.path, "save")?)
    }

    fn create_file(&self, path: &AbsPath) -> Result<(), Error> {
        folder::create_file(&self.reach(path, "create")?)
    }

    fn create_folder(&self, path: &AbsPath) -> Result<(), Error> {
        let Some(inner) = self.inner(path) else {
            return RealFiles.create_folder(path);
        };
        let doing = "create the folder";
        let mut there = self.root.clone();
        for part in inner.components() {
            there = there.join(part);
            let at = self.open_parent(&there, doing)?;
            match rustix::fs::mkdirat(at.folder(), at.name(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(Error::from_errno(&there, doing, errno)),
            }
        }
        // An entry at the name may be a file or a link.
        self.open_inner(inner)
            .map(drop)
            .map_err(|errno| refused(path, doing, errno))
    }

    fn rename(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        folder::rename(&self.reach(from, "rename")?, &self.reach(to, "rename to")?)
    }

    fn copy(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        folder::copy(&self.reach(from, "copy")?, &self.reach(to, "copy to")?)
    }

    fn trash(&self, path: &AbsPath) -> Result<(), Error> {
        RealFiles.trash(path)
    }

    fn remove(&self, path: &AbsPath) -> Result<(), Error> {
        folder::remove(&self.reach(path, "remove")?)
    }

    fn write_private(&self, path: &AbsPath, content: &[u8]) -> Result<(), Error> {
        save::write_private(&self.reach(path, "write")?, content)
    }

    fn open_log(&self, path: &AbsPath) -> Result<Box<dyn AppendLog>, Error> {
        RealFiles.open_log(path)
    }

    fn lock(&self, path: &AbsPath) -> Result<Option<FileLock>, Error> {
        RealFiles.lock(path)
    }

    fn watch(&self, request: WatchRequest) -> Result<Watcher, Error> {
        RealFiles.watch(request)
    }

    fn interrupted(&self, recovery_folder: &AbsPath) -> (Vec<InterruptedSave>, Vec<Error>) {
        RealFiles.interrupted(recovery_folder)
    }

    fn sweep(&self, folder: &AbsPath) -> Result<(), Error> {
        RealFiles.sweep(folder)
    }

    fn free_bytes(&self, path: &AbsPath) -> Option<u64> {
        RealFiles.free_bytes(path)
    }
}

#[cfg(test)]
mod tests;
