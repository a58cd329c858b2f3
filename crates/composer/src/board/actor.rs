//! The board's task.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use agent::session::Prompt;

use super::graph_of::{names, readiness_of};
use super::job::{Line, State, WaitsFor};
use super::record::{Past, Record};
use super::{Begin, Book, Command, Event, Hand, JobId, Parts, Place, Settled, Side, Task, Wanted};
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

    async fn obey(&mut self, command: Command) {
        let done = match command {
            Command::Add(tasks) => self.add(tasks, None).await,
            Command::AddBestOf(task, count) => self.add_best_of(task, count).await,
            Command::Steer { job, text } => self.steer(&job, text).await,
            Command::Tell { job, command } => self.pass_on(&job, command).await,
            Command::Pause(job) => self.pause(&job).await,
            Command::GoOn(job) => self.go_on(&job).await,
            Command::Stop(job) => self.stop(&job).await,
            Command::Fork { job, prompt } => self.fork(&job, prompt).await,
            Command::HandOver { job, to } => self.hand_over(&job, to).await,
            Command::Settled { job, how } => self.settle(&job, how).await,
            Command::Release(job) => self.release(&job).await,
            Command::SetRoom(room) => {
                self.parts.room = room.max(1);
                Ok(())
            }
            Command::Close => {
                self.close().await;
                Ok(())
            }
        };
        if let Err(sentence) = done {
            self.tell(Event::Refused(sentence)).await;
        }
    }

    async fn add(&mut self, tasks: Vec<Task>, group: Option<String>) -> Result<(), String> {
        let there: Vec<JobId> = self.jobs.iter().map(Job::id).collect();
        let first = self.next_number();
        let tasks = names(tasks, &there, first)?;
        let at_ms = self.parts.clock.wall_ms();
        let mut added = Vec::new();
        for (job, task) in tasks {
            let record = Record::Added {
                job: job.clone(),
                task: task.clone(),
                group: group.clone(),
                at_ms,
            };
            self.write(record).await?;
            let mut new = Job::of(Line::new(job.clone(), task, group.clone(), at_ms));
            new.told = None;
            self.jobs.push(new);
            added.push(job);
        }
        self.was_settled = false;
        self.tell(Event::Added(added)).await;
        Ok(())
    }

    async fn add_best_of(&mut self, task: Task, count: usize) -> Result<(), String> {
        let group = format!("best-{}", self.next_number());
        let count = count.clamp(1, 32);
        let tasks = (0..count).map(|_| Task {
            name: String::new(),
            ..task.clone()
        });
        self.add(tasks.collect(), Some(group)).await
    }

    fn next_number(&self) -> u64 {
        let numbers = self
            .jobs
            .iter()
            .filter_map(|job| job.line.job.strip_prefix('a'));
        let numbers = numbers.filter_map(|number| number.parse::<u64>().ok());
        numbers.max().unwrap_or(0) + 1
    }

    /// Begins what can begin, as long as there is room.
    async fn fill(&mut self) {
        if self.is_closing {
            return;
        }
        loop {
            let working = self.jobs.iter().filter(|job| job.line.state.takes_room());
            if working.count() >= self.parts.room {
                return;
            }
            let ready = self.jobs.iter().position(|job| {
                job.line.state == State::Queued && self.readiness(job) == Readiness::Ready
            });
            let Some(ix) = ready else { return };
            if let Err(sentence) = self.begin(ix).await {
                self.jobs[ix].line.state = State::Failed { why: sentence };
            }
        }
    }

    pub(super) fn readiness(&self, job: &Job) -> Readiness {
        readiness_of(&job.line, &self.jobs)
    }

    /// Takes the next step towards a session that works: a tree, then the session.
    async fn begin(&mut self, ix: usize) -> Result<(), String> {
        self.jobs[ix].line.state = State::Starting;
        let id = self.jobs[ix].id();
        let way = self.way.clone();
        if self.jobs[ix].line.place.is_none() {
            self.write(Record::Leasing { job: id.clone() }).await?;
            let wanted = self.wanted(ix);
            let leased = self.parts.ground.lease(wanted);
            tokio::spawn(async move {
                // Where the board has ended nobody takes the tree; it is found again as one of nobody's.
                way.send(Inner::Leased(id, leased.await)).await.ok();
            });
            return Ok(());
        }
        let begin = self.begin_of(ix)?;
        let hands = self.parts.hands.clone();
        let job = &self.jobs[ix];
        let (session, fork_of) = (job.line.session.clone(), job.fork_of.clone());
        tokio::spawn(async move {
            let begun = match (session, fork_of) {
                (Some(session), _) => hands.again(begin, session).await,
                (None, None) => hands.begin(begin).await,
                (None, Some(from)) => match hands.fork(begin.clone(), from).await {
                    Ok(session) => hands.again(begin, session).await,
                    Err(sentence) => Err(sentence),
                },
            };
            way.send(Inner::Begun(id, begun)).await.ok();
        });
        Ok(())
    }

    fn begin_of(&self, ix: usize) -> Result<Begin, String> {
        let line = &self.jobs[ix].line;
        let place = line.place.clone();
        Ok(Begin {
            job: line.job.clone(),
            task: line.task.clone(),
            place: place.ok_or_else(|| format!("{} has no tree", line.job))?,
        })
    }

    fn wanted(&self, ix: usize) -> Wanted {
        let job = &self.jobs[ix];
        let needs = job.line.task.needs.iter();
        let needed = needs.filter_map(|need| self.jobs.iter().find(|it| it.line.job == *need));
        // What has landed is in the person's branch, with which every tree begins.
        let not_landed = needed.filter(|it| !matches!(it.line.state, State::Landed { .. }));
        let with = not_landed.filter_map(|it| it.line.place.clone());
        Wanted {
            job: job.id(),
            title: job.line.task.title.clone(),
            with: with.chain(job.with.iter().cloned()).collect(),
        }
    }

    async fn hear_of(&mut self, inner: Inner) {
        match inner {
            Inner::Leased(job, leased) => self.leased(&job, leased).await,
            Inner::Begun(job, begun) => self.begun(&job, begun).await,
            Inner::Told(job, event) => self.heard(&job, *event).await,
            Inner::Held(job, count) => self.held(&job, count).await,
            Inner::HandedOver(job, done) => {
                let text = done.unwrap_or_else(|sentence| sentence);
                if let Some(job) = self.jobs.iter_mut().find(|it| it.line.job == job) {
                    job.is_moving = false;
                }
                self.tell(Event::Said { job, text }).await;
            }
            Inner::Released(job, done) => self.released(&job, done).await,
        }
    }

    async fn leased(&mut self, job: &str, leased: Result<Place, String>) {
        let Some(ix) = self.at(job) else { return };
        let begun = match leased {
            Ok(place) => {
                let record = Record::Leased {
                    job: job.to_owned(),
                    place: place.clone(),
                };
                let written = self.write(record).await;
                self.jobs[ix].line.place = Some(place);
                match (written, self.jobs[ix].is_stopping || self.is_closing) {
                    (Err(sentence), _) => Err(sentence),
                    (Ok(()), true) => return self.stand(ix, State::Stopped).await,
                    (Ok(()), false) => self.begin(ix).await,
                }
            }
            Err(sentence) => Err(sentence),
        };
        if let Err(why) = begun {
            self.stand(ix, State::Failed { why }).await;
        }
    }

    async fn begun(&mut self, job: &str, begun: Result<Hand, String>) {
        let Some(ix) = self.at(job) else { return };
        let hand = match begun {
            Ok(hand) => hand,
            Err(why) => return self.stand(ix, State::Failed { why }).await,
        };
        let session = hand.opened.id.as_ref().to_owned();
        if self.jobs[ix].line.session.as_ref() != Some(&session) {
            let record = Record::Began {
                job: job.to_owned(),
                session: session.clone(),
            };
            if let Err(why) = self.write(record).await {
                return self.stand(ix, State::Failed { why }).await;
            }
        }
        if self.jobs[ix].is_stopping || self.is_closing {
            self.jobs[ix].line.session = Some(session);
            return self.stand(ix, State::Stopped).await;
        }
        let is_new = self.jobs[ix].line.session.is_none() && self.jobs[ix].fork_of.is_none();
        let prompt = match (self.jobs[ix].prompt.take(), is_new) {
            (Some(prompt), _) => prompt,
            (None, true) => self.parts.hands.tell(&self.jobs[ix].line.task),
            (None, false) => GO_ON.to_owned(),
        };
        let held = self.follow(job, hand);
        let job = &mut self.jobs[ix];
        if job.is_pausing {
            held.gate.close();
        }
        job.line.session = Some(session);
        job.hand = Some(held);
        (job.said, job.heard) = (0, 0);
        job.waits.clear();
        self.stand(ix, State::Working).await;
        self.say(ix, prompt).await;
    }

    /// Has what a session tells come in.
    fn follow(&self, job: &str, hand: Hand) -> Held {
        let Hand { opened, gate } = hand;
        let (id, way, mut events) = (job.to_owned(), self.way.clone(), opened.events);
        let told = tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                if way
                    .send(Inner::Told(id.clone(), Box::new(event)))
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
        let (id, way, mut waiting) = (job.to_owned(), self.way.clone(), gate.waiting());
        let held = tokio::spawn(async move {
            while waiting.changed().await.is_ok() {
                let count = *waiting.borrow_and_update();
                if way.send(Inner::Held(id.clone(), count)).await.is_err() {
                    return;
                }
            }
        });
        Held {
            commands: opened.commands,
            gate,
            tasks: [told, held],
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

    async fn steer(&mut self, job: &str, text: String) -> Result<(), String> {
        let ix = self.index(job)?;
        match self.jobs[ix].line.state {
            State::Working | State::Waiting { .. } | State::Paused
                if self.jobs[ix].hand.is_some() =>
            {
                self.say(ix, text).await;
                Ok(())
            }
            State::Queued | State::Starting | State::Paused => Err(format!(
                "{job} has not begun yet; say it once it works, or stop it and add another task"
            )),
            _ => self.queue_again(ix, Some(text)).await,
        }
    }

    async fn pass_on(&mut self, job: &str, command: agent::Command) -> Result<(), String> {
        let ix = self.index(job)?;
        if self.jobs[ix].hand.is_none() {
            return Err(format!(
                "{job} does not work at the moment, so there is nobody to tell"
            ));
        }
        self.answered(ix, &command, &mut Vec::new()).await;
        self.send(ix, command).await;
        Ok(())
    }

    async fn pause(&mut self, job: &str) -> Result<(), String> {
        let ix = self.index(job)?;
        match (&self.jobs[ix].line.state, &self.jobs[ix].hand) {
            (State::Queued, _) => self.stand(ix, State::Paused).await,
            (State::Working | State::Waiting { .. }, Some(hand)) => {
                hand.gate.close();
                self.jobs[ix].is_pausing = true;
            }
            (State::Starting, _) => self.jobs[ix].is_pausing = true,
            (State::Paused, _) => {}
            (state, _) => return Err(format!("{job} does not work: it is {}", state.word())),
        }
        Ok(())
    }

    async fn go_on(&mut self, job: &str) -> Result<(), String> {
        let ix = self.index(job)?;
        self.jobs[ix].is_pausing = false;
        if let Some(hand) = &self.jobs[ix].hand {
            hand.gate.open();
            match &self.jobs[ix].line.state {
                State::Paused => self.stand(ix, State::Working).await,
                state if state.is_open() => {}
                _ => self.jobs[ix].goes_on = true,
            }
            return Ok(());
        }
        match &self.jobs[ix].line.state {
            State::Queued | State::Starting => Ok(()),
            State::Paused => {
                self.stand(ix, State::Queued).await;
                Ok(())
            }
            State::Interrupted | State::Failed { .. } | State::Stopped | State::Conflict { .. } => {
                self.queue_again(ix, None).await
            }
            state => Err(format!(
                "{job} is {}: say what else is to be done",
                state.word()
            )),
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

    async fn stop(&mut self, job: &str) -> Result<(), String> {
        let ix = self.index(job)?;
        match &self.jobs[ix].line.state {
            State::Starting => self.jobs[ix].is_stopping = true,
            state if state.is_open() && self.jobs[ix].hand.is_some() => {
                self.send(ix, agent::Command::Stop).await;
            }
            state if state.is_open() || *state == State::Interrupted => {
                self.stand(ix, State::Stopped).await;
            }
            state => return Err(format!("{job} does not work: it is {}", state.word())),
        }
        Ok(())
    }

    async fn fork(&mut self, job: &str, prompt: String) -> Result<(), String> {
        let ix = self.index(job)?;
        let line = &self.jobs[ix].line;
        let (Some(session), Some(place)) = (line.session.clone(), line.place.clone()) else {
            return Err(format!(
                "{job} has not begun yet, so there is nothing to go on from"
            ));
        };
        if line.state.takes_room() {
            return Err(format!("{job} works at the moment; pause or stop it first"));
        }
        let task = Task {
            name: String::new(),
            title: format!("{} (from {job})", line.task.title),
            prompt: prompt.clone(),
            needs: Vec::new(),
            ..line.task.clone()
        };
        self.add(vec![task], None).await?;
        if let Some(new) = self.jobs.last_mut() {
            new.fork_of = Some(session);
            new.prompt = Some(prompt);
            new.with = vec![place];
        }
        Ok(())
    }

    async fn hand_over(&mut self, job: &str, to: Side) -> Result<(), String> {
        let ix = self.index(job)?;
        let state = &self.jobs[ix].line.state;
        if state.takes_room() || matches!(state, State::Waiting { .. }) {
            return Err(format!(
                "{job} is {}: pause or stop it, or wait until it is done",
                state.word()
            ));
        }
        let place = self.begin_of(ix)?.place;
        self.write(Record::HandedOver {
            job: job.to_owned(),
            to,
        })
        .await?;
        self.jobs[ix].is_moving = true;
        let done = self.parts.ground.hand_over(place, to);
        let (id, way) = (job.to_owned(), self.way.clone());
        tokio::spawn(async move {
            way.send(Inner::HandedOver(id, done.await)).await.ok();
        });
        Ok(())
    }

    async fn settle(&mut self, job: &str, how: Settled) -> Result<(), String> {
        let ix = self.index(job)?;
        if self.jobs[ix].line.state.takes_room() {
            return Err(format!("{job} works at the moment, so it has not settled"));
        }
        self.stand(ix, State::of_settled(&how)).await;
        Ok(())
    }

    async fn release(&mut self, job: &str) -> Result<(), String> {
        let ix = self.index(job)?;
        let line = &self.jobs[ix].line;
        if line.state.is_open() || self.jobs[ix].hand.is_some() {
            return Err(format!("{job} is {}; stop it first", line.state.word()));
        }
        let place = self.begin_of(ix)?.place;
        let done = self.parts.ground.release(place);
        let (id, way) = (job.to_owned(), self.way.clone());
        tokio::spawn(async move {
            way.send(Inner::Released(id, done.await)).await.ok();
        });
        Ok(())
    }

    async fn released(&mut self, job: &str, done: Result<(), String>) {
        let Some(ix) = self.at(job) else { return };
        let written = match done {
            Ok(()) => {
                self.jobs[ix].line.place = None;
                self.write(Record::Released {
                    job: job.to_owned(),
                })
                .await
            }
            Err(sentence) => Err(sentence),
        };
        if let Err(text) = written {
            let job = job.to_owned();
            self.tell(Event::Said { job, text }).await;
        }
    }

    async fn close(&mut self) {
        self.is_closing = true;
        for ix in 0..self.jobs.len() {
            self.send(ix, agent::Command::Close).await;
        }
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
