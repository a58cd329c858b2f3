//! The task that drives one hosted agent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol as acp;
use agent_client_protocol::UntypedMessage;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::{Responder, schema as v1};
use base::LogErr;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use host::{WatchEvent, WatchRequest, Watcher};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::connection::{AgentConnection, AgentMessage, open, sentence};
use super::handshake;
use super::terminals::Terminals;
use super::turn::{TurnAction, TurnEvent, TurnState};
use super::{AgentLaunch, HostedAgentCommand, HostedAgentEvent, SessionStart, SignIn};
use crate::acp::protocol::{
    ConfigOption, Filled, MessageContent, OptionAbout, OptionValue, PromptStop, Update,
};
use crate::acp::v1 as convert;
use crate::child::{self, ChildProcess};
use crate::error::Error;
use crate::framing::NoiseCallback;
use crate::mcp::ElicitationForm;

/// Time an agent has to respond to the initialize request.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// The state of a hosted agent's task.
pub(super) struct HostedSession {
    pub(super) start: AgentLaunch,
    pub(super) connection: AgentConnection,
    pub(super) child: ChildProcess,
    pub(super) events: mpsc::Sender<HostedAgentEvent>,
    /// Its capabilities; the default until it responded to the initialize request.
    pub(super) capabilities: v1::AgentCapabilities,
    pub(super) methods: Vec<v1::AuthMethod>,
    /// The id of the session, once it began.
    pub(super) id: Option<v1::SessionId>,
    pub(super) options: Vec<ConfigOption>,
    turn: TurnState,
    /// Prompts queued behind the running turn.
    queued_prompts: VecDeque<Vec<MessageContent>>,
    /// Pending permission requests, by number.
    pub(super) questions: BTreeMap<u64, Responder>,
    /// Pending forms and pages, by number; a page has no form.
    pub(super) forms: BTreeMap<u64, (Responder, Option<ElicitationForm>)>,
    /// The number of the last request.
    pub(super) number: u64,
    pub(super) terminals: Terminals,
    replies: FuturesUnordered<BoxFuture<'static, AgentReply>>,
    /// The deadline for the initialize response or for stopping a turn.
    deadline: Option<Instant>,
    /// The prompt of the running turn, which is sent again after a sign-in if the agent refused it
    /// for the lack of one.
    sent_prompt: Vec<MessageContent>,
    /// Whether the running turn waits for a sign-in, and whether its prompt was sent again already.
    awaits_sign_in: bool,
    has_repeated: bool,
    /// The kinds of updates that were reported as unknown.
    unknown_updates: BTreeSet<String>,
}

/// A response of the agent to one of our requests.
pub(super) enum AgentReply {
    Hello(Result<Box<v1::InitializeResponse>, acp::Error>),
    SignedIn(Result<(), acp::Error>),
    Began(Result<Value, acp::Error>),
    Answered(Result<v1::PromptResponse, acp::Error>),
    Listed(Result<v1::ListSessionsResponse, acp::Error>),
    Options(Result<Vec<ConfigOption>, acp::Error>),
    ModeSet(String, Result<(), acp::Error>),
    /// A response that needs no further handling.
    Done,
}

/// The reason the task ends.
enum StopCause {
    /// The host closed it.
    Requested,
    /// The agent ended or is unusable.
    Failed(String),
}

/// Runs an agent from start to end. The last event gives the reason for the end.
pub(super) async fn run(
    start: AgentLaunch,
    commands: mpsc::Receiver<HostedAgentCommand>,
    events: mpsc::Sender<HostedAgentEvent>,
) {
    let last = match start_agent(start, &events).await {
        Ok(session) => session.work(commands).await,
        Err(error) => Some(error.to_string()),
    };
    // The receiver may be gone.
    events.send(HostedAgentEvent::Closed(last)).await.ok();
}

/// Starts the agent's process and opens a connection over its pipes, without sending a request.
/// Fails if either is not possible.
async fn start_agent(
    start: AgentLaunch,
    events: &mpsc::Sender<HostedAgentEvent>,
) -> Result<HostedSession, Error> {
    let command = child::ChildCommand {
        program: start.program.clone(),
        arguments: start.arguments.clone(),
        folder: start.root.clone(),
        environment: start.environment.clone(),
    };
    let (child, pipes) = ChildProcess::start_in(&command, start.sandbox.as_deref())?;
    let to = events.clone();
    // Noise is dropped when the event channel is full.
    let noise: NoiseCallback =
        Arc::new(move |text| drop(to.try_send(HostedAgentEvent::Noise(text))));
    let connection = open(pipes.output, pipes.input, noise).await;
    let connection = connection.ok_or_else(|| {
        Error::Disconnected(format!("no connection to {} can be opened", start.name))
    })?;
    Ok(HostedSession {
        start,
        connection,
        child,
        events: events.clone(),
        capabilities: v1::AgentCapabilities::new(),
        methods: Vec::new(),
        id: None,
        options: Vec::new(),
        turn: TurnState::default(),
        queued_prompts: VecDeque::new(),
        questions: BTreeMap::new(),
        forms: BTreeMap::new(),
        number: 0,
        terminals: Terminals::default(),
        replies: FuturesUnordered::new(),
        deadline: None,
        sent_prompt: Vec::new(),
        awaits_sign_in: false,
        has_repeated: false,
        unknown_updates: BTreeSet::new(),
    })
}

impl HostedSession {
    /// Runs until the agent ends, and returns the reason unless the host closed it.
    async fn work(mut self, mut commands: mpsc::Receiver<HostedAgentCommand>) -> Option<String> {
        let watcher = self.watch().await;
        let hello = self
            .connection
            .agent
            .send_request(handshake::initialize_request(&self.start));
        self.add_reply(async move { AgentReply::Hello(hello.block_task().await.map(Box::new)) });
        self.deadline = Some(Instant::now() + HANDSHAKE_TIMEOUT);
        let agent = self.connection.agent.clone();
        let closed = async move { agent.incoming_closed().await };
        tokio::pin!(closed);
        let cause = loop {
            let deadline = self.deadline;
            let step = tokio::select! {
                // Messages are handled before responses, because the agent sent them first.
                biased;
                command = commands.recv() => match command {
                    Some(command) => self.on_command(command).await,
                    None => Err(StopCause::Requested),
                },
                () = at(deadline) => self.on_deadline().await,
                Some(message) = self.connection.messages.recv() => {
                    self.on_message(message).await;
                    Ok(())
                }
                Some(reply) = self.replies.next() => self.on_reply(reply).await,
                Some(event) = watched(watcher.as_ref()) => {
                    self.on_files_changed(event).await;
                    Ok(())
                }
                () = &mut closed => Err(StopCause::Failed(self.child.exit_summary(&self.start.name).await)),
            };
            if let Err(cause) = step {
                break cause;
            }
        };
        self.shut_down(cause).await
    }

    /// Ends a running turn, disconnects and ends the process. Returns why the agent failed; `None`
    /// if the host closed it.
    async fn shut_down(mut self, cause: StopCause) -> Option<String> {
        let why = match cause {
            StopCause::Requested => None,
            StopCause::Failed(why) => Some(why),
        };
        let last = why.clone().unwrap_or_else(|| "it was closed".to_owned());
        self.advance_turn(TurnEvent::Gone(last)).await;
        let Self {
            connection, child, ..
        } = self;
        // Its input is closed, so it may exit by itself.
        drop(connection);
        child.shut_down().await;
        why
    }

    /// Starts to watch the root for changes. A failure is reported as `Problem` or logged, and
    /// gives `None`.
    async fn watch(&mut self) -> Option<Watcher> {
        let files = self.start.files.clone();
        let request = WatchRequest {
            root: self.start.root.clone(),
            ignore: self.start.ignore.clone(),
        };
        let watch = tokio::task::spawn_blocking(move || files.watch(request)).await;
        match watch.log_err()? {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                self.emit(HostedAgentEvent::Problem(format!(
                    "its changes are not watched: {error}"
                )))
                .await;
                None
            }
        }
    }

    /// Adds a response to wait for.
    pub(super) fn add_reply(&self, reply: impl Future<Output = AgentReply> + Send + 'static) {
        self.replies.push(Box::pin(reply));
    }

    // A shared borrow would have to cross threads, and the pending responses cannot.
    /// Sends an event. Waits while the channel is full.
    pub(super) async fn emit(&mut self, event: HostedAgentEvent) {
        // A host that drops the events closes the command channel as well.
        self.events.send(event).await.ok();
    }

    /// Handles a command of the host. Only `Close` returns `Err`: the task then ends as requested.
    /// Requests that fail are reported by `on_reply`; a lost connection is noticed in `work`, never
    /// here.
    async fn on_command(&mut self, command: HostedAgentCommand) -> Result<(), StopCause> {
        match command {
            HostedAgentCommand::Prompt(pieces) => {
                self.queued_prompts.push_back(pieces);
                match self.id {
                    Some(_) => self.advance_turn(TurnEvent::Prompt).await,
                    None => {
                        self.emit(HostedAgentEvent::Problem(
                            "its session has not begun".to_owned(),
                        ))
                        .await
                    }
                }
            }
            // Without a request under way there is nothing that the agent could stop.
            HostedAgentCommand::Stop if self.awaits_sign_in => {
                self.awaits_sign_in = false;
                self.queued_prompts.clear();
                self.advance_turn(TurnEvent::Answered(PromptStop::Stopped))
                    .await;
            }
            HostedAgentCommand::Stop => self.advance_turn(TurnEvent::Stop).await,
            HostedAgentCommand::Decide { number, choice } => self.decide(number, choice),
            HostedAgentCommand::Fill { number, filled } => self.fill(number, filled),
            HostedAgentCommand::SetMode(mode) => self.set_mode(mode),
            HostedAgentCommand::SetOption { id, chosen } => self.set_option(id, chosen),
            HostedAgentCommand::SignIn(sign_in) => self.sign_in(&sign_in),
            HostedAgentCommand::List => {
                let listed = self
                    .connection
                    .agent
                    .send_request(v1::ListSessionsRequest::new());
                self.add_reply(async move { AgentReply::Listed(listed.block_task().await) });
            }
            HostedAgentCommand::Close => return Err(StopCause::Requested),
        }
        Ok(())
    }

    /// Advances the turn's state machine and executes the actions.
    async fn advance_turn(&mut self, event: TurnEvent) {
        let (turn, actions) = self.turn.after(event);
        self.turn = turn;
        for action in actions {
            match action {
                TurnAction::Send => self.send_prompt().await,
                TurnAction::Keep => {}
                TurnAction::Cancel => self.cancel(),
                TurnAction::Warn => {
                    let left = self.start.stop.kill.saturating_sub(self.start.stop.notice);
                    self.deadline = Some(Instant::now() + left);
                    self.emit(HostedAgentEvent::Overdue(left)).await;
                }
                TurnAction::Kill => self.child.kill(),
                TurnAction::End(end) => {
                    self.deadline = None;
                    self.cancel_questions();
                    self.emit(HostedAgentEvent::TurnEnded(end)).await;
                }
            }
        }
        if self.turn == TurnState::Idle && !self.queued_prompts.is_empty() && self.id.is_some() {
            Box::pin(self.advance_turn(TurnEvent::Prompt)).await;
        }
    }

    async fn send_prompt(&mut self) {
        let (Some(pieces), Some(id)) = (self.queued_prompts.pop_front(), self.id.clone()) else {
            base::never!("a turn begins without a prompt or a session");
            return;
        };
        self.emit(HostedAgentEvent::TurnBegan).await;
        self.sent_prompt = pieces.clone();
        self.has_repeated = false;
        self.request_prompt(id, pieces);
    }

    /// Sends the request for a turn.
    fn request_prompt(&self, id: v1::SessionId, pieces: Vec<MessageContent>) {
        let blocks = pieces.into_iter().map(convert::block).collect();
        let answered = self
            .connection
            .agent
            .send_request(v1::PromptRequest::new(id, blocks));
        self.add_reply(async move { AgentReply::Answered(answered.block_task().await) });
    }

    fn cancel(&mut self) {
        if let Some(id) = self.id.clone() {
            self.connection
                .agent
                .send_notification(v1::CancelNotification::new(id))
                .log_err();
        }
        self.queued_prompts.clear();
        self.cancel_questions();
        self.deadline = Some(Instant::now() + self.start.stop.notice);
    }

    /// Cancels all pending requests of the agent.
    fn cancel_questions(&mut self) {
        for number in self.questions.keys().copied().collect::<Vec<_>>() {
            self.decide(number, None);
        }
        for number in self.forms.keys().copied().collect::<Vec<_>>() {
            self.fill(number, Filled::Cancelled);
        }
    }

    /// Handles the deadline. Returns `Err` if the agent has not ended its turn, and is killed for
    /// that, or has not responded to the initialization. A deadline that no longer applies is
    /// ignored.
    async fn on_deadline(&mut self) -> Result<(), StopCause> {
        self.deadline = None;
        if self.turn == TurnState::Stopping {
            self.advance_turn(TurnEvent::Late).await;
            return Ok(());
        }
        if self.turn == TurnState::Overdue {
            self.advance_turn(TurnEvent::Late).await;
            return Err(StopCause::Failed(
                "it did not stop, and was ended".to_owned(),
            ));
        }
        if self.id.is_none() && self.capabilities == v1::AgentCapabilities::new() {
            let seconds = HANDSHAKE_TIMEOUT.as_secs();
            return Err(StopCause::Failed(format!(
                "it did not respond for {seconds} s"
            )));
        }
        Ok(())
    }

    /// Handles a response of the agent. Returns `Err`, which ends the task, if the agent rejects
    /// the initialization or the session; other errors are reported to the host.
    async fn on_reply(&mut self, reply: AgentReply) -> Result<(), StopCause> {
        match reply {
            // If the agent has ended, its error output is more informative; the end of its pipe
            // reports it.
            AgentReply::Hello(Err(_))
            | AgentReply::SignedIn(Err(_))
            | AgentReply::Began(Err(_))
                if self.connection.agent.is_incoming_closed() => {}
            AgentReply::Hello(Ok(hello)) => self.on_initialized(*hello).await?,
            AgentReply::Hello(Err(error)) => {
                return Err(StopCause::Failed(format!(
                    "it rejects initialization: {}",
                    sentence(&error)
                )));
            }
            AgentReply::SignedIn(Ok(())) => self.on_signed_in().await,
            AgentReply::SignedIn(Err(error)) => self.needs_sign_in(&error).await,
            AgentReply::Began(Ok(began)) => self.on_session_started(&began).await,
            AgentReply::Began(Err(error)) if error.code == acp::ErrorCode::AUTH_REQUIRED => {
                self.needs_sign_in(&error).await;
            }
            // An agent stores a session only after its first turn, and may forget old ones.
            AgentReply::Began(Err(error))
                if error.code == acp::ErrorCode::RESOURCE_NOT_FOUND
                    && matches!(self.start.session, SessionStart::Continue(_)) =>
            {
                self.start.session = SessionStart::New;
                self.begin_session();
            }
            AgentReply::Began(Err(error)) => {
                return Err(StopCause::Failed(format!(
                    "its session did not begin: {}",
                    sentence(&error)
                )));
            }
            AgentReply::Answered(Ok(answer)) => {
                self.advance_turn(TurnEvent::Answered(convert::turn_end(answer.stop_reason)))
                    .await;
            }
            AgentReply::Answered(Err(error)) => self.failed(&error).await,
            AgentReply::Listed(Ok(listed)) => {
                let all = listed.sessions.into_iter().map(convert::listed).collect();
                self.emit(HostedAgentEvent::Sessions(all)).await;
            }
            AgentReply::Options(Ok(options)) => {
                self.options = options.clone();
                self.emit(HostedAgentEvent::Update(Update::Options(options)))
                    .await;
            }
            AgentReply::ModeSet(mode, Ok(())) => {
                self.emit(HostedAgentEvent::Update(Update::Mode(mode)))
                    .await
            }
            AgentReply::Listed(Err(error))
            | AgentReply::Options(Err(error))
            | AgentReply::ModeSet(_, Err(error)) => {
                self.emit(HostedAgentEvent::Problem(sentence(&error))).await;
            }
            AgentReply::Done => {}
        }
        Ok(())
    }

    async fn failed(&mut self, error: &acp::Error) {
        // If the agent has ended, its error output is more informative than the protocol's error;
        // the end of its pipe reports it.
        if self.connection.agent.is_incoming_closed() {
            return;
        }
        let is_repeated = std::mem::replace(&mut self.has_repeated, true);
        if error.code == acp::ErrorCode::AUTH_REQUIRED
            && self.turn == TurnState::Running
            && !is_repeated
        {
            // The turn goes on: the prompt is sent again after the sign-in, once.
            self.awaits_sign_in = true;
            return self.needs_sign_in(error).await;
        }
        let end = match error.code {
            acp::ErrorCode::REQUEST_CANCELLED => PromptStop::Stopped,
            _ if matches!(self.turn, TurnState::Stopping | TurnState::Overdue) => {
                PromptStop::Stopped
            }
            _ => PromptStop::Failed(sentence(error)),
        };
        self.advance_turn(TurnEvent::Answered(end)).await;
    }

    /// Begins the session after a sign-in, or sends the prompt again that needed one.
    async fn on_signed_in(&mut self) {
        if self.id.is_none() {
            return self.begin_session();
        }
        if std::mem::take(&mut self.awaits_sign_in)
            && let Some(id) = self.id.clone()
        {
            let prompt = std::mem::take(&mut self.sent_prompt);
            self.request_prompt(id, prompt);
        }
    }

    /// Asks the user to sign in by an event with the agent's sign-in methods and the reason.
    pub(super) async fn needs_sign_in(&mut self, error: &acp::Error) {
        let methods = self.methods.iter().cloned().map(convert::sign_in_method);
        let event = HostedAgentEvent::NeedsSignIn {
            methods: methods.collect(),
            why: sentence(error),
        };
        self.emit(event).await;
    }

    async fn on_message(&mut self, message: AgentMessage) {
        match message {
            AgentMessage::Notification { method, params } => {
                self.on_notification(&method, params).await
            }
            AgentMessage::Request {
                method,
                params,
                responder,
            } => self.on_request(&method, params, *responder).await,
        }
    }

    async fn on_notification(&mut self, method: &str, params: Value) {
        if method != "session/update" {
            // Extensions of other vendors, and additions to the protocol.
            log::debug!("an agent sent an unknown notification: {method}");
            return;
        }
        let kind = params.pointer("/update/sessionUpdate");
        let kind = kind.and_then(Value::as_str).unwrap_or_default().to_owned();
        match serde_json::from_value::<v1::SessionNotification>(params) {
            Ok(it) => {
                if let Some(update) = convert::from_session_update(it.update) {
                    if let Update::Options(options) = &update {
                        self.options = options.clone();
                    }
                    self.emit(HostedAgentEvent::Update(update)).await;
                }
            }
            // A kind of a later version of the protocol does not end the session; it is reported
            // once.
            Err(error) => {
                if self.unknown_updates.insert(kind.clone()) {
                    let text = format!("an update of the kind \"{kind}\" is ignored: {error}");
                    self.emit(HostedAgentEvent::Noise(text)).await;
                }
            }
        }
    }

    async fn on_files_changed(&mut self, event: WatchEvent) {
        match event {
            WatchEvent::Ready => {}
            WatchEvent::Changed(paths) => {
                let paths: Vec<PathBuf> =
                    paths.iter().map(|path| path.as_path().to_owned()).collect();
                self.emit(HostedAgentEvent::Changed(paths)).await;
            }
            WatchEvent::Rescan(_) => self.emit(HostedAgentEvent::Changed(Vec::new())).await,
            WatchEvent::Problem(text) => self.emit(HostedAgentEvent::Problem(text)).await,
        }
    }

    fn set_mode(&self, mode: String) {
        let Some(id) = self.id.clone() else {
            return;
        };
        let request = v1::SetSessionModeRequest::new(id, mode.clone());
        let set = self.connection.agent.send_request(request);
        self.add_reply(
            async move { AgentReply::ModeSet(mode, set.block_task().await.map(|_| ())) },
        );
    }

    fn sign_in(&self, sign_in: &SignIn) {
        let mut request = v1::AuthenticateRequest::new(sign_in.method.clone());
        if !sign_in.meta.is_empty() {
            request = request.meta(sign_in.meta.clone());
        }
        let signed = self.connection.agent.send_request(request);
        self.add_reply(async move { AgentReply::SignedIn(signed.block_task().await.map(|_| ())) });
    }

    /// Returns the options with another value for the model.
    pub(super) fn with_model(&self, model: &str) -> Vec<ConfigOption> {
        let mut options = self.options.clone();
        for option in options
            .iter_mut()
            .filter(|option| option.about == OptionAbout::Model)
        {
            if let OptionValue::One { now, .. } = &mut option.value {
                *now = model.to_owned();
            }
        }
        options
    }

    /// Requests the session to work in.
    pub(super) fn begin_session(&mut self) {
        let request = match handshake::session(&self.start, &self.capabilities) {
            Ok(request) => request,
            Err(error) => {
                self.add_reply(async move { AgentReply::Began(Err(error)) });
                return;
            }
        };
        let began = self
            .connection
            .agent
            .send_request::<UntypedMessage>(request);
        self.add_reply(async move { AgentReply::Began(began.block_task().await) });
    }

    /// Takes over the agent's capabilities, then signs in or begins the session. Returns `Err`,
    /// which ends the task, if the agent speaks another version of the protocol.
    async fn on_initialized(&mut self, hello: v1::InitializeResponse) -> Result<(), StopCause> {
        self.deadline = None;
        if hello.protocol_version != ProtocolVersion::V1 {
            let text = format!(
                "it uses version {:?} of the protocol, and only version 1 is supported",
                hello.protocol_version
            );
            return Err(StopCause::Failed(text));
        }
        self.emit(HostedAgentEvent::Hello(handshake::describe_agent(
            &hello,
            &self.start,
        )))
        .await;
        self.capabilities = hello.agent_capabilities;
        self.methods = hello.auth_methods;
        match self.start.sign_in.clone() {
            Some(sign_in) => self.sign_in(&sign_in),
            None => self.begin_session(),
        }
        Ok(())
    }

    async fn on_session_started(&mut self, began: &Value) {
        let new_id = || {
            let id = began.get("sessionId").and_then(Value::as_str);
            id.map(str::to_owned)
        };
        let id = match &self.start.session {
            SessionStart::Continue(id) if handshake::continues(&self.capabilities) => {
                Some(id.clone())
            }
            SessionStart::New | SessionStart::Continue(_) => new_id(),
            SessionStart::Load(id) | SessionStart::Resume(id) => Some(id.clone()),
        };
        let Some(id) = id else {
            self.emit(HostedAgentEvent::Problem(
                "its session has no id".to_owned(),
            ))
            .await;
            return;
        };
        self.id = Some(v1::SessionId::new(id.clone()));
        self.options = handshake::options(began);
        let event = HostedAgentEvent::Began {
            session: id,
            modes: handshake::modes(began),
            options: self.options.clone(),
        };
        self.emit(event).await;
        if !self.queued_prompts.is_empty() {
            self.advance_turn(TurnEvent::Prompt).await;
        }
    }
}

/// Waits until a moment; forever if there is none.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Waits for the next event, which is always `Some`; forever if there is no watcher or it has
/// ended.
async fn watched(watcher: Option<&Watcher>) -> Option<WatchEvent> {
    match watcher {
        Some(watcher) => match watcher.events.recv().await {
            Ok(event) => Some(event),
            Err(_) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}
