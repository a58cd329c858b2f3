//! What comes into a session while it does something else: commands of the person, questions of tools.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use tokio::sync::{mpsc, oneshot, watch};

use crate::ask::{Decision, Desk, Question};
use crate::record::{Handover, Mode};
use crate::session::{Command, Event, Prompt};

/// The turn is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

/// The way out of a session.
#[derive(Clone)]
pub(crate) struct Events(pub(crate) mpsc::Sender<Event>);

impl Events {
    /// Tells something that must not be missed; waits where nobody takes it.
    pub(crate) async fn tell(&self, event: Event) {
        // An error means that nobody listens any more: the records are in the ledger all the same.
        self.0.send(event).await.ok();
    }

    /// Tells something for eyes only; dropped where nobody keeps up.
    pub(crate) fn show(&self, event: Event) {
        self.0.try_send(event).ok();
    }
}

/// The ways to the subagents that run, by their sessions.
#[derive(Clone, Default)]
pub(crate) struct Children(Arc<Mutex<HashMap<String, mpsc::Sender<Command>>>>);

impl Children {
    pub(crate) fn add(&self, session: &str, commands: mpsc::Sender<Command>) {
        self.lock().insert(session.to_owned(), commands);
    }

    pub(crate) fn remove(&self, session: &str) {
        self.lock().remove(session);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn tell(&self, session: &str, command: Command) {
        let way = self.lock().get(session).cloned();
        // A child that is gone or takes nothing has no use for it.
        way.map(|way| way.try_send(command).is_ok());
    }

    fn stop_all(&self) {
        for way in self.lock().values() {
            way.try_send(Command::Stop).ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<Command>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question of a tool and the way back to it.
pub(crate) type Posed = (Question, oneshot::Sender<Option<String>>);

/// Everything that comes in.
pub(super) struct Inbox {
    commands: mpsc::Receiver<Command>,
    questions: mpsc::Receiver<Posed>,
    events: Events,
    /// Prompts that wait for their turn.
    pub(super) queued: VecDeque<Prompt>,
    /// What is to be said into the running turn.
    pub(super) steering: Vec<Prompt>,
    /// Another model that is to go on.
    pub(super) switch: Option<(String, Handover)>,
    /// Another way to work.
    pub(super) mode: Option<Mode>,
    /// Whether the conversation is to be made shorter.
    pub(super) compact: bool,
    /// Whether the session is to end.
    pub(super) is_closing: bool,
    pub(super) children: Children,
    is_running: bool,
    stop: watch::Sender<bool>,
    leaves: HashMap<String, oneshot::Sender<Decision>>,
    replies: HashMap<u64, oneshot::Sender<Option<String>>>,
    last_question: u64,
}

impl Inbox {
    /// The inbox, and the desk at which its person answers.
    pub(super) fn new(
        commands: mpsc::Receiver<Command>,
        events: Events,
        has_person: bool,
    ) -> (Self, Desk) {
        // Every question waits for its answer, so no more than one for each running call lies here.
        let (pose, questions) = mpsc::channel::<Posed>(64);
        let desk = match has_person {
            false => Desk::empty(),
            true => Desk::new(move |question| {
                let pose = pose.clone();
                async move {
                    let (answer, answered) = oneshot::channel();
                    pose.send((question, answer)).await.ok()?;
                    answered.await.ok().flatten()
                }
                .boxed()
            }),
        };
        let inbox = Self {
            commands,
            questions,
            events,
            queued: VecDeque::new(),
            steering: Vec::new(),
            switch: None,
            mode: None,
            compact: false,
            is_closing: false,
            children: Children::default(),
            is_running: false,
            stop: watch::channel(false).0,
            leaves: HashMap::new(),
            replies: HashMap::new(),
            last_question: 0,
        };
        (inbox, desk)
    }

    /// A turn begins: nothing of the last one holds any more.
    pub(super) fn begin_turn(&mut self) {
        self.is_running = true;
        self.stop = watch::channel(false).0;
    }

    /// Nothing runs: a stop only gives back what waits.
    pub(super) fn begin_idle(&mut self) {
        self.stop.send_replace(false);
    }

    /// A turn has ended. What was to be said into it becomes the next prompt, unless the turn was stopped.
    pub(super) fn end_turn(&mut self) {
        self.is_running = false;
        self.leaves.clear();
        self.replies.clear();
        for prompt in self.steering.drain(..).rev() {
            self.queued.push_front(prompt);
        }
    }

    /// Whether the turn is to stop.
    pub(super) fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Tells running calls that the turn stops.
    pub(super) fn stop_watch(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Waits for something to come in, and takes it. The future may be dropped at any time.
    pub(super) async fn wait(&mut self) {
        tokio::select! {
            command = self.commands.recv() => self.take(command),
            Some(posed) = self.questions.recv() => self.pose(posed).await,
        }
    }

    /// Waits for a future, and takes what comes in meanwhile.
    pub(super) async fn during<T>(
        &mut self,
        future: impl Future<Output = T>,
    ) -> Result<T, Stopped> {
        tokio::pin!(future);
        loop {
            if self.is_stopped() {
                return Err(Stopped);
            }
            tokio::select! {
                biased;
                () = self.wait() => {}
                done = &mut future => return Ok(done),
            }
        }
    }

    /// The way on which the decision about a call will come.
    pub(super) fn leave(&mut self, call: &str) -> oneshot::Receiver<Decision> {
        let (decide, decided) = oneshot::channel();
        self.leaves.insert(call.to_owned(), decide);
        decided
    }

    /// Takes all prompts that were not begun.
    pub(super) fn give_back(&mut self) -> Vec<Prompt> {
        let steering = self.steering.drain(..);
        let all: Vec<Prompt> = steering.chain(self.queued.drain(..)).collect();
        all
    }

    fn take(&mut self, command: Option<Command>) {
        match command {
            Some(Command::Prompt(prompt)) => self.queued.push_back(prompt),
            Some(Command::Steer(prompt)) if self.is_running => self.steering.push(prompt),
            Some(Command::Steer(prompt)) => self.queued.push_back(prompt),
            Some(Command::Decide { call, decision }) => {
                // A call that nobody asked about, or that was stopped meanwhile, needs no decision.
                let way = self.leaves.remove(&call);
                way.map(|way| way.send(decision).is_ok());
            }
            Some(Command::Reply { question, text }) => {
                let way = self.replies.remove(&question);
                way.map(|way| way.send(text).is_ok());
            }
            Some(Command::Stop) => self.stop(),
            Some(Command::Switch { model, how }) => self.switch = Some((model, how)),
            Some(Command::SetMode(mode)) => self.mode = Some(mode),
            Some(Command::Compact) => self.compact = true,
            Some(Command::Child { session, command }) => self.children.tell(&session, *command),
            // Nobody can tell it anything any more.
            Some(Command::Close) | None => {
                self.is_closing = true;
                self.stop();
            }
        }
    }

    fn stop(&mut self) {
        self.children.stop_all();
        self.stop.send_replace(true);
    }

    async fn pose(&mut self, (question, answer): Posed) {
        self.last_question += 1;
        self.replies.insert(self.last_question, answer);
        let number = self.last_question;
        self.events.tell(Event::Asking { number, question }).await;
    }
}
