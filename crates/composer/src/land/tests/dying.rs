//! File access that ends the process at a chosen call, as a kill would.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};

use base::AbsPath;
use host::{
    AppendLog, Error, FileLock, Files, InterruptedSave, Listing, RealFiles, SaveRequest,
    SaveResult, Stat, WatchRequest, Watcher,
};

/// Counts the calls that write, and dies before the chosen one.
pub(super) struct Dying(std::sync::Arc<AtomicI64>, Option<Box<dyn Files>>);

impl Dying {
    pub(super) fn of_environment() -> Self {
        let at = std::env::var("BURIN_DIES_AT")
            .ok()
            .and_then(|at| at.parse().ok());
        Self(
            std::sync::Arc::new(AtomicI64::new(at.unwrap_or(i64::MAX))),
            None,
        )
    }

    fn real(&self) -> &dyn Files {
        self.1.as_deref().unwrap_or(&RealFiles)
    }

    fn count(&self) -> &dyn Files {
        if self.0.fetch_sub(1, Ordering::SeqCst) == 0 {
            std::process::abort();
        }
        self.real()
    }
}

impl Files for Dying {
    fn read_with_stat(&self, path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error> {
        self.real().read_with_stat(path, limit)
    }
    fn read_chunks(
        &self,
        path: &AbsPath,
        buffer: &mut Vec<u8>,
        take: &mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.real().read_chunks(path, buffer, take)
    }
    fn stat(&self, path: &AbsPath) -> Result<Stat, Error> {
        self.real().stat(path)
    }
    fn list(&self, path: &AbsPath) -> Result<Listing, Error> {
        self.real().list(path)
    }
    fn canonicalize(&self, path: &AbsPath) -> Result<AbsPath, Error> {
        self.real().canonicalize(path)
    }
    fn save(&self, request: &SaveRequest<'_>) -> Result<SaveResult, Error> {
        self.count().save(request)
    }
    fn create_file(&self, path: &AbsPath) -> Result<(), Error> {
        self.count().create_file(path)
    }
    fn create_folder(&self, path: &AbsPath) -> Result<(), Error> {
        self.count().create_folder(path)
    }
    fn rename(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        self.count().rename(from, to)
    }
    fn copy(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        self.count().copy(from, to)
    }
    fn trash(&self, path: &AbsPath) -> Result<(), Error> {
        self.count().trash(path)
    }
    fn remove(&self, path: &AbsPath) -> Result<(), Error> {
        self.count().remove(path)
    }
    fn write_private(&self, path: &AbsPath, content: &[u8]) -> Result<(), Error> {
        self.count().write_private(path, content)
    }
    fn open_log(&self, path: &AbsPath) -> Result<Box<dyn AppendLog>, Error> {
        self.count().open_log(path)
    }
    fn lock(&self, path: &AbsPath) -> Result<Option<FileLock>, Error> {
        self.real().lock(path)
    }
    fn watch(&self, request: WatchRequest) -> Result<Watcher, Error> {
        self.real().watch(request)
    }
    fn interrupted(&self, recovery_folder: &AbsPath) -> (Vec<InterruptedSave>, Vec<Error>) {
        self.real().interrupted(recovery_folder)
    }
    fn sweep(&self, folder: &AbsPath) -> Result<(), Error> {
        self.real().sweep(folder)
    }
    fn open_beneath(&self, root: &AbsPath) -> Option<Box<dyn Files>> {
        Some(Box::new(Self(self.0.clone(), RealFiles.open_beneath(root))))
    }
}
