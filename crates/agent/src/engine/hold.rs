//! Which process has a session open: two that write to one would each go on without what the other did.
//!
//! Invariant: a process holds a session from before its first record until the session has ended, or the process has.

use std::sync::{Arc, Weak};

use base::AbsPath;
use host::{Files, Lock};

use super::shared::Harness;

/// A session that this process holds. Given back when the last of its clones is dropped.
pub(crate) struct Hold {
    files: Arc<dyn Files>,
    lock: AbsPath,
    owner: AbsPath,
    held: Option<Lock>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        // While it is still held, so that nobody's newer file goes.
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
    /// Takes a session for this process; `None` where that cannot be known. Fails with a sentence where another
    /// process has it.
    pub(crate) fn hold(&self, session: &str) -> Result<Option<Arc<Hold>>, String> {
        let mut holds = self.holds();
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
            Ok(None) => return Err(elsewhere(session, files.read(&owner, 1 << 10).ok())),
            Err(error) => {
                // The ledger itself refuses records that two write at once.
                log::warn!("it is not known whether session {session} is open elsewhere: {error}");
                return Ok(None);
            }
        };
        let name = format!("process {} ({})", std::process::id(), program());
        if let Err(error) = files.write_private(&owner, name.as_bytes()) {
            log::warn!("{error}");
        }
        let hold = Arc::new(Hold {
            files,
            lock,
            owner,
            held: Some(held),
        });
        holds.insert(session.into(), Arc::downgrade(&hold));
        Ok(Some(hold))
    }
}

fn elsewhere(session: &str, owner: Option<Vec<u8>>) -> String {
    let owner = owner.filter(|owner| !owner.is_empty());
    let owner = owner.map_or_else(
        || "another process".to_owned(),
        |owner| String::from_utf8_lossy(&owner).into_owned(),
    );
    format!("session {session} is open in {owner}: go on there, or close it there first")
}

fn program() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(|path| path.file_name());
    name.map_or_else(
        || "burin".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
