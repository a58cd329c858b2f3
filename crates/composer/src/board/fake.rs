//! Fake worktrees and sessions for tests of boards and their users.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::Stored;
use agent::engine::SessionChannels;
use agent::session::{AgentEvent, SessionCommand};
use futures::future::BoxFuture;
use tokio::sync::mpsc;

use super::{
    SessionStartRequest, SessionStarter, StartedSession, WorktreeProvider, WorktreeRequest,
};
use crate::Error;
use crate::change_history::CallGate;
use crate::job::{HandOverTarget, JobId, JobSpec, JobWorktree};

/// Leases worktrees that do not exist.
#[derive(Clone, Default)]
pub struct FakeWorktrees(Arc<Mutex<FakeTreeState>>);

#[derive(Default)]
struct FakeTreeState {
    last: u32,
    requests: Vec<WorktreeRequest>,
    calls: Vec<String>,
    refuses: Option<String>,
}

impl FakeWorktrees {
    /// The requests for worktrees so far, in order.
    pub fn requests(&self) -> Vec<WorktreeRequest> {
        lock(&self.0).requests.clone()
    }

    /// The other calls so far: `release wt-1`, `wt-1 to Person`.
    pub fn calls(&self) -> Vec<String> {
        lock(&self.0).calls.clone()
    }

    /// Refuses all leases from now on, for this reason.
    pub fn refuse(&self, why: &str) {
        lock(&self.0).refuses = Some(why.to_owned());
    }
}

impl WorktreeProvider for FakeWorktrees {
    fn lease(&self, request: WorktreeRequest) -> BoxFuture<'static, Result<JobWorktree, Error>> {
        let mut trees = lock(&self.0);
        trees.requests.push(request);
        trees.last += 1;
        let lease = format!("wt-{}", trees.last);
        let worktree = JobWorktree {
            root: format!("/trees/{lease}"),
            git_dir: format!("/git/{lease}"),
            base: "0".repeat(40),
            branch: format!("burin/{lease}"),
            lease,
        };
        let answer = match &trees.refuses {
            Some(why) => Err(Error::Busy(why.clone())),
            None => Ok(worktree),
        };
        Box::pin(std::future::ready(answer))
    }

    fn release(&self, worktree: JobWorktree) -> BoxFuture<'static, Result<(), Error>> {
        lock(&self.0)
            .calls
            .push(format!("release {}", worktree.lease));
        Box::pin(std::future::ready(Ok(())))
    }

    fn hand_over(
        &self,
        worktree: JobWorktree,
        to: HandOverTarget,
    ) -> BoxFuture<'static, Result<String, Error>> {
        let call = format!("{} to {to:?}", worktree.lease);
        lock(&self.0).calls.push(call.clone());
        Box::pin(std::future::ready(Ok(call)))
    }
}

/// Starts sessions that a test scripts.
#[derive(Clone, Default)]
pub struct FakeStarter(Arc<Mutex<FakeSessionState>>);

#[derive(Default)]
struct FakeSessionState {
    last: u32,
    sessions: HashMap<JobId, FakeSession>,
    calls: Vec<String>,
    unwritten: bool,
}

/// The far side of a fake session.
pub struct FakeSession {
    /// Sends events as the session would.
    pub events: mpsc::Sender<AgentEvent>,
    /// Receives the commands to the session.
    pub commands: mpsc::Receiver<SessionCommand>,
    /// The gate of its tool calls.
    pub gate: CallGate,
}

impl FakeStarter {
    /// Takes the session of a job, once it has started.
    pub fn take_session(&self, job: &str) -> Option<FakeSession> {
        lock(&self.0).sessions.remove(job)
    }

    /// The calls so far: `begin a1 s1`, `again a1 s1`, `fork s1 s2`.
    pub fn calls(&self) -> Vec<String> {
        lock(&self.0).calls.clone()
    }

    /// Pretends that no earlier session was written, as if its program had been killed too early.
    pub fn lose_all(&self) {
        lock(&self.0).unwritten = true;
    }

    fn open(&self, job: &str, session: &str, is_prompted: bool) -> StartedSession {
        let (commands, command_receiver) = mpsc::channel(64);
        let (event_sender, events) = mpsc::channel(64);
        let gate = CallGate::default();
        let fake = FakeSession {
            events: event_sender,
            commands: command_receiver,
            gate: gate.clone(),
        };
        lock(&self.0).sessions.insert(job.to_owned(), fake);
        StartedSession {
            opened: SessionChannels {
                id: session.into(),
                queue: agent::queue::PromptQueue::default(),
                problems: Vec::new(),
                commands,
                events,
            },
            gate,
            is_prompted,
            notices: Vec::new(),
        }
    }

    fn new_name(&self) -> String {
        let mut sessions = lock(&self.0);
        sessions.last += 1;
        format!("s{}", sessions.last)
    }
}

impl SessionStarter for FakeStarter {
    fn start(
        &self,
        request: SessionStartRequest,
    ) -> BoxFuture<'static, Result<StartedSession, Error>> {
        let session = self.new_name();
        let call = format!("begin {} {session}", request.job);
        lock(&self.0).calls.push(call);
        let started = self.open(&request.job, &session, false);
        Box::pin(std::future::ready(Ok(started)))
    }

    fn resume(
        &self,
        request: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<StartedSession, Error>> {
        if lock(&self.0).unwritten {
            return self.start(request);
        }
        let call = format!("again {} {session}", request.job);
        lock(&self.0).calls.push(call);
        let started = self.open(&request.job, &session, true);
        Box::pin(std::future::ready(Ok(started)))
    }

    fn fork(
        &self,
        _request: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<String, Error>> {
        let new = self.new_name();
        lock(&self.0).calls.push(format!("fork {session} {new}"));
        Box::pin(std::future::ready(Ok(new)))
    }

    fn records(&self, _session: &str) -> Result<Vec<Stored>, Error> {
        Ok(Vec::new())
    }

    fn prompt_for(&self, task: &JobSpec) -> String {
        format!("{}: {}", task.role, task.prompt)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
