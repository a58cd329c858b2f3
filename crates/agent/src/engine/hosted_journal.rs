//! The records of a session whose turns an external agent runs.
//!
//! The agent keeps its own conversation; these records are ours of it, so that such a session is
//! listed, shown and exported like every other one.
//! Invariant: as for our own sessions, nothing is recorded before the first prompt, and one process
//! at a time writes.
//! Start at `HostedJournal::new` or `HostedJournal::reopen`.

use std::sync::Arc;

use super::Harness;
use super::open::{repair_records, task_error};
use super::session_lock::SessionLock;
use crate::error::Error;
use crate::record::{SessionMode, SessionRecord, Stored};

/// Writes the records of one session.
pub struct HostedJournal {
    harness: Arc<Harness>,
    id: Arc<str>,
    /// The first record, until it is written.
    began: Option<SessionRecord>,
    root: String,
    next_seq: u64,
    lock: Option<Arc<SessionLock>>,
}

impl HostedJournal {
    /// Creates the journal of a new session below `root`. The name `agent` is recorded in place of
    /// the model. Nothing is written yet.
    pub fn new(harness: Arc<Harness>, root: &str, agent: &str, mode: SessionMode) -> Self {
        Self {
            id: harness.new_id(),
            began: Some(SessionRecord::Began {
                root: root.to_owned(),
                parent: None,
                forked_from: None,
                mode,
                model: agent.to_owned(),
            }),
            root: root.to_owned(),
            next_seq: 0,
            lock: None,
            harness,
        }
    }

    /// Opens the journal of a session, and ends the turn and the calls that a killed program left
    /// open. Returns its records; `None` if nothing of the session was written. Fails if another
    /// process has it open or the ledger cannot be written.
    pub async fn reopen(
        harness: Arc<Harness>,
        id: &str,
    ) -> Result<Option<(Self, Vec<Stored>)>, Error> {
        let (reader, name) = (harness.store().clone(), id.to_owned());
        let read = tokio::task::spawn_blocking(move || reader.find(&name)).await;
        let Some(past) = read.map_err(|source| task_error(id, "read", source))?? else {
            return Ok(None);
        };
        let (locker, name) = (harness.clone(), id.to_owned());
        let locked = tokio::task::spawn_blocking(move || locker.lock_session(&name)).await;
        let lock = locked.map_err(|source| task_error(id, "opened", source))??;
        let mut journal = Self {
            id: id.into(),
            began: None,
            root: String::new(),
            next_seq: past.next_seq,
            lock,
            harness,
        };
        let mut records = past.records;
        let repaired = journal.write(repair_records(&records)).await?;
        records.extend(repaired.iter().map(|stored| stored.as_ref().clone()));
        Ok(Some((journal, records)))
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Writes records, the first time with the beginning of the session. They are on the disk when
    /// this returns. On failure their numbers are used again.
    pub async fn write(&mut self, records: Vec<SessionRecord>) -> Result<Vec<Arc<Stored>>, Error> {
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let is_first = self.began.is_some();
        if is_first && self.lock.is_none() {
            let (harness, id) = (self.harness.clone(), self.id.clone());
            let locked = tokio::task::spawn_blocking(move || harness.lock_session(&id)).await;
            self.lock = locked.map_err(|source| task_error(&self.id, "opened", source))??;
        }
        let at_ms = self.harness.parts.sources.clock.wall_ms();
        let all = self.began.clone().into_iter().chain(records);
        let stored: Vec<Stored> = (self.next_seq..)
            .zip(all)
            .map(|(seq, record)| Stored { seq, at_ms, record })
            .collect();
        let store = self.harness.store();
        if is_first {
            store.create_session(&self.id, &self.root, &stored).await?;
        } else {
            store.append(&self.id, &stored).await?;
        }
        self.began = None;
        self.next_seq += stored.len() as u64;
        Ok(stored.into_iter().map(Arc::new).collect())
    }
}
