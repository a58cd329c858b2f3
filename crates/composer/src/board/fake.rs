//! Trees and sessions in memory, for tests of boards and of what stands on them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::engine::Opened;
use agent::session::{Command, Event};
use futures::future::BoxFuture;
use tokio::sync::mpsc;

use super::{Begin, Ground, Hand, Hands, JobId, Place, Side, Task, Wanted};
use crate::authored::Gate;

/// Lends trees that are nowhere.
#[derive(Clone, Default)]
pub struct FakeGround(Arc<Mutex<FakeTrees>>);

#[derive(Default)]
struct FakeTrees {
    last: u32,
    wanted: Vec<Wanted>,
    told: Vec<String>,
    refuses: Option<String>,
}

impl FakeGround {
    /// What trees were wanted for, in order.
    pub fn wanted(&self) -> Vec<Wanted> {
        lock(&self.0).wanted.clone()
    }

    /// What else was asked of it: `release wt-1`, `wt-1 to Person`.
    pub fn told(&self) -> Vec<String> {
        lock(&self.0).told.clone()
    }

    /// Lends nothing from now on, for this reason.
    pub fn refuse(&self, why: &str) {
        lock(&self.0).refuses = Some(why.to_owned());
    }
}

impl Ground for FakeGround {
    fn lease(&self, wanted: Wanted) -> BoxFuture<'static, Result<Place, String>> {
        let mut trees = lock(&self.0);
        trees.wanted.push(wanted);
        trees.last += 1;
        let lease = format!("wt-{}", trees.last);
        let place = Place {
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

    fn release(&self, place: Place) -> BoxFuture<'static, Result<(), String>> {
        lock(&self.0).told.push(format!("release {}", place.lease));
        Box::pin(std::future::ready(Ok(())))
    }

    fn hand_over(&self, place: Place, to: Side) -> BoxFuture<'static, Result<String, String>> {
        let told = format!("{} to {to:?}", place.lease);
        lock(&self.0).told.push(told.clone());
        Box::pin(std::future::ready(Ok(told)))
    }
}

/// Begins sessions that do what a test tells them.
#[derive(Clone, Default)]
pub struct FakeHands(Arc<Mutex<FakeSessions>>);

#[derive(Default)]
struct FakeSessions {
    last: u32,
    sessions: HashMap<JobId, FakeSession>,
    begun: Vec<String>,
    unwritten: bool,
}

/// The other side of a session.
pub struct FakeSession {
    /// What it tells.
    pub events: mpsc::Sender<Event>,
    /// What it is told.
    pub commands: mpsc::Receiver<Command>,
    /// Before its calls.
    pub gate: Gate,
}

impl FakeHands {
    /// Takes the session of a job, once it has begun.
    pub fn take(&self, job: &str) -> Option<FakeSession> {
        lock(&self.0).sessions.remove(job)
    }

    /// How sessions were begun: `begin a1 s1`, `again a1 s1`, `fork s1 s2`.
    pub fn begun(&self) -> Vec<String> {
        lock(&self.0).begun.clone()
    }

    /// Nothing of the sessions of before was written: their program was killed too early.
    pub fn lose_all(&self) {
        lock(&self.0).unwritten = true;
    }

    fn open(&self, job: &str, session: &str, has_heard: bool) -> Hand {
        let (commands, obeyed) = mpsc::channel(64);
        let (told, events) = mpsc::channel(64);
        let gate = Gate::default();
        let fake = FakeSession {
            events: told,
            commands: obeyed,
            gate: gate.clone(),
        };
        lock(&self.0).sessions.insert(job.to_owned(), fake);
        Hand {
            opened: Opened {
                id: session.into(),
                commands,
                events,
            },
            gate,
            has_heard,
            notices: Vec::new(),
        }
    }

    fn new_name(&self) -> String {
        let mut sessions = lock(&self.0);
        sessions.last += 1;
        format!("s{}", sessions.last)
    }
}

impl Hands for FakeHands {
    fn begin(&self, begin: Begin) -> BoxFuture<'static, Result<Hand, String>> {
        let session = self.new_name();
        let told = format!("begin {} {session}", begin.job);
        lock(&self.0).begun.push(told);
        let hand = self.open(&begin.job, &session, false);
        Box::pin(std::future::ready(Ok(hand)))
    }

    fn again(&self, begin: Begin, session: String) -> BoxFuture<'static, Result<Hand, String>> {
        if lock(&self.0).unwritten {
            return self.begin(begin);
        }
        let told = format!("again {} {session}", begin.job);
        lock(&self.0).begun.push(told);
        let hand = self.open(&begin.job, &session, true);
        Box::pin(std::future::ready(Ok(hand)))
    }

    fn fork(&self, _begin: Begin, session: String) -> BoxFuture<'static, Result<String, String>> {
        let new = self.new_name();
        lock(&self.0).begun.push(format!("fork {session} {new}"));
        Box::pin(std::future::ready(Ok(new)))
    }

    fn tell(&self, task: &Task) -> String {
        format!("{}: {}", task.role, task.prompt)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
