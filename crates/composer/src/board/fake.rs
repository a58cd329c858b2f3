//! Fake worktrees and sessions for tests of boards and their users.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::engine::SessionChannels;
use agent::session::{AgentEvent, SessionCommand};
use futures::future::BoxFuture;
use tokio::sync::mpsc;

use super::{
    HandOverTarget, JobId, JobSpec, JobWorktree, SessionStartRequest, SessionStarter,
    StartedSession, WorktreeProvider, WorktreeRequest,
};
use crate::change_history::CallGate;

/// Leases worktrees that do not exist.
#[derive(Clone, Default)]
pub struct FakeWorktrees(Arc<Mutex<FakeTrees>>);

#[derive(Default)]
struct FakeTrees {
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
    fn lease(&self, wanted: WorktreeRequest) -> BoxFuture<'static, Result<JobWorktree, String>> {
        let mut trees = lock(&self.0);
        trees.requests.push(wanted);
        trees.last += 1;
        let lease = format!("wt-{}", trees.last);
        let place = JobWorktree {
            root: format!("/trees/{lease}"),
            git_dir: format!("/git/{lease}"),
            base: "0".repeat(40),
            branch: format!("burin/{lease}"),
            lease,
        };
        let answer = match &trees.refuses {
            Some(why) => Err(why.clone()),
            None => Ok(place),
        };
        Box::pin(std::future::ready(answer))
    }

    fn release(&self, place: JobWorktree) -> BoxFuture<'static, Result<(), String>> {
        lock(&self.0).calls.push(format!("release {}", place.lease));
        Box::pin(std::future::ready(Ok(())))
    }

    fn hand_over(
        &self,
        place: JobWorktree,
        to: HandOverTarget,
    ) -> BoxFuture<'static, Result<String, String>> {
        let told = format!("{} to {to:?}", place.lease);
        lock(&self.0).calls.push(told.clone());
        Box::pin(std::future::ready(Ok(told)))
    }
}

/// Starts sessions that a test scripts.
#[derive(Clone, Default)]
pub struct FakeStarter(Arc<Mutex<FakeSessions>>);

#[derive(Default)]
struct FakeSessions {
    last: u32,
    sessions: HashMap<JobId, FakeSession>,
    begun: Vec<String>,
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
    pub fn begun(&self) -> Vec<String> {
        lock(&self.0).begun.clone()
    }

    /// Pretends that no earlier session was written, as if its program had been killed too early.
    pub fn lose_all(&self) {
        lock(&self.0).unwritten = true;
    }

    fn open(&self, job: &str, session: &str, has_heard: bool) -> StartedSession {
        let (commands, obeyed) = mpsc::channel(64);
        let (told, events) = mpsc::channel(64);
        let gate = CallGate::default();
        let fake = FakeSession {
            events: told,
            commands: obeyed,
            gate: gate.clone(),
        };
        lock(&self.0).sessions.insert(job.to_owned(), fake);
        StartedSession {
            opened: SessionChannels {
                id: session.into(),
                commands,
                events,
            },
            gate,
            is_prompted: has_heard,
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
        begin: SessionStartRequest,
    ) -> BoxFuture<'static, Result<StartedSession, String>> {
        let session = self.new_name();
        let told = format!("begin {} {session}", begin.job);
        lock(&self.0).begun.push(told);
        let hand = self.open(&begin.job, &session, false);
        Box::pin(std::future::ready(Ok(hand)))
    }

    fn resume(
        &self,
        begin: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<StartedSession, String>> {
        if lock(&self.0).unwritten {
            return self.start(begin);
        }
        let told = format!("again {} {session}", begin.job);
        lock(&self.0).begun.push(told);
        let hand = self.open(&begin.job, &session, true);
        Box::pin(std::future::ready(Ok(hand)))
    }

    fn fork(
        &self,
        _begin: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<String, String>> {
        let new = self.new_name();
        lock(&self.0).begun.push(format!("fork {session} {new}"));
        Box::pin(std::future::ready(Ok(new)))
    }

    fn prompt_for(&self, task: &JobSpec) -> String {
        format!("{}: {}", task.role, task.prompt)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
