//! The board's task.

mod begin;
mod obey;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use agent::session::Prompt;

use super::job::{Line, State, WaitsFor};
use super::record::{Past, Record};
use super::{Book, Command, Event, Hand, JobId, Parts, Place, Settled};
use crate::authored::Gate;
use crate::graph::Readiness;

/// Commands that may wait; who tells more waits.
const COMMANDS: usize = 256;
/// Events that may wait. Who does not take them holds the board up, but for those for eyes only, which are left out.
const EVENTS: usize = 4096;
/// What sessions tell that may wait; a session that tells more waits.
const TOLD: usize = 1024;

/// What a session that goes on after it was cut short is told.
const GO_ON: &str = "You were interrupted. Look at how things stand, then go on where you stopped.";

/// A board that is open.
pub struct Board {
    /// The way in.
    pub commands: async_channel::Sender<Command>,
    /// The way out.
    pub events: async_channel::Receiver<Event>,
    task: JoinHandle<()>,
}

/// Something that came about beside the board's task.
pub(super) enum Inner {
    Leased(JobId, Result<Place, String>),
    Begun(JobId, Result<Hand, String>),
    Told(JobId, Box<agent::Event>),
    /// So many of its calls are held.
    Held(JobId, usize),
    HandedOver(JobId, Result<String, String>),
    Released(JobId, Result<(), String>),
}

/// A job and what is in hand of it.
pub(super) struct Job {
    pub(super) line: Line,
    /// The line as it was last told.
    told: Option<Line>,
    pub(super) hand: Option<Held>,
    /// What is to be said once its session is there; its task where nothing is.
    prompt: Option<String>,
    /// The session it goes on from.
    fork_of: Option<String>,
    /// Work that its tree begins with, besides that of the jobs it needs.
    with: Vec<Place>,
    /// It is to stop before it has begun.
    is_stopping: bool,
    /// It is to be held at its next call.
    pub(super) is_pausing: bool,
    /// What the person is waited for, the oldest first.
    pub(super) waits: Vec<WaitsFor>,
    /// How many prompts were said, and how many the session has taken.
    pub(super) said: u64,
    pub(super) heard: u64,
    /// When it began to work, by the clock that never goes back.
    pub(super) began: Option<Duration>,
    /// Its tree is on its way to or from somewhere.
    is_moving: bool,
    /// It goes on as soon as the session that ended has closed.
    pub(super) goes_on: bool,
}

/// A session in hand. Dropping it lets go of the session.
pub(super) struct Held {
    commands: mpsc::Sender<agent::Command>,
    gate: Gate,
    tasks: [JoinHandle<()>; 2],
}

impl Drop for Held {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

pub(super) struct Actor {
    pub(super) parts: Parts,
    pub(super) jobs: Vec<Job>,
    commands: async_channel::Receiver<Command>,
    pub(super) events: async_channel::Sender<Event>,
    inner: mpsc::Receiver<Inner>,
    way: mpsc::Sender<Inner>,
    is_closing: bool,
    was_settled: bool,
}

impl Board {
    /// Opens a board on tokio's current runtime, as its book tells it; nothing of before goes on by itself. Blocks on
    /// the disk.
    pub fn open(parts: Parts) -> Result<(Self, Past), String> {
        let past = Self::look(parts.book.as_ref())?;
        let (commands, obeyed) = async_channel::bounded(COMMANDS);
        let (told, events) = async_channel::bounded(EVENTS);
        let (way, inner) = mpsc::channel(TOLD);
        let jobs = past.lines.iter().cloned().map(Job::of).collect();
        let actor = Actor {
            parts,
            jobs,
            commands: obeyed,
            events: told,
            inner,
            way,
            is_closing: false,
            was_settled: true,
        };
        let task = tokio::spawn(actor.run());
        let board = Self {
            commands,
            events,
            task,
        };
        Ok((board, past))
    }

    /// How a board stands, without opening it. Blocks on the disk.
    pub fn look(book: &dyn Book) -> Result<Past, String> {
        Ok(Past::of(&book.all()?))
    }

    /// Writes down what became of a job's work, where no board is open. Blocks on the disk.
    pub fn note(book: &dyn Book, line: &Line, how: &Settled, at_ms: u64) -> Result<(), String> {
        let record = Record::Stands {
            job: line.job.clone(),
            state: State::of_settled(how),
            cost_nano: line.cost_nano,
            turns: line.turns,
            worked_ms: line.worked_ms,
        };
        let body = serde_json::to_string(&record).map_err(|error| error.to_string())?;
        book.add(record.kind(), &body, at_ms)
    }

    /// Waits until it has ended, after it was told to close.
    pub async fn ended(self) {
        drop(self.commands);
        // Whoever waits for the end does not take events any more.
        drop(self.events);
        if let Err(error) = self.task.await {
            log::error!("the board's task failed: {error}");
        }
    }
}

impl Job {
    fn of(line: Line) -> Self {
        Self {
            told: Some(line.clone()),
            line,
            hand: None,
            prompt: None,
            fork_of: None,
            with: Vec::new(),
            is_stopping: false,
            is_pausing: false,
            waits: Vec::new(),
            said: 0,
            heard: 0,
            began: None,
            is_moving: false,
            goes_on: false,
        }
    }

    fn id(&self) -> JobId {
        self.line.job.clone()
    }

    /// Adds the time since it began to work.
    pub(super) fn rest(&mut self, now: Duration) {
        if let Some(began) = self.began.take() {
            self.line.worked_ms += now.saturating_sub(began).as_millis() as u64;
        }
    }
}

impl Actor {
    async fn run(mut self) {
        loop {
            self.fill().await;
            self.tell_lines().await;
            if self.is_closing
                && self
                    .jobs
                    .iter()
                    .all(|job| job.hand.is_none() && job.line.state != State::Starting)
            {
                break;
            }
            tokio::select! {
                command = self.commands.recv() => match command {
                    Ok(command) => self.obey(command).await,
                    // Nobody can tell it anything any more.
                    Err(_) if !self.is_closing => self.close().await,
                    Err(_) => match self.inner.recv().await {
                        Some(inner) => self.hear_of(inner).await,
                        None => break,
                    },
                },
                Some(inner) = self.inner.recv() => self.hear_of(inner).await,
            }
        }
        self.tell(Event::Closed).await;
    }

    async fn hear_of(&mut self, inner: Inner) {
        match inner {
            Inner::Leased(job, leased) => self.leased(&job, leased).await,
            Inner::Begun(job, begun) => self.begun(&job, begun).await,
            Inner::Told(job, event) => self.heard(&job, *event).await,
            Inner::Held(job, count) => self.held(&job, count).await,
            Inner::HandedOver(job, done) => {
                if let Some(job) = self.jobs.iter_mut().find(|it| it.line.job == job) {
                    job.is_moving = false;
                }
                let event = match done {
                    Ok(text) => Event::Said { job, text },
                    Err(sentence) => Event::Refused(sentence),
                };
                self.tell(event).await;
            }
            Inner::Released(job, done) => self.released(&job, done).await,
        }
    }

    async fn say(&mut self, ix: usize, text: String) {
        self.jobs[ix].said += 1;
        let prompt = Prompt {
            text,
            images: Vec::new(),
        };
        self.send(ix, agent::Command::Steer(prompt)).await;
    }

    pub(super) async fn send(&self, ix: usize, command: agent::Command) {
        if let Some(hand) = &self.jobs[ix].hand {
            // A session that has ended says so by its events.
            hand.commands.send(command).await.ok();
        }
    }

    pub(super) async fn queue_again(
        &mut self,
        ix: usize,
        prompt: Option<String>,
    ) -> Result<(), String> {
        let job = &mut self.jobs[ix];
        if job.is_moving {
            return Err(format!(
                "{} is being handed over; wait a moment",
                job.line.job
            ));
        }
        job.prompt = prompt;
        (job.is_stopping, job.is_pausing) = (false, false);
        self.was_settled = false;
        self.stand(ix, State::Queued).await;
        Ok(())
    }

    /// A job stands so from now on.
    pub(super) async fn stand(&mut self, ix: usize, state: State) {
        let now = self.parts.clock.elapsed();
        let job = &mut self.jobs[ix];
        match state {
            State::Working => {
                job.began.get_or_insert(now);
            }
            State::Waiting { .. } => {}
            _ => job.rest(now),
        }
        if !state.is_open() {
            job.is_pausing = false;
            job.is_stopping = false;
        }
        job.line.state = state.clone();
        job.line.doing.clear();
        let record = Record::Stands {
            job: job.id(),
            state,
            cost_nano: job.line.cost_nano,
            turns: job.line.turns,
            worked_ms: job.line.worked_ms,
        };
        if let Err(sentence) = self.write(record).await {
            self.tell(Event::Refused(sentence)).await;
        }
    }

    pub(super) async fn write(&self, record: Record) -> Result<(), String> {
        let book = Arc::clone(&self.parts.book);
        let at_ms = self.parts.clock.wall_ms();
        let body = serde_json::to_string(&record).map_err(|error| error.to_string())?;
        let written = tokio::task::spawn_blocking(move || book.add(record.kind(), &body, at_ms));
        let written = written.await;
        written.unwrap_or_else(|error| Err(format!("the board could not be written down: {error}")))
    }

    async fn tell_lines(&mut self) {
        for ix in 0..self.jobs.len() {
            if self.jobs[ix].line.state == State::Queued {
                self.jobs[ix].line.doing = match self.readiness(&self.jobs[ix]) {
                    Readiness::Ready => "waits for room".to_owned(),
                    Readiness::Waits(needs) => format!("waits for {}", needs.join(", ")),
                    Readiness::Stuck(needs) => {
                        format!("needs {}, which did not get done", needs.join(", "))
                    }
                };
            }
            let job = &mut self.jobs[ix];
            if job.told.as_ref() != Some(&job.line) {
                job.told = Some(job.line.clone());
                let line = Box::new(job.line.clone());
                self.tell(Event::Job(line)).await;
            }
        }
        let is_settled = self.jobs.iter().all(|job| {
            let is_stuck = || matches!(self.readiness(job), Readiness::Stuck(_));
            !job.line.state.is_open() || (job.line.state == State::Queued && is_stuck())
        });
        if is_settled && !self.was_settled {
            self.tell(Event::Settled).await;
        }
        self.was_settled = is_settled;
    }

    pub(super) async fn tell(&self, event: Event) {
        // Where nobody listens any more there is nobody to tell.
        self.events.send(event).await.ok();
    }

    pub(super) fn at(&self, job: &str) -> Option<usize> {
        self.jobs.iter().position(|it| it.line.job == job)
    }

    fn index(&self, job: &str) -> Result<usize, String> {
        self.at(job)
            .ok_or_else(|| format!("there is no job \"{job}\" on the board"))
    }
}
