//! The stored sessions of a folder, and the marks that the user sets on them.
//!
//! Invariant: no rule hides a session but its deletion; a session that its program left in the
//! middle of a turn is not running.
//! Start at `AgentServices::folder_sessions`.

use std::sync::Arc;

use agent::engine;
use agent::export;
use agent::record::TurnEnd;
use agent::store::{
    SessionMark, SessionState, SessionSummary, StoreChanges, UnwrittenRecords, fork_title,
};
use base::AbsPath;
use host::{Clock as _, RealClock};
use tokio::sync::watch;

use crate::Error;
use crate::agent_services::AgentServices;
use crate::compose::service::job_sessions;
use crate::models::setup::DEMO;

/// A stored session of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderSession {
    /// Its entry in the list. A turn that no program works on any more has ended as interrupted.
    pub summary: SessionSummary,
    /// The agent on the board whose session it is; `None` if it works in the folder itself.
    pub agent: Option<SessionAgent>,
    /// The current time minus the time of its last record, in milliseconds.
    pub age_ms: u64,
}

/// The agent on the board to which a session belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionAgent {
    /// The branch to which it commits, or committed.
    pub branch: String,
    /// Id of its job; `None` after it was removed from the board.
    pub job: Option<String>,
}

impl AgentServices {
    /// Returns the sessions of a folder, of the agents on its board and of the demo model, those
    /// with the latest records first, without subagents. Blocks on the disk.
    pub fn folder_sessions(&self, folder: &AbsPath) -> Result<Vec<FolderSession>, Error> {
        let store = self.factory().store();
        let lines = store.sessions(usize::MAX).map_err(Error::session)?;
        // A board that cannot be read hides no session of the folder itself.
        let jobs = job_sessions(self, self.dirs(), folder).unwrap_or_else(|error| {
            log::warn!("the board of {folder} cannot be read: {error}");
            Vec::new()
        });
        let now_ms = RealClock::default().wall_ms();
        let root = folder.to_string();
        let lines = lines.into_iter().filter(|line| line.parent.is_none());
        let listed = lines.filter_map(|summary| {
            let job = jobs.iter().find(|job| job.session == summary.id);
            let is_here = summary.root == root || summary.model.starts_with(DEMO);
            (job.is_some() || is_here).then(|| FolderSession {
                agent: job.map(|job| SessionAgent {
                    branch: job.branch.clone(),
                    job: job.has_worktree.then(|| job.job.clone()),
                }),
                age_ms: now_ms.saturating_sub(summary.last_ms),
                summary: self.with_owner(summary),
            })
        });
        Ok(listed.collect())
    }

    /// Returns a receiver of the records of sessions that could not be written.
    pub fn unwritten_records(&self) -> watch::Receiver<UnwrittenRecords> {
        self.factory().store().unwritten()
    }

    /// Returns a receiver that changes whenever this process has changed the stored sessions.
    pub fn session_changes(&self) -> watch::Receiver<StoreChanges> {
        self.factory().store().changes()
    }

    /// Returns a session's entry in the list; `None` if there is no such session.
    pub(crate) async fn summary(&self, id: &str) -> Result<Option<SessionSummary>, Error> {
        let (store, name) = (self.factory().store().clone(), id.to_owned());
        let read = tokio::task::spawn_blocking(move || store.summary(&name)).await;
        read.map_err(Error::interrupted("the sessions could not be read"))?
            .map_err(Error::session)
    }

    /// Appends a mark to a session. Fails if there is no such session, and for a deletion if the
    /// session is open.
    pub async fn mark_session(&self, id: &str, mark: &SessionMark) -> Result<(), Error> {
        if self.summary(id).await?.is_none() {
            return Err(Error::Unknown(format!("there is no session {id}")));
        }
        if *mark == SessionMark::Deleted && self.factory().harness().is_session_open(id) {
            return Err(Error::Session(
                "this session is running: stop it, then delete it".to_owned(),
            ));
        }
        self.append_mark(id, mark).await
    }

    /// Appends a mark to a session.
    pub(crate) async fn append_mark(&self, id: &str, mark: &SessionMark) -> Result<(), Error> {
        let now_ms = RealClock::default().wall_ms();
        let marked = self.factory().store().mark(id, mark, now_ms).await;
        marked.map_err(Error::session)
    }

    /// Copies a session of the user's folder up to the record number `after` into a new one, and
    /// returns its id. Fails for the session of an agent on the board, whose worktree the copy
    /// would share.
    pub async fn fork_session(
        self: Arc<Self>,
        folder: AbsPath,
        id: &str,
        after: u64,
    ) -> Result<String, Error> {
        let (this, name) = (self.clone(), id.to_owned());
        let is_agents = tokio::task::spawn_blocking(move || {
            let jobs = job_sessions(&this, this.dirs(), &folder);
            jobs.is_ok_and(|jobs| jobs.iter().any(|job| job.session == name))
        });
        let interrupted = Error::interrupted("the board could not be read");
        if is_agents.await.map_err(interrupted)? {
            return Err(Error::Session(
                "this session works in a worktree, which a copy would share: fork its agent on the board".to_owned(),
            ));
        }
        let line = self.summary(id).await?;
        let line = line.ok_or_else(|| Error::Unknown(format!("there is no session {id}")))?;
        let forked = engine::fork(self.factory().harness(), id, after).await;
        let forked = forked.map_err(Error::session)?;
        let mark = SessionMark::Titled {
            title: fork_title(&line.title),
            cost_nano: None,
        };
        self.append_mark(&forked, &mark).await?;
        Ok(forked)
    }

    /// Returns a session as Markdown. Blocks on the disk.
    pub fn export_session(&self, id: &str) -> Result<String, Error> {
        let summary = self.factory().store().summary(id).map_err(Error::session)?;
        let title = summary.map_or_else(|| id.to_owned(), |line| line.title);
        let records = self.records(id)?;
        Ok(export::markdown(&title, &records))
    }

    /// Returns the entry with the state that its owner gives it: a turn without a running program
    /// was interrupted.
    pub(crate) fn with_owner(&self, mut line: SessionSummary) -> SessionSummary {
        if line.state == SessionState::Open && !self.factory().harness().is_session_open(&line.id) {
            line.state = SessionState::Ended(TurnEnd::Interrupted);
        }
        line
    }
}
