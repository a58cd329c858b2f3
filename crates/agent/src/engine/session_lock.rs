//! Locks a session for one process: two processes writing to it would each miss the other's
//! records.
//!
//! Invariant: a process holds a session from before its first record until the session or the
//! process ends.

use std::sync::{Arc, Weak};

use base::AbsPath;
use host::{FileLock, Files};

use super::shared::Harness;
use crate::error::Error;

/// A session locked by this process. Released when the last clone is dropped.
pub(crate) struct SessionLock {
    files: Arc<dyn Files>,
    lock: AbsPath,
    owner: AbsPath,
    held: Option<FileLock>,
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // Remove the files while the lock is still held, so that a new owner's files stay.
        for path in [&self.owner, &self.lock] {
            if let Err(error) = self.files.remove(path)
                && !error.is_not_found()
            {
                log::warn!("{error}");
            }
        }
        self.held = None;
    }
}

impl Harness {
    /// Locks a session for this process; sessions of the same process share the lock. `None` if the
    /// lock cannot be determined, so that the session runs unprotected. Fails with
    /// `Error::SessionInUse` if another process holds it.
    pub(crate) fn lock_session(&self, session: &str) -> Result<Option<Arc<SessionLock>>, Error> {
        let mut holds = self.session_locks();
        holds.retain(|_, hold| hold.strong_count() > 0);
        // Sessions of one process share its store, which keeps their order.
        if let Some(hold) = holds.get(session).and_then(Weak::upgrade) {
            return Ok(Some(hold));
        }
        let sources = &self.parts.sources;
        let files = sources.files.clone();
        let folder = sources.state.join("sessions");
        let lock = folder.join(format!("{session}.lock"));
        let owner = folder.join(format!("{session}.owner"));
        if session.contains('/') {
            return Ok(None);
        }
        let locked = files
            .create_folder(&folder)
            .and_then(|()| files.lock(&lock));
        let held = match locked {
            Ok(Some(held)) => held,
            Ok(None) => return Err(in_use_error(session, files.read(&owner, 1 << 10).ok())),
            Err(error) => {
                // The ledger itself refuses conflicting records of two processes.
                log::warn!("cannot tell whether session {session} is open elsewhere: {error}");
                return Ok(None);
            }
        };
        let name = format!("process {} ({})", std::process::id(), program());
        if let Err(error) = files.write_private(&owner, name.as_bytes()) {
            log::warn!("{error}");
        }
        let hold = Arc::new(SessionLock {
            files,
            lock,
            owner,
            held: Some(held),
        });
        holds.insert(session.into(), Arc::downgrade(&hold));
        Ok(Some(hold))
    }
}

impl Harness {
    /// Returns whether a session is open, in this process or another. Blocks on the disk.
    pub fn is_session_open(&self, session: &str) -> bool {
        // Held until the end, so that no session of this process meets the probe.
        let holds = self.session_locks();
        if holds
            .get(session)
            .is_some_and(|hold| hold.strong_count() > 0)
        {
            return true;
        }
        let sources = &self.parts.sources;
        is_open_elsewhere(&*sources.files, &sources.state, session)
    }
}

/// Returns whether another process has a session open; `state` is the folder of the program's
/// state. Returns false if that cannot be determined. Blocks on the disk.
pub fn is_open_elsewhere(files: &dyn Files, state: &AbsPath, session: &str) -> bool {
    let folder = state.join("sessions");
    let owner = folder.join(format!("{session}.owner"));
    if session.contains('/') || !files.exists(&owner) {
        return false;
    }
    // A killed owner leaves its files, but not its lock.
    let probe = files.lock(&folder.join(format!("{session}.lock")));
    matches!(probe, Ok(None))
}

fn in_use_error(session: &str, owner: Option<Vec<u8>>) -> Error {
    let owner = owner.filter(|owner| !owner.is_empty());
    let owner = owner.map_or_else(
        || "another process".to_owned(),
        |owner| String::from_utf8_lossy(&owner).into_owned(),
    );
    Error::SessionInUse {
        session: session.to_owned(),
        owner,
    }
}

fn program() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(|path| path.file_name());
    name.map_or_else(
        || "burin".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
