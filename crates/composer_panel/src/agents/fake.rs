//! Fake agent engines, scripted by a test.

mod access;
mod automations;
mod commands;
mod machine;
mod quality;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use agent::{AgentEvent, SessionCommand};
use base::AbsPath;
use futures::channel::{mpsc, oneshot};
use futures::future::{BoxFuture, FutureExt as _, ready};
use futures::stream::{BoxStream, StreamExt as _};

use crate::board::{self, Board, Command, Event};

use super::{
    AccessChange, AgentCommand, AgentCommandId, AgentService, AutomationChange, AutomationEntry,
    CommandConnection, Consent, Error, ExternalAgentEntry, FolderAccess, FolderAction,
    FolderChanges, FolderState, FolderTrust, KeptPrompts, ModelList, NamedContext, NewSession,
    OpenFiles, QualityReport, RunningSession, ServerContent, SessionChange, SessionConnection,
    SessionEntry, SessionMark, SignInStep, SpendNotice, Spending, StoredChange, ToolAlarm,
    UndoOutcome,
};
use access::apply_access;

/// An engine whose events come from a test, which also reads its commands.
#[derive(Clone, Default)]
pub struct FakeAgents {
    state: Arc<Mutex<FakeAgentState>>,
}

/// A request to the engines that a test can hold back or refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the service's methods")]
pub enum FakeRequest {
    Models,
    Sessions,
    Start,
    Open,
    Board,
    Watch,
    Mark,
    Fork,
    Access,
}

#[derive(Default)]
struct FakeAgentState {
    /// The kinds of requests that are held back.
    held: HashSet<FakeRequest>,
    waiting: Vec<(FakeRequest, oneshot::Sender<()>)>,
    /// The reasons of refused requests.
    refused: HashMap<FakeRequest, String>,
    models: ModelList,
    sessions: Vec<SessionEntry>,
    started: Vec<NewSession>,
    opened: Vec<String>,
    commands: Vec<SessionCommand>,
    folder_trust: FolderTrust,
    board_commands: Vec<Command>,
    board_events: Option<mpsc::UnboundedSender<Event>>,
    watched: Vec<String>,
    events: Option<mpsc::UnboundedSender<AgentEvent>>,
    /// The latest connection of each session.
    connections: HashMap<String, mpsc::UnboundedSender<AgentEvent>>,
    session_changes: Vec<mpsc::UnboundedSender<SessionChange>>,
    stored_changes: Vec<mpsc::UnboundedSender<StoredChange>>,
    problems: Vec<mpsc::UnboundedSender<String>>,
    access: FolderAccess,
    access_changes: Vec<AccessChange>,
    marks: Vec<(String, SessionMark)>,
    forks: Vec<(String, u64)>,
    running: Vec<mpsc::UnboundedSender<Vec<RunningSession>>>,
    notices: Vec<String>,
    open_files: Option<(AbsPath, OpenFiles)>,
    folder_states: Option<mpsc::UnboundedSender<FolderState>>,
    folder: Option<FolderAnswer>,
    kept_prompts: HashMap<AbsPath, KeptPrompts>,
    named: Vec<NamedContext>,
    server_contents: Vec<ServerContent>,
    blind_models: HashSet<String>,
    spending: Spending,
    budget_notices: Vec<mpsc::UnboundedSender<SpendNotice>>,
    quality: QualityReport,
    tool_alarms: Vec<mpsc::UnboundedSender<ToolAlarm>>,
    external_agents: Vec<ExternalAgentEntry>,
    installed: Vec<String>,
    machine: Option<String>,
    link_problems: Vec<mpsc::UnboundedSender<Option<String>>>,
    files: HashMap<AbsPath, Vec<u8>>,
    automations: Vec<AutomationEntry>,
    automation_changes: Vec<AutomationChange>,
    running_commands: commands::FakeCommands,
}

/// Answers the actions on changes in the user's folder.
type FolderAnswer = Arc<dyn Fn(FolderAction) -> Result<UndoOutcome, Error> + Send + Sync>;

impl FakeAgents {
    /// An engine with these models and sessions.
    pub fn new(models: ModelList, sessions: Vec<SessionEntry>) -> Self {
        let fake = Self::default();
        fake.with(|state| {
            state.models = models;
            state.sessions = sessions;
        });
        fake
    }

    fn with<T>(&self, change: impl FnOnce(&mut FakeAgentState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Delays the answers to requests of this kind until `release`.
    pub fn hold(&self, request: FakeRequest) {
        self.with(|state| state.held.insert(request));
    }

    /// Answers all held requests of this kind; later ones are answered at once.
    pub fn release(&self, request: FakeRequest) {
        self.with(|state| {
            state.held.remove(&request);
            // Dropping the senders lets the requests go on.
            state.waiting.retain(|(held, _)| *held != request);
        });
    }

    /// Lets requests of this kind fail with this sentence, or succeed again with `None`.
    pub fn refuse(&self, request: FakeRequest, why: Option<&str>) {
        self.with(|state| match why {
            Some(why) => drop(state.refused.insert(request, why.to_owned())),
            None => drop(state.refused.remove(&request)),
        });
    }

    /// Answers a request once it is not held back: with `answer`, unless it is refused.
    fn answer<T: Send + 'static>(
        &self,
        request: FakeRequest,
        answer: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> BoxFuture<'static, Result<T, Error>> {
        let held = self.with(|state| {
            state.held.contains(&request).then(|| {
                let (sender, receiver) = oneshot::channel();
                state.waiting.push((request, sender));
                receiver
            })
        });
        let this = self.clone();
        async move {
            if let Some(held) = held {
                // Ends with an error, since the sender is dropped.
                held.await.ok();
            }
            match this.with(|state| state.refused.get(&request).cloned()) {
                Some(why) => Err(Error::Failed(why)),
                None => Ok(answer(&this)),
            }
        }
        .boxed()
    }

    /// Sends an event of the latest session.
    pub fn send_event(&self, event: AgentEvent) {
        self.with(|state| {
            if let Some(events) = &state.events {
                // A panel that closed the session does not get it.
                events.unbounded_send(event).ok();
            }
        });
    }

    /// Sends an event of a session to the view that was attached to it last. Returns whether the
    /// view still shows the session.
    pub fn send_event_of(&self, id: &str, event: AgentEvent) -> bool {
        self.with(|state| {
            let events = state.connections.get(id);
            events.is_some_and(|events| events.unbounded_send(event).is_ok())
        })
    }

    /// Replaces the stored sessions, and reports the change.
    pub fn set_sessions(&self, sessions: Vec<SessionEntry>) {
        self.with(|state| {
            state.sessions = sessions;
            state.report_stored(StoredChange::Records);
        });
    }

    /// Reports a change of a running session.
    pub fn change_session(&self, change: &SessionChange) {
        self.with(|state| {
            let sent = |it: &mpsc::UnboundedSender<_>| it.unbounded_send(change.clone()).is_ok();
            state.session_changes.retain(sent);
        });
    }

    /// Reports a problem of the engines that belongs to no open session.
    pub fn report_problem(&self, sentence: &str) {
        self.with(|state| {
            let sent =
                |it: &mpsc::UnboundedSender<_>| it.unbounded_send(sentence.to_owned()).is_ok();
            state.problems.retain(sent);
        });
    }

    /// Sets the rights of agents in the folder.
    pub fn set_access(&self, access: FolderAccess) {
        self.with(|state| state.access = access);
    }

    /// Takes the changes of the rights since the last call.
    pub fn take_access_changes(&self) -> Vec<AccessChange> {
        self.with(|state| std::mem::take(&mut state.access_changes))
    }

    /// Takes the marks that were set since the last call.
    pub fn take_marks(&self) -> Vec<(String, SessionMark)> {
        self.with(|state| std::mem::take(&mut state.marks))
    }

    /// The sessions that were forked so far, with the number of the last copied record.
    pub fn forks(&self) -> Vec<(String, u64)> {
        self.with(|state| state.forks.clone())
    }

    /// Takes the commands that sessions got since the last call.
    pub fn take_commands(&self) -> Vec<SessionCommand> {
        self.with(|state| std::mem::take(&mut state.commands))
    }

    /// The sessions that were started so far.
    pub fn started(&self) -> Vec<NewSession> {
        self.with(|state| state.started.clone())
    }

    /// Ids of the sessions that were opened so far.
    pub fn opened(&self) -> Vec<String> {
        self.with(|state| state.opened.clone())
    }

    /// Sends a new state of the board.
    pub fn show_board(&self, board: Board) {
        self.with(|state| {
            if let Some(events) = &state.board_events {
                // A panel that dropped the board does not get it.
                events.unbounded_send(Event::Board(Arc::new(board))).ok();
            }
        });
    }

    /// Gives back a message that no agent of the board got.
    pub fn undeliver(&self, text: &str) {
        let prompt = agent::session::UserPrompt {
            text: text.to_owned(),
            images: Vec::new(),
        };
        self.with(|state| {
            if let Some(events) = &state.board_events {
                // A panel that dropped the board does not get it.
                events.unbounded_send(Event::Undelivered(prompt)).ok();
            }
        });
    }

    /// Takes the commands that the board got since the last call.
    pub fn take_board_commands(&self) -> Vec<Command> {
        self.with(|state| std::mem::take(&mut state.board_commands))
    }

    /// Ids of the board's agents that were watched so far.
    pub fn watched(&self) -> Vec<String> {
        self.with(|state| state.watched.clone())
    }

    /// Sets the trust status of the folder.
    pub fn set_folder_trust(&self, trust: FolderTrust) {
        self.with(|state| state.folder_trust = trust);
    }

    /// Sends a new list of running sessions.
    pub fn set_running(&self, sessions: &[RunningSession]) {
        // A panel that was closed does not get it.
        self.with(|state| {
            state
                .running
                .retain(|it| it.unbounded_send(sessions.to_vec()).is_ok())
        });
    }

    /// Sets the notices of sessions that are started or opened from now on.
    pub fn set_notices(&self, notices: &[&str]) {
        self.with(|state| state.notices = notices.iter().map(ToString::to_string).collect());
    }

    /// The files that a window reported as open, and their folder.
    pub fn open_files(&self) -> Option<(AbsPath, OpenFiles)> {
        self.with(|state| state.open_files.clone())
    }

    /// Sends the changes of the latest session in the user's folder.
    pub fn show_changes(&self, changes: FolderChanges) {
        self.with(|state| {
            if let Some(states) = &state.folder_states {
                // A panel that closed the session does not get it.
                states.unbounded_send(FolderState::Changes(changes)).ok();
            }
        });
    }

    /// Lets `answer` answer the actions on changes.
    pub fn answer_folder_actions(
        &self,
        answer: impl Fn(FolderAction) -> Result<UndoOutcome, Error> + Send + Sync + 'static,
    ) {
        self.with(|state| state.folder = Some(Arc::new(answer)));
    }

    /// Lets a model refuse images.
    pub fn set_blind(&self, model: &str) {
        self.with(|state| state.blind_models.insert(model.to_owned()));
    }

    /// Sets the cost of models.
    pub fn set_spending(&self, spending: Spending) {
        self.with(|state| state.spending = spending);
    }

    /// Sends a notice of a budget.
    pub fn send_budget_notice(&self, notice: &SpendNotice) {
        self.with(|state| {
            let sent = |it: &mpsc::UnboundedSender<_>| it.unbounded_send(notice.clone()).is_ok();
            state.budget_notices.retain(sent);
        });
    }

    /// Sets the external agents.
    pub fn set_external_agents(&self, agents: Vec<ExternalAgentEntry>) {
        self.with(|state| state.external_agents = agents);
    }

    /// Ids of the external agents that were installed so far.
    pub fn installed(&self) -> Vec<String> {
        self.with(|state| state.installed.clone())
    }

    /// Adds a file that can be read.
    pub fn add_file(&self, path: AbsPath, bytes: Vec<u8>) {
        self.with(|state| state.files.insert(path, bytes));
    }

    /// Sets the contents of the folder's MCP servers.
    pub fn set_server_contents(&self, contents: Vec<ServerContent>) {
        self.with(|state| state.server_contents = contents);
    }

    /// Sets the rules and skills of the folder.
    pub fn set_named_context(&self, named: Vec<NamedContext>) {
        self.with(|state| state.named = named);
    }

    /// The stored drafts and sent prompts of a folder.
    pub fn kept(&self, root: &AbsPath) -> KeptPrompts {
        self.with(|state| state.kept_prompts.get(root).cloned().unwrap_or_default())
    }

    fn connect(&self, id: &str, root: AbsPath) -> SessionConnection {
        let (sender, events) = mpsc::unbounded();
        self.with(|state| {
            state.connections.insert(id.to_owned(), sender.clone());
            state.events = Some(sender);
        });
        let this = self.clone();
        SessionConnection {
            id: id.to_owned(),
            root,
            send: Arc::new(move |command| this.with(|state| state.commands.push(command))),
            past: None,
            events: events.boxed(),
            notices: self.with(|state| state.notices.clone()),
        }
    }
}

impl FakeAgentState {
    /// Applies a mark to the stored sessions, as the ledger does.
    fn apply_mark(&mut self, id: &str, mark: &SessionMark) {
        if *mark == SessionMark::Deleted {
            self.sessions.retain(|entry| entry.id != id);
        }
        let Some(entry) = self.sessions.iter_mut().find(|entry| entry.id == id) else {
            return;
        };
        match mark {
            SessionMark::Renamed { title } | SessionMark::Titled { title, .. } => {
                entry.title.clone_from(title)
            }
            SessionMark::Archived => entry.is_archived = true,
            SessionMark::Unarchived => entry.is_archived = false,
            SessionMark::Unread => entry.is_unread = true,
            SessionMark::Read => entry.is_unread = false,
            SessionMark::Deleted => {}
        }
    }

    fn report_stored(&mut self, change: StoredChange) {
        self.stored_changes
            .retain(|it| it.unbounded_send(change).is_ok());
    }
}

impl AgentService for FakeAgents {
    fn machine(&self) -> Option<String> {
        self.with(|state| state.machine.clone())
    }

    fn link_problems(&self) -> BoxStream<'static, Option<String>> {
        let (sender, problems) = mpsc::unbounded();
        self.with(|state| state.link_problems.push(sender));
        problems.boxed()
    }

    fn models(&self) -> BoxFuture<'static, ModelList> {
        self.answer(FakeRequest::Models, |this| {
            this.with(|state| state.models.clone())
        })
        .map(Result::unwrap_or_default)
        .boxed()
    }

    fn sessions(&self, _: AbsPath) -> BoxFuture<'static, Result<Vec<SessionEntry>, Error>> {
        self.answer(FakeRequest::Sessions, |this| {
            this.with(|state| state.sessions.clone())
        })
    }

    fn start(&self, session: NewSession) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        self.answer(FakeRequest::Start, |this| {
            let connection = this.connect("new", session.root.clone());
            this.with(|state| state.started.push(session));
            connection
        })
    }

    fn open(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        self.answer(FakeRequest::Open, |this| {
            let connection = this.connect(&id, root);
            this.with(|state| state.opened.push(id));
            connection
        })
    }

    fn running_commands(&self) -> BoxStream<'static, Vec<AgentCommand>> {
        self.with(|state| state.running_commands.follow())
    }

    fn watch_command(&self, id: AgentCommandId, from: u64) -> CommandConnection {
        self.connect_command(id, from)
    }

    fn running(&self) -> BoxStream<'static, Vec<RunningSession>> {
        let (sender, receiver) = mpsc::unbounded();
        self.with(|state| state.running.push(sender));
        receiver.boxed()
    }

    fn session_changes(&self) -> BoxStream<'static, SessionChange> {
        let (sender, receiver) = mpsc::unbounded();
        self.with(|state| state.session_changes.push(sender));
        receiver.boxed()
    }

    fn stored_changes(&self) -> BoxStream<'static, StoredChange> {
        let (sender, receiver) = mpsc::unbounded();
        self.with(|state| state.stored_changes.push(sender));
        receiver.boxed()
    }

    fn problems(&self) -> BoxStream<'static, String> {
        let (sender, receiver) = mpsc::unbounded();
        self.with(|state| state.problems.push(sender));
        receiver.boxed()
    }

    fn mark_session(&self, id: String, mark: SessionMark) -> BoxFuture<'static, Result<(), Error>> {
        self.answer(FakeRequest::Mark, move |this| {
            this.with(|state| {
                state.apply_mark(&id, &mark);
                state.marks.push((id, mark));
                state.report_stored(StoredChange::Marks);
            });
        })
    }

    fn fork_session(
        &self,
        _: AbsPath,
        id: String,
        after: u64,
    ) -> BoxFuture<'static, Result<String, Error>> {
        self.answer(FakeRequest::Fork, move |this| {
            this.with(|state| state.forks.push((id, after)));
            "fork".to_owned()
        })
    }

    fn export_session(&self, id: String) -> BoxFuture<'static, Result<String, Error>> {
        ready(Ok(format!("# {id}\n"))).boxed()
    }

    fn set_open_files(&self, root: AbsPath, files: OpenFiles) {
        self.with(|state| state.open_files = Some((root, files)));
    }

    fn board(&self, _: AbsPath) -> BoxFuture<'static, Result<board::BoardConnection, Error>> {
        self.answer(FakeRequest::Board, |this| {
            let (sender, events) = mpsc::unbounded();
            this.with(|state| state.board_events = Some(sender));
            let this = this.clone();
            let send =
                Arc::new(move |command| this.with(|state| state.board_commands.push(command)));
            board::BoardConnection { send, events }
        })
    }

    fn watch(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        self.answer(FakeRequest::Watch, |this| {
            let connection = this.connect(&id, root);
            this.with(|state| state.watched.push(id));
            connection
        })
    }

    fn folder_changes(&self, _: AbsPath, _: String) -> BoxStream<'static, FolderState> {
        let (sender, receiver) = mpsc::unbounded();
        self.with(|state| state.folder_states = Some(sender));
        receiver.boxed()
    }

    fn file_saved(&self, _: AbsPath, _: Option<String>) {}

    fn change_folder(
        &self,
        _: AbsPath,
        _: String,
        action: FolderAction,
    ) -> BoxFuture<'static, Result<UndoOutcome, Error>> {
        let this = self.clone();
        async move {
            match this.with(|state| state.folder.clone()) {
                Some(folder) => folder(action),
                None => Ok(UndoOutcome::default()),
            }
        }
        .boxed()
    }

    fn takes_images(&self, model: String) -> BoxFuture<'static, Option<bool>> {
        let is_blind = self.with(|state| state.blind_models.contains(&model));
        ready(Some(!is_blind)).boxed()
    }

    fn spending(&self, _: u64) -> BoxFuture<'static, Result<Spending, Error>> {
        ready(Ok(self.with(|state| state.spending.clone()))).boxed()
    }

    fn budget_notices(&self) -> BoxStream<'static, SpendNotice> {
        let (sender, receiver) = mpsc::unbounded();
        self.with(|state| state.budget_notices.push(sender));
        receiver.boxed()
    }

    fn quality(&self, _: u64) -> BoxFuture<'static, Result<QualityReport, Error>> {
        ready(Ok(self.with(|state| state.quality.clone()))).boxed()
    }

    fn tool_alarms(&self) -> BoxStream<'static, ToolAlarm> {
        let (sender, receiver) = mpsc::unbounded();
        self.with(|state| state.tool_alarms.push(sender));
        receiver.boxed()
    }

    fn read_file(&self, path: AbsPath, _: u64) -> BoxFuture<'static, Result<Vec<u8>, Error>> {
        let missing = || Error::Failed(format!("{path} does not exist"));
        ready(self.with(|state| state.files.get(&path).cloned().ok_or_else(missing))).boxed()
    }

    fn named_context(&self, _: AbsPath) -> BoxFuture<'static, Vec<NamedContext>> {
        ready(self.with(|state| state.named.clone())).boxed()
    }

    fn server_contents(&self, _: AbsPath) -> BoxFuture<'static, Vec<ServerContent>> {
        ready(self.with(|state| state.server_contents.clone())).boxed()
    }

    fn kept_prompts(&self, root: AbsPath) -> BoxFuture<'static, KeptPrompts> {
        ready(self.kept(&root)).boxed()
    }

    fn keep_prompts(
        &self,
        root: AbsPath,
        kept: KeptPrompts,
    ) -> BoxFuture<'static, Result<(), Error>> {
        self.with(|state| state.kept_prompts.insert(root, kept));
        ready(Ok(())).boxed()
    }

    fn folder_access(&self, _: AbsPath) -> BoxFuture<'static, Result<FolderAccess, Error>> {
        self.answer(FakeRequest::Access, |this| {
            this.with(|state| state.access.clone())
        })
    }

    fn change_access(
        &self,
        _: AbsPath,
        change: AccessChange,
    ) -> BoxFuture<'static, Result<FolderAccess, Error>> {
        self.answer(FakeRequest::Access, move |this| {
            this.with(|state| {
                apply_access(&mut state.access, &change);
                state.access_changes.push(change);
                state.access.clone()
            })
        })
    }

    fn sign_in(&self, _: AbsPath, server: String) -> BoxStream<'static, SignInStep> {
        let page = SignInStep::Page {
            url: format!("https://{server}.example/authorize"),
            reason: format!("The server \"{server}\" wants you to sign in."),
        };
        let done = SignInStep::Done(Ok(format!("the server \"{server}\" is ready")));
        futures::stream::iter([page, done]).boxed()
    }

    fn folder_trust(&self, _: AbsPath) -> BoxFuture<'static, Result<FolderTrust, Error>> {
        ready(Ok(self.with(|state| state.folder_trust.clone()))).boxed()
    }

    fn consent(
        &self,
        _: AbsPath,
        consent: Consent,
    ) -> BoxFuture<'static, Result<FolderTrust, Error>> {
        let trust = self.with(|state| {
            match consent {
                Consent::Trust => state.folder_trust.is_trusted = true,
                Consent::Distrust => state.folder_trust.is_trusted = false,
                Consent::Hooks(shown) => state.folder_trust.hooks.retain(|it| !shown.contains(it)),
                Consent::Server(shown) | Consent::DenyServer(shown) => {
                    state.folder_trust.servers.retain(|it| *it != shown);
                }
            }
            state.folder_trust.clone()
        });
        ready(Ok(trust)).boxed()
    }

    fn automations(&self, _: AbsPath) -> BoxFuture<'static, Result<Vec<AutomationEntry>, Error>> {
        ready(Ok(self.with(|state| state.automations.clone()))).boxed()
    }

    fn change_automation(
        &self,
        _: AbsPath,
        change: AutomationChange,
    ) -> BoxFuture<'static, Result<Vec<AutomationEntry>, Error>> {
        ready(self.apply_automation(change)).boxed()
    }

    fn external_agents(&self) -> BoxFuture<'static, Result<Vec<ExternalAgentEntry>, Error>> {
        ready(Ok(self.with(|state| state.external_agents.clone()))).boxed()
    }

    fn install_agent(&self, id: String) -> BoxFuture<'static, Result<ExternalAgentEntry, Error>> {
        let installed = self.with(|state| {
            let mut agents = state.external_agents.iter_mut();
            let agent = agents.find(|agent| agent.id == id)?;
            agent.is_installed = true;
            state.installed.push(id.clone());
            Some(agent.clone())
        });
        let missing = || Error::Failed(format!("there is no agent {id}"));
        ready(installed.ok_or_else(missing)).boxed()
    }
}
