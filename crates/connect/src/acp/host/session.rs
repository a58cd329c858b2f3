//! One hosted agent as a task.

use std::collections::{BTreeMap, VecDeque};
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

use super::line::{Heard, Line, open, sentence};
use super::opening;
use super::terminals::Terminals;
use super::turn::{Deed, Happening, Turn};
use super::{Begin, Command, Event, SignIn, Start};
use crate::acp::v1 as words_v1;
use crate::acp::wire::Noise;
use crate::acp::words::{ConfigOption, Filled, OptionAbout, OptionValue, Piece, TurnEnd, Update};
use crate::child::{self, Child};
use crate::mcp::Form;

/// How long an agent may take to stop a turn.
const STOPS: Duration = Duration::from_secs(2);

/// How long an agent may take until it has said hello.
const HELLO: Duration = Duration::from_secs(60);

/// A hosted agent.
pub(super) struct Session {
    pub(super) start: Start,
    pub(super) line: Line,
    pub(super) child: Child,
    pub(super) events: mpsc::Sender<Event>,
    /// What it says it can do, once it said hello.
    pub(super) able: v1::AgentCapabilities,
    pub(super) methods: Vec<v1::AuthMethod>,
    /// The session's id, once it began.
    pub(super) id: Option<v1::SessionId>,
    pub(super) options: Vec<ConfigOption>,
    turn: Turn,
    /// Prompts that wait for the running turn.
    kept: VecDeque<Vec<Piece>>,
    /// Questions that are open, by number.
    pub(super) questions: BTreeMap<u64, Responder>,
    /// Forms and pages that are open, by number; a page has no form.
    pub(super) forms: BTreeMap<u64, (Responder, Option<Form>)>,
    /// The last number of a question or form.
    pub(super) number: u64,
    pub(super) terminals: Terminals,
    replies: FuturesUnordered<BoxFuture<'static, Reply>>,
    /// When an agent that was told to stop has had its time.
    late: Option<Instant>,
}

/// An answer of the agent to something that we asked.
pub(super) enum Reply {
    Hello(Result<Box<v1::InitializeResponse>, acp::Error>),
    SignedIn(Result<(), acp::Error>),
    Began(Result<Value, acp::Error>),
    Answered(Result<v1::PromptResponse, acp::Error>),
    Listed(Result<v1::ListSessionsResponse, acp::Error>),
    Options(Result<Vec<ConfigOption>, acp::Error>),
    ModeSet(String, Result<(), acp::Error>),
    /// Nothing is left to be done about it.
    Done,
}

/// Why the task ends.
enum Over {
    /// Somebody wanted it to.
    Wanted,
    /// The agent is gone or of no use.
    Because(String),
}

pub(super) async fn run(
    start: Start,
    commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<Event>,
) {
    let last = match begin(start, &events).await {
        Ok(session) => session.work(commands).await,
        Err(why) => Some(why),
    };
    // Whoever is told may be gone.
    events.send(Event::Closed(last)).await.ok();
}

async fn begin(start: Start, events: &mpsc::Sender<Event>) -> Result<Session, String> {
    let (child, pipes) = Child::start(&child::Command {
        program: start.program.clone(),
        arguments: start.arguments.clone(),
        folder: start.root.clone(),
        environment: start.environment.clone(),
    })?;
    let to = events.clone();
    // Noise is dropped while nobody keeps up with the events.
    let noise: Noise = Arc::new(move |text| drop(to.try_send(Event::Noise(text))));
    let line = open(pipes.output, pipes.input, noise).await;
    let line = line.ok_or_else(|| format!("{} cannot be spoken to", start.name))?;
    Ok(Session {
        start,
        line,
        child,
        events: events.clone(),
        able: v1::AgentCapabilities::new(),
        methods: Vec::new(),
        id: None,
        options: Vec::new(),
        turn: Turn::default(),
        kept: VecDeque::new(),
        questions: BTreeMap::new(),
        forms: BTreeMap::new(),
        number: 0,
        terminals: Terminals::default(),
        replies: FuturesUnordered::new(),
        late: None,
    })
}

impl Session {
    /// Works until it is over; why, where that was not our wish.
    async fn work(mut self, mut commands: mpsc::Receiver<Command>) -> Option<String> {
        let watcher = self.watch().await;
        let hello = self.line.agent.send_request(opening::hello(&self.start));
        self.later(async move { Reply::Hello(hello.block_task().await.map(Box::new)) });
        self.late = Some(Instant::now() + HELLO);
        let agent = self.line.agent.clone();
        let closed = async move { agent.incoming_closed().await };
        tokio::pin!(closed);
        let over = loop {
            let late = self.late;
            let step = tokio::select! {
                // What was heard comes before answers: it was said before them.
                biased;
                command = commands.recv() => match command {
                    Some(command) => self.told(command).await,
                    None => Err(Over::Wanted),
                },
                () = at(late) => self.too_late().await,
                Some(heard) = self.line.heard.recv() => {
                    self.heard(heard).await;
                    Ok(())
                }
                Some(reply) = self.replies.next() => self.replied(reply).await,
                Some(event) = watched(watcher.as_ref()) => {
                    self.changed(event).await;
                    Ok(())
                }
                () = &mut closed => Err(Over::Because(self.child.obituary(&self.start.name).await)),
            };
            if let Err(over) = step {
                break over;
            }
        };
        self.end(over).await
    }

    async fn end(mut self, over: Over) -> Option<String> {
        let why = match over {
            Over::Wanted => None,
            Over::Because(why) => Some(why),
        };
        let last = why.clone().unwrap_or_else(|| "it was closed".to_owned());
        self.happen(Happening::Gone(last)).await;
        let Self { line, child, .. } = self;
        // Its input is closed: it may go by itself.
        drop(line);
        child.leave().await;
        why
    }

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
                self.tell(Event::Problem(format!("its changes are not seen: {error}")))
                    .await;
                None
            }
        }
    }

    /// Lets an answer be waited for.
    pub(super) fn later(&self, reply: impl Future<Output = Reply> + Send + 'static) {
        self.replies.push(Box::pin(reply));
    }

    // A shared borrow would have to cross threads, and the answers that are waited for cannot.
    pub(super) async fn tell(&mut self, event: Event) {
        // Who is gone closes the commands too.
        self.events.send(event).await.ok();
    }

    async fn told(&mut self, command: Command) -> Result<(), Over> {
        match command {
            Command::Prompt(pieces) => {
                self.kept.push_back(pieces);
                match self.id {
                    Some(_) => self.happen(Happening::Prompt).await,
                    None => {
                        self.tell(Event::Problem("its session has not begun".to_owned()))
                            .await
                    }
                }
            }
            Command::Stop => self.happen(Happening::Stop).await,
            Command::Decide { number, choice } => self.decide(number, choice),
            Command::Fill { number, filled } => self.fill(number, filled),
            Command::SetMode(mode) => self.set_mode(mode),
            Command::SetOption { id, chosen } => self.set_option(id, chosen),
            Command::SignIn(sign_in) => self.sign_in(&sign_in),
            Command::List => {
                let listed = self.line.agent.send_request(v1::ListSessionsRequest::new());
                self.later(async move { Reply::Listed(listed.block_task().await) });
            }
            Command::Close => return Err(Over::Wanted),
        }
        Ok(())
    }

    /// Moves the turn on and does what follows.
    async fn happen(&mut self, happening: Happening) {
        let (turn, deeds) = self.turn.after(happening);
        self.turn = turn;
        for deed in deeds {
            match deed {
                Deed::Send => self.send_prompt().await,
                Deed::Keep => {}
                Deed::Cancel => self.cancel(),
                Deed::Kill => self.child.kill(),
                Deed::End(end) => {
                    self.late = None;
                    self.take_back();
                    self.tell(Event::TurnEnded(end)).await;
                }
            }
        }
        if self.turn == Turn::Idle && !self.kept.is_empty() && self.id.is_some() {
            Box::pin(self.happen(Happening::Prompt)).await;
        }
    }

    async fn send_prompt(&mut self) {
        let (Some(pieces), Some(id)) = (self.kept.pop_front(), self.id.clone()) else {
            base::never!("a turn begins without a prompt or a session");
            return;
        };
        self.tell(Event::TurnBegan).await;
        let blocks = pieces.into_iter().map(words_v1::block).collect();
        let answered = self
            .line
            .agent
            .send_request(v1::PromptRequest::new(id, blocks));
        self.later(async move { Reply::Answered(answered.block_task().await) });
    }

    fn cancel(&mut self) {
        if let Some(id) = self.id.clone() {
            self.line
                .agent
                .send_notification(v1::CancelNotification::new(id))
                .log_err();
        }
        self.kept.clear();
        self.take_back();
        self.late = Some(Instant::now() + STOPS);
    }

    /// Answers every question that is open with nothing.
    fn take_back(&mut self) {
        for number in self.questions.keys().copied().collect::<Vec<_>>() {
            self.decide(number, None);
        }
        for number in self.forms.keys().copied().collect::<Vec<_>>() {
            self.fill(number, Filled::Cancelled);
        }
    }

    async fn too_late(&mut self) -> Result<(), Over> {
        self.late = None;
        if self.turn == Turn::Stopping {
            self.happen(Happening::Late).await;
            return Err(Over::Because("it did not stop, and was ended".to_owned()));
        }
        if self.id.is_none() && self.able == v1::AgentCapabilities::new() {
            let seconds = HELLO.as_secs();
            return Err(Over::Because(format!("it said nothing for {seconds} s")));
        }
        Ok(())
    }

    async fn replied(&mut self, reply: Reply) -> Result<(), Over> {
        match reply {
            // When the agent is gone, its last words say more; the end of its pipe tells them.
            Reply::Hello(Err(_)) | Reply::SignedIn(Err(_)) | Reply::Began(Err(_))
                if self.line.agent.is_incoming_closed() => {}
            Reply::Hello(Ok(hello)) => self.introduced(*hello).await?,
            Reply::Hello(Err(error)) => {
                return Err(Over::Because(format!(
                    "it does not take our hello: {}",
                    sentence(&error)
                )));
            }
            Reply::SignedIn(Ok(())) => self.begin_session(),
            Reply::SignedIn(Err(error)) => self.needs_sign_in(&error).await,
            Reply::Began(Ok(began)) => self.began(&began).await,
            Reply::Began(Err(error)) if error.code == acp::ErrorCode::AUTH_REQUIRED => {
                self.needs_sign_in(&error).await;
            }
            Reply::Began(Err(error)) => {
                return Err(Over::Because(format!(
                    "its session did not begin: {}",
                    sentence(&error)
                )));
            }
            Reply::Answered(Ok(answer)) => {
                self.happen(Happening::Answered(words_v1::turn_end(answer.stop_reason)))
                    .await;
            }
            Reply::Answered(Err(error)) => self.failed(&error).await,
            Reply::Listed(Ok(listed)) => {
                let all = listed.sessions.into_iter().map(words_v1::listed).collect();
                self.tell(Event::Sessions(all)).await;
            }
            Reply::Options(Ok(options)) => {
                self.options = options.clone();
                self.tell(Event::Update(Update::Options(options))).await;
            }
            Reply::ModeSet(mode, Ok(())) => self.tell(Event::Update(Update::Mode(mode))).await,
            Reply::Listed(Err(error))
            | Reply::Options(Err(error))
            | Reply::ModeSet(_, Err(error)) => {
                self.tell(Event::Problem(sentence(&error))).await;
            }
            Reply::Done => {}
        }
        Ok(())
    }

    async fn failed(&mut self, error: &acp::Error) {
        // When the agent is gone, its last words say more than the protocol's; the pipe's end tells them.
        if self.line.agent.is_incoming_closed() {
            return;
        }
        let end = match error.code {
            acp::ErrorCode::REQUEST_CANCELLED => TurnEnd::Stopped,
            _ if self.turn == Turn::Stopping => TurnEnd::Stopped,
            _ => TurnEnd::Failed(sentence(error)),
        };
        self.happen(Happening::Answered(end)).await;
        if error.code == acp::ErrorCode::AUTH_REQUIRED {
            self.needs_sign_in(error).await;
        }
    }

    pub(super) async fn needs_sign_in(&mut self, error: &acp::Error) {
        let methods = self.methods.iter().cloned().map(words_v1::sign_in_method);
        let event = Event::NeedsSignIn {
            methods: methods.collect(),
            why: sentence(error),
        };
        self.tell(event).await;
    }

    async fn heard(&mut self, heard: Heard) {
        match heard {
            Heard::Told { method, params } => self.notified(&method, params).await,
            Heard::Asked {
                method,
                params,
                responder,
            } => self.asked(&method, params, *responder).await,
        }
    }

    async fn notified(&mut self, method: &str, params: Value) {
        if method != "session/update" {
            // Extensions of others, and what came into the protocol later.
            log::debug!("an agent told {method}");
            return;
        }
        match serde_json::from_value::<v1::SessionNotification>(params) {
            Ok(it) => {
                if let Some(update) = words_v1::told(it.update) {
                    if let Update::Options(options) = &update {
                        self.options = options.clone();
                    }
                    self.tell(Event::Update(update)).await;
                }
            }
            Err(error) => {
                self.tell(Event::Noise(format!("an update makes no sense: {error}")))
                    .await;
            }
        }
    }

    async fn changed(&mut self, event: WatchEvent) {
        match event {
            WatchEvent::Ready => {}
            WatchEvent::Changed(paths) => {
                let paths: Vec<PathBuf> =
                    paths.iter().map(|path| path.as_path().to_owned()).collect();
                self.tell(Event::Changed(paths)).await;
            }
            WatchEvent::Rescan(_) => self.tell(Event::Changed(Vec::new())).await,
            WatchEvent::Problem(text) => self.tell(Event::Problem(text)).await,
        }
    }

    fn set_mode(&self, mode: String) {
        let Some(id) = self.id.clone() else {
            return;
        };
        let request = v1::SetSessionModeRequest::new(id, mode.clone());
        let set = self.line.agent.send_request(request);
        self.later(async move { Reply::ModeSet(mode, set.block_task().await.map(|_| ())) });
    }

    fn sign_in(&self, sign_in: &SignIn) {
        let mut request = v1::AuthenticateRequest::new(sign_in.method.clone());
        if !sign_in.meta.is_empty() {
            request = request.meta(sign_in.meta.clone());
        }
        let signed = self.line.agent.send_request(request);
        self.later(async move { Reply::SignedIn(signed.block_task().await.map(|_| ())) });
    }

    /// What the model's option becomes when another value of it is chosen.
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

    /// Begins the session that was wanted.
    pub(super) fn begin_session(&self) {
        let request = match opening::session(&self.start, &self.able) {
            Ok(request) => request,
            Err(error) => {
                self.later(async move { Reply::Began(Err(error)) });
                return;
            }
        };
        let began = self.line.agent.send_request::<UntypedMessage>(request);
        self.later(async move { Reply::Began(began.block_task().await) });
    }

    async fn introduced(&mut self, hello: v1::InitializeResponse) -> Result<(), Over> {
        self.late = None;
        if hello.protocol_version != ProtocolVersion::V1 {
            let text = format!(
                "it speaks version {:?} of the protocol, and only version 1 is spoken here",
                hello.protocol_version
            );
            return Err(Over::Because(text));
        }
        self.tell(Event::Hello(opening::about(&hello, &self.start)))
            .await;
        self.able = hello.agent_capabilities;
        self.methods = hello.auth_methods;
        match self.start.sign_in.clone() {
            Some(sign_in) => self.sign_in(&sign_in),
            None => self.begin_session(),
        }
        Ok(())
    }

    async fn began(&mut self, began: &Value) {
        let id = match &self.start.begin {
            Begin::New => began
                .get("sessionId")
                .and_then(Value::as_str)
                .map(str::to_owned),
            Begin::Load(id) | Begin::Resume(id) => Some(id.clone()),
        };
        let Some(id) = id else {
            self.tell(Event::Problem("its session has no id".to_owned()))
                .await;
            return;
        };
        self.id = Some(v1::SessionId::new(id.clone()));
        self.options = opening::options(began);
        let event = Event::Began {
            session: id,
            modes: opening::modes(began),
            options: self.options.clone(),
        };
        self.tell(event).await;
        if !self.kept.is_empty() {
            self.happen(Happening::Prompt).await;
        }
    }
}

/// Waits until then; for ever where there is no then.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn watched(watcher: Option<&Watcher>) -> Option<WatchEvent> {
    match watcher {
        Some(watcher) => match watcher.events.recv().await {
            Ok(event) => Some(event),
            Err(_) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}
