//! The sessions that run in this program, whether or not a view is attached to them.
//!
//! Knows: `agent`. Must not know: how a session is started or shown.
//! Invariant: attaching and detaching views never stops a turn. A session without a view is closed once it is idle.
//! Start at `LiveSessions::adopt`; `LiveSessions::attach` joins a session that already runs.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::engine::Opened;
use agent::record::Record;
use agent::{Command, Event};
use base::AbsPath;
use tokio::sync::{mpsc, watch};

/// The running sessions of a program. Clones share them.
#[derive(Clone)]
pub struct LiveSessions(Arc<Shared>);

/// A session that runs, as lists and the status bar show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStatus {
    /// The session's id.
    pub id: String,
    /// The folder for which it was opened; a demo session works in a copy of the sample project instead.
    pub folder: AbsPath,
    /// Its activity.
    pub activity: Activity,
}

/// The activity of a running session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// No turn runs.
    Idle,
    /// A turn runs.
    Working,
    /// A turn waits for the person: for an approval or an answer.
    WaitingForUser,
}

/// A view's connection to a session.
pub struct Attachment {
    /// The folder the session works in.
    pub root: AbsPath,
    /// The way to the session. Dropping it detaches the view.
    pub handle: SessionHandle,
    /// What subagents of the running turn recorded and the questions that are open, to be shown behind the session's
    /// own records.
    pub pending: Vec<Event>,
    /// Events from now on. Unbounded: a view takes them in as fast as a session makes them.
    pub events: mpsc::UnboundedReceiver<Event>,
}

/// Sends commands to a session on behalf of one view.
pub struct SessionHandle {
    shared: Arc<Shared>,
    id: String,
    view: u64,
}

struct Shared {
    sessions: Mutex<HashMap<String, LiveSession>>,
    statuses: watch::Sender<Vec<SessionStatus>>,
}

struct LiveSession {
    folder: AbsPath,
    root: AbsPath,
    /// Unbounded, so that views never wait: people send few commands.
    commands: mpsc::UnboundedSender<Command>,
    views: HashMap<u64, mpsc::UnboundedSender<Event>>,
    next_view: u64,
    is_running: bool,
    /// Whether it was told to close: no view can attach any more.
    is_closing: bool,
    /// Calls that wait for an approval: the subagent that makes them, if any, and the call.
    approvals: HashSet<(Option<String>, String)>,
    /// Questions of tools that are not answered yet.
    questions: Vec<Event>,
    /// Records of subagents of the running turn.
    subagents: Vec<Event>,
}

impl Default for LiveSessions {
    fn default() -> Self {
        Self(Arc::new(Shared {
            sessions: Mutex::default(),
            statuses: watch::Sender::new(Vec::new()),
        }))
    }
}

impl LiveSessions {
    /// Takes over a session that was just opened for `folder` and works in `root`, and attaches a first view. Must be
    /// called on a tokio runtime.
    pub fn adopt(&self, opened: Opened, folder: AbsPath, root: AbsPath) -> Attachment {
        let Opened {
            id,
            commands: engine,
            mut events,
        } = opened;
        let id = id.as_ref().to_owned();
        let (commands, mut queue) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(command) = queue.recv().await {
                if engine.send(command).await.is_err() {
                    return;
                }
            }
        });
        let mut session = LiveSession::new(folder, root, commands);
        let attachment = session.attach(&self.0, &id);
        self.0.sessions().insert(id.clone(), session);
        self.0.publish();
        let shared = self.0.clone();
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                shared.receive(&id, event);
            }
            shared.remove(&id);
        });
        attachment
    }

    /// Attaches a view to a session that runs; `None` where it does not run in this program, or closes.
    pub fn attach(&self, id: &str) -> Option<Attachment> {
        let mut sessions = self.0.sessions();
        let session = sessions.get_mut(id).filter(|it| !it.is_closing)?;
        Some(session.attach(&self.0, id))
    }

    /// Waits until a session that closes has ended; it can be resumed then.
    pub async fn ended(&self, id: &str) {
        let mut statuses = self.statuses();
        let is_gone = |now: &Vec<SessionStatus>| now.iter().all(|it| it.id != id);
        // The sender lives as long as `self`.
        statuses.wait_for(is_gone).await.ok();
    }

    /// The running sessions, now and after each change.
    pub fn statuses(&self) -> watch::Receiver<Vec<SessionStatus>> {
        self.0.statuses.subscribe()
    }
}

impl SessionHandle {
    /// Sends a command to the session. Never waits; a session that has ended ignores it.
    pub fn send(&self, command: Command) {
        let mut sessions = self.shared.sessions();
        let Some(session) = sessions.get_mut(&self.id) else {
            return;
        };
        match &command {
            // Known before the session records it, so that a view that is closed meanwhile does not end the turn.
            Command::Prompt(_) | Command::Steer(_) => session.is_running = true,
            Command::Reply { .. } => session.questions.clear(),
            _ => {}
        }
        // A session that has ended ignores commands.
        session.commands.send(command).ok();
        drop(sessions);
        self.shared.publish();
    }
}

impl Drop for SessionHandle {
    fn drop(&mut self) {
        if let Some(session) = self.shared.sessions().get_mut(&self.id) {
            session.views.remove(&self.view);
            session.close_if_unused();
        }
    }
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, HashMap<String, LiveSession>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receive(&self, id: &str, event: Event) {
        if let Some(session) = self.sessions().get_mut(id) {
            session.note(None, &event);
            session
                .views
                .retain(|_, view| view.send(event.clone()).is_ok());
            session.close_if_unused();
        }
        self.publish();
    }

    fn remove(&self, id: &str) {
        self.sessions().remove(id);
        self.publish();
    }

    /// Publishes the statuses where they changed.
    fn publish(&self) {
        let sessions = self.sessions();
        let status = |(id, session): (&String, &LiveSession)| SessionStatus {
            id: id.clone(),
            folder: session.folder.clone(),
            activity: session.activity(),
        };
        let mut statuses: Vec<SessionStatus> = sessions.iter().map(status).collect();
        statuses.sort_by(|one, two| one.id.cmp(&two.id));
        self.statuses.send_if_modified(|published| {
            let is_changed = *published != statuses;
            *published = statuses;
            is_changed
        });
    }
}

impl LiveSession {
    fn new(folder: AbsPath, root: AbsPath, commands: mpsc::UnboundedSender<Command>) -> Self {
        Self {
            folder,
            root,
            commands,
            views: HashMap::new(),
            next_view: 0,
            is_running: false,
            is_closing: false,
            approvals: HashSet::new(),
            questions: Vec::new(),
            subagents: Vec::new(),
        }
    }

    fn attach(&mut self, shared: &Arc<Shared>, id: &str) -> Attachment {
        let (sender, events) = mpsc::unbounded_channel();
        let view = self.next_view;
        self.next_view += 1;
        self.views.insert(view, sender);
        Attachment {
            root: self.root.clone(),
            handle: SessionHandle {
                shared: shared.clone(),
                id: id.to_owned(),
                view,
            },
            pending: [self.subagents.as_slice(), &self.questions].concat(),
            events,
        }
    }

    fn activity(&self) -> Activity {
        match (self.is_running, self.is_waiting()) {
            (false, _) => Activity::Idle,
            (true, false) => Activity::Working,
            (true, true) => Activity::WaitingForUser,
        }
    }

    fn is_waiting(&self) -> bool {
        !self.approvals.is_empty() || !self.questions.is_empty()
    }

    /// Takes in an event of the session, or of one of its subagents.
    fn note(&mut self, subagent: Option<&str>, event: &Event) {
        match event {
            Event::Recorded(stored) => self.note_record(subagent, &stored.record),
            Event::Asking { .. } if subagent.is_none() => self.questions.push(event.clone()),
            Event::Child {
                session,
                event: inner,
            } => {
                self.note(Some(session), inner);
                match inner.as_ref() {
                    Event::Recorded(_) | Event::Child { .. } => self.subagents.push(event.clone()),
                    Event::Asking { .. } => self.questions.push(event.clone()),
                    _ => {}
                }
            }
            Event::Idle(_) if subagent.is_none() => {
                self.is_running = false;
                self.approvals.clear();
                self.questions.clear();
                self.subagents.clear();
            }
            _ => {}
        }
    }

    fn note_record(&mut self, subagent: Option<&str>, record: &Record) {
        let key = |call: &String| (subagent.map(str::to_owned), call.clone());
        match record {
            Record::Prompted { .. } if subagent.is_none() => self.is_running = true,
            Record::LeaveAsked { call, .. } => {
                self.approvals.insert(key(call));
            }
            Record::LeaveGiven { call, .. } | Record::CallEnded { call, .. } => {
                self.approvals.remove(&key(call));
            }
            _ => {}
        }
    }

    fn close_if_unused(&mut self) {
        if self.views.is_empty() && !self.is_running && !self.is_closing {
            self.is_closing = true;
            // A session that has ended already ignores it.
            self.commands.send(Command::Close).ok();
        }
    }
}

#[cfg(test)]
mod tests;
