//! The sessions that run in this program, whether or not a view is attached to them.
//!
//! Knows: `agent`. Must not know: how a session is started or shown.
//! Invariant: attaching and detaching views never stops a turn. A session without a view is closed once it is idle, unless
//! a command of it is watched.
//! Start at `LiveSessions::adopt`; `LiveSessions::attach` joins a session that already runs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::engine::SessionChannels;
use agent::queue::PromptQueue;
use agent::record::SessionRecord;
use agent::session::{RunningSession, SessionActivity, SessionChange, SessionChangeKind};
use agent::{AgentEvent, SessionCommand};
use base::AbsPath;
use tokio::sync::{mpsc, watch};

/// The running sessions of a program. Clones share them.
#[derive(Clone)]
pub struct LiveSessions(Arc<SessionRegistry>);

/// A view's connection to a session.
pub struct Attachment {
    /// The folder the session works in.
    pub root: AbsPath,
    /// The command handle of the session. Dropping it detaches the view.
    pub handle: SessionHandle,
    /// Records of the running turn's subagents, the open questions and the fill of the context, to
    /// be shown after the session's own records.
    pub pending: Vec<AgentEvent>,
    /// Events from now on. Unbounded: a view takes them in as fast as a session makes them.
    pub events: mpsc::UnboundedReceiver<AgentEvent>,
}

/// Sends commands to a session on behalf of one view.
pub struct SessionHandle {
    shared: Arc<SessionRegistry>,
    id: String,
    view: u64,
}

/// Keeps a session open that no view shows, until it is dropped.
pub struct SessionHold {
    shared: Arc<SessionRegistry>,
    id: String,
    number: u64,
}

struct SessionRegistry {
    sessions: Mutex<HashMap<String, LiveSession>>,
    statuses: watch::Sender<Vec<RunningSession>>,
    /// The receivers of changes. Unbounded: a turn makes few.
    changes: Mutex<Vec<mpsc::UnboundedSender<SessionChange>>>,
    /// The number of the next hold: unlike those of views, unique in the program.
    next_hold: AtomicU64,
}

struct LiveSession {
    folder: AbsPath,
    root: AbsPath,
    /// Unbounded, so that views never wait: people send few commands.
    commands: mpsc::UnboundedSender<SessionCommand>,
    views: HashMap<u64, mpsc::UnboundedSender<AgentEvent>>,
    next_view: u64,
    /// The numbers of the holds.
    holds: HashSet<u64>,
    is_running: bool,
    /// The messages that wait in the session.
    queue: PromptQueue,
    /// Whether the session is closing, so that no view can attach.
    is_closing: bool,
    /// Titles of calls that wait for an approval, by the subagent that makes them, if any, and the
    /// call.
    approvals: BTreeMap<(Option<String>, String), String>,
    /// Questions of tools that are not answered yet.
    questions: Vec<AgentEvent>,
    /// Records of subagents of the running turn.
    subagents: Vec<AgentEvent>,
    /// The latest fill of the model's context, which no record contains.
    fill: Option<AgentEvent>,
}

impl Default for LiveSessions {
    fn default() -> Self {
        Self(Arc::new(SessionRegistry {
            sessions: Mutex::default(),
            statuses: watch::Sender::new(Vec::new()),
            changes: Mutex::default(),
            next_hold: AtomicU64::new(0),
        }))
    }
}

impl LiveSessions {
    /// Takes over a session that was just opened for `folder` and works in `root`, and attaches a first view. Must be
    /// called on a tokio runtime.
    pub fn adopt(&self, opened: SessionChannels, folder: AbsPath, root: AbsPath) -> Attachment {
        let SessionChannels {
            id,
            queue: waiting,
            problems: _,
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
        let mut session = LiveSession::new(folder, root, waiting, commands);
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

    /// Attaches a view to a running session. Returns `None` if the session does not run in this
    /// program, or is closing. `AgentServices::resume` opens such a session.
    pub fn attach(&self, id: &str) -> Option<Attachment> {
        let mut sessions = self.0.sessions();
        let session = sessions.get_mut(id).filter(|it| !it.is_closing)?;
        Some(session.attach(&self.0, id))
    }

    /// Keeps a session open while a command of it is watched, whether or not a view is attached. Returns `None` if the
    /// session does not run in this program, or is closing.
    pub fn hold(&self, id: &str) -> Option<SessionHold> {
        let mut sessions = self.0.sessions();
        let session = sessions.get_mut(id).filter(|it| !it.is_closing)?;
        let number = self.0.next_hold.fetch_add(1, Ordering::Relaxed);
        session.holds.insert(number);
        Some(SessionHold {
            shared: self.0.clone(),
            id: id.to_owned(),
            number,
        })
    }

    /// Waits until a closing session has ended, so that it can be resumed. Returns at once if the
    /// session does not run.
    pub async fn wait_until_closed(&self, id: &str) {
        let mut statuses = self.statuses();
        let is_gone = |now: &Vec<RunningSession>| now.iter().all(|it| it.id != id);
        // The sender lives as long as `self`.
        statuses.wait_for(is_gone).await.ok();
    }

    /// Returns the running sessions, now and after each change.
    pub fn statuses(&self) -> watch::Receiver<Vec<RunningSession>> {
        self.0.statuses.subscribe()
    }
}

impl LiveSessions {
    /// Returns the changes from now on of which users may want to know.
    pub fn changes(&self) -> mpsc::UnboundedReceiver<SessionChange> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.0.listeners().push(sender);
        receiver
    }
}

impl SessionHandle {
    /// Sends a command to the session. Never waits; a session that has ended ignores it.
    pub fn send(&self, command: SessionCommand) {
        let mut sessions = self.shared.sessions();
        let Some(session) = sessions.get_mut(&self.id) else {
            return;
        };
        match &command {
            // Known before the session records it, so that a view that is closed meanwhile does not end the turn.
            SessionCommand::Prompt(_) | SessionCommand::Steer(_) => session.is_running = true,
            SessionCommand::Reply { .. } => session.questions.clear(),
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

impl Drop for SessionHold {
    fn drop(&mut self) {
        if let Some(session) = self.shared.sessions().get_mut(&self.id) {
            session.holds.remove(&self.number);
            session.close_if_unused();
        }
    }
}

impl SessionRegistry {
    fn sessions(&self) -> MutexGuard<'_, HashMap<String, LiveSession>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<mpsc::UnboundedSender<SessionChange>>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receive(&self, id: &str, event: AgentEvent) {
        let mut change = None;
        if let Some(session) = self.sessions().get_mut(id) {
            change = session.apply_and_compare(id, &event);
            session
                .views
                .retain(|_, view| view.send(event.clone()).is_ok());
            session.close_if_unused();
        }
        self.publish();
        if let Some(change) = change {
            self.listeners()
                .retain(|listener| listener.send(change.clone()).is_ok());
        }
    }

    fn remove(&self, id: &str) {
        self.sessions().remove(id);
        self.publish();
    }

    /// Publishes the statuses if they changed.
    fn publish(&self) {
        let sessions = self.sessions();
        let status = |(id, session): (&String, &LiveSession)| RunningSession {
            id: id.clone(),
            folder: session.folder.clone(),
            activity: session.activity(),
            waiting_for: session.waiting_for(),
        };
        let mut statuses: Vec<RunningSession> = sessions.iter().map(status).collect();
        statuses.sort_by(|one, two| one.id.cmp(&two.id));
        self.statuses.send_if_modified(|published| {
            let is_changed = *published != statuses;
            *published = statuses;
            is_changed
        });
    }
}

impl LiveSession {
    fn new(
        folder: AbsPath,
        root: AbsPath,
        queue: PromptQueue,
        commands: mpsc::UnboundedSender<SessionCommand>,
    ) -> Self {
        Self {
            folder,
            root,
            commands,
            views: HashMap::new(),
            next_view: 0,
            holds: HashSet::new(),
            is_running: false,
            queue,
            is_closing: false,
            approvals: BTreeMap::new(),
            questions: Vec::new(),
            subagents: Vec::new(),
            fill: None,
        }
    }

    fn attach(&mut self, shared: &Arc<SessionRegistry>, id: &str) -> Attachment {
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
            pending: [
                self.subagents.as_slice(),
                &self.questions,
                self.fill.as_slice(),
            ]
            .concat(),
            events,
        }
    }

    fn activity(&self) -> SessionActivity {
        if !self.is_running {
            SessionActivity::Idle
        } else if self.is_waiting() {
            SessionActivity::WaitingForUser
        } else {
            SessionActivity::Working
        }
    }

    /// Whether the session waits for the user: for a permission or an answer.
    fn is_waiting(&self) -> bool {
        !self.approvals.is_empty() || !self.questions.is_empty()
    }

    /// Returns the call or the question that waits for the user, as one line; empty if none waits.
    fn waiting_for(&self) -> String {
        let question = |event: &AgentEvent| match innermost(event) {
            AgentEvent::Asking { question, .. } => Some(question.text.clone()),
            _ => None,
        };
        let asked = self.questions.iter().find_map(question);
        let waiting = self.approvals.values().next().cloned().or(asked);
        let waiting = waiting.filter(|_| self.is_running).unwrap_or_default();
        waiting.lines().next().unwrap_or_default().to_owned()
    }

    /// Applies an event of the session, and returns the change that it makes for the user.
    fn apply_and_compare(&mut self, id: &str, event: &AgentEvent) -> Option<SessionChange> {
        let was_waiting = self.is_waiting();
        self.apply_event(None, event);
        let kind = match event {
            AgentEvent::Idle(end) => SessionChangeKind::Ended {
                end: end.clone(),
                is_followed: self.is_running,
            },
            _ if self.is_waiting() && !was_waiting => SessionChangeKind::Waits(self.waiting_for()),
            _ => return None,
        };
        Some(SessionChange {
            id: id.to_owned(),
            folder: self.folder.clone(),
            kind,
            has_view: !self.views.is_empty(),
        })
    }

    /// Applies an event of the session, or of one of its subagents.
    fn apply_event(&mut self, subagent: Option<&str>, event: &AgentEvent) {
        match event {
            AgentEvent::Recorded(stored) => self.note_record(subagent, &stored.record),
            AgentEvent::Asking { .. } if subagent.is_none() => self.questions.push(event.clone()),
            AgentEvent::Fill { .. } if subagent.is_none() => self.fill = Some(event.clone()),
            AgentEvent::Child {
                session,
                event: inner,
            } => {
                self.apply_event(Some(session), inner);
                match inner.as_ref() {
                    AgentEvent::Recorded(_) | AgentEvent::Child { .. } => {
                        self.subagents.push(event.clone())
                    }
                    AgentEvent::Asking { .. } => self.questions.push(event.clone()),
                    _ => {}
                }
            }
            AgentEvent::Idle(_) if subagent.is_none() => {
                // A message of the queue begins the next turn at once.
                self.is_running = self.queue.sends_next();
                self.approvals.clear();
                self.questions.clear();
                self.subagents.clear();
            }
            _ => {}
        }
    }

    fn note_record(&mut self, subagent: Option<&str>, record: &SessionRecord) {
        let key = |call: &String| (subagent.map(str::to_owned), call.clone());
        match record {
            SessionRecord::Prompted { .. } if subagent.is_none() => self.is_running = true,
            SessionRecord::Queued { change } if subagent.is_none() => {
                self.queue.apply(change);
            }
            SessionRecord::LeaveAsked { call, title, .. } => {
                self.approvals.insert(key(call), title.clone());
            }
            SessionRecord::LeaveGiven { call, .. } | SessionRecord::CallEnded { call, .. } => {
                self.approvals.remove(&key(call));
            }
            _ => {}
        }
    }

    fn close_if_unused(&mut self) {
        let is_used = !self.views.is_empty() || !self.holds.is_empty() || self.is_running;
        if !is_used && !self.is_closing {
            self.is_closing = true;
            // A session that has ended already ignores it.
            self.commands.send(SessionCommand::Close).ok();
        }
    }
}

/// Returns the event of a subagent without those around it.
fn innermost(event: &AgentEvent) -> &AgentEvent {
    match event {
        AgentEvent::Child { event, .. } => innermost(event),
        event => event,
    }
}

/// Wraps a command for a subagent in the commands of its parents. `sessions` are the ids of the
/// subagents on the way, outermost first. If there are no ids, returns the command unchanged.
pub fn through_subagents(sessions: Vec<Arc<str>>, command: SessionCommand) -> SessionCommand {
    sessions
        .into_iter()
        .rev()
        .fold(command, |command, session| SessionCommand::Child {
            session: session.as_ref().to_owned(),
            command: Box::new(command),
        })
}

#[cfg(test)]
mod tests;
