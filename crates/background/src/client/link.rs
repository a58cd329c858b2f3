//! The connection to the background process, made anew when it breaks.
//!
//! A process on another machine is reached for any open stream, with growing pauses; streams that began
//! wait for it.
//! A task on a thread of its own owns the connection, the open streams and the unanswered requests.
//! Invariant: the process is started only for a request or a stream that needs it.
//! Invariant: a request that was sent when the connection broke fails; it is not repeated.
//! Start at `ServerLink::new`.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agent_service::{Error as ServiceError, SessionActivity};
use base::AbsPath;
use futures::StreamExt as _;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::BoxStream;
use project::UnsavedTexts;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::connector::{Connector, ServerConnection};
use super::linked_stream::{LinkedStream, StreamFate};
use super::unsaved_texts::ReportedTexts;
use crate::connection::{read_message, write_message};
use crate::protocol::{
    ClientMessage, ClientReport, Hello, ServerMessage, ServiceFailure, ServiceRequest,
    StreamCommand, StreamItem, StreamRequest,
};
use crate::{Error, launch};

/// Pause before the next try to connect, while something needs the process.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause between two tries to connect to another machine.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(30);
/// Interval at which a process that another program started is looked for.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
/// Interval at which changed unsaved texts are sent to the process while agents work.
const REPORT_PAUSE: Duration = Duration::from_millis(300);
/// Interval of the signs of life for a proxy on another machine.
const ALIVE_PAUSE: Duration = Duration::from_secs(60);
/// Number of failed tries to connect after which requests fail.
const MAX_TRIES: u32 = 3;

/// Sends requests to the background process. Clones share the connection.
#[derive(Clone)]
pub(super) struct ServerLink(Arc<LinkHandle>);

struct LinkHandle {
    connector: Arc<Connector>,
    unsaved: Arc<UnsavedTexts>,
    /// A sentence while another machine is not reached.
    problem: watch::Sender<Option<String>>,
    next_id: AtomicU64,
    runtime: OnceLock<io::Result<LinkRuntime>>,
}

struct LinkRuntime {
    runtime: tokio::runtime::Runtime,
    /// Unbounded: views send few commands.
    commands: mpsc::UnboundedSender<LinkCommand>,
}

/// Closes a stream when it is dropped.
pub(super) struct StreamGuard {
    link: ServerLink,
    id: u64,
}

enum LinkCommand {
    Ask(u64, ServiceRequest, oneshot::Sender<Answer>),
    Open(u64, StreamRequest, UnboundedSender<StreamItem>),
    Send(u64, StreamCommand),
    Close(u64),
    Report(ClientReport),
}

type Answer = Result<Value, ServiceError>;

impl ServerLink {
    pub(super) fn new(connector: Connector, unsaved: Arc<UnsavedTexts>) -> Self {
        Self(Arc::new(LinkHandle {
            connector: Arc::new(connector),
            unsaved,
            problem: watch::Sender::new(None),
            next_id: AtomicU64::new(1),
            runtime: OnceLock::new(),
        }))
    }

    /// Streams the problem of the connection to another machine: now, and after each change.
    pub(super) fn problems(&self) -> BoxStream<'static, Option<String>> {
        let mut problems = self.0.problem.subscribe();
        problems.mark_changed();
        let next = |mut problems: watch::Receiver<Option<String>>| async move {
            problems.changed().await.ok()?;
            let now = problems.borrow_and_update().clone();
            Some((now, problems))
        };
        futures::stream::unfold(problems, next).boxed()
    }

    /// Asks for a result. The future may be awaited on any thread.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        request: ServiceRequest,
    ) -> BoxFuture<'static, Result<T, ServiceError>> {
        let (sender, answer) = oneshot::channel();
        let sent = self.send(LinkCommand::Ask(self.fresh_id(), request, sender));
        async move {
            sent?;
            let broke_off = || ServiceError::Unavailable("the connection ended".to_owned());
            let value = answer.await.map_err(|_| broke_off())??;
            serde_json::from_value(value)
                .map_err(|error| ServiceError::Unavailable(error.to_string()))
        }
        .boxed()
    }

    /// Opens a stream, which is closed with the last guard.
    pub(super) fn open(
        &self,
        request: StreamRequest,
    ) -> (Arc<StreamGuard>, UnboundedReceiver<StreamItem>) {
        let id = self.fresh_id();
        // Unbounded: a view takes items as fast as they come.
        let (sender, items) = unbounded();
        let opened = self.send(LinkCommand::Open(id, request, sender.clone()));
        if let Err(error) = opened {
            // The receiver is still here.
            sender.unbounded_send(StreamItem::Failed(error.into())).ok();
        }
        let link = self.clone();
        (Arc::new(StreamGuard { link, id }), items)
    }

    /// Reports a state of this program. Without a process it is of no use to anyone.
    pub(super) fn report(&self, report: ClientReport) {
        if self.0.runtime.get().is_some() {
            self.send(LinkCommand::Report(report)).ok();
        }
    }

    fn fresh_id(&self) -> u64 {
        self.0.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn send(&self, command: LinkCommand) -> Result<(), ServiceError> {
        let unavailable = |why: &str| ServiceError::Unavailable(why.to_owned());
        let link = self.0.runtime.get_or_init(|| self.start());
        let link = link.as_ref().map_err(|error| {
            unavailable(&format!("the thread of the background process: {error}"))
        })?;
        let sent = link.commands.send(command);
        sent.map_err(|_| unavailable("the connection to the background process ended"))
    }

    fn start(&self) -> io::Result<LinkRuntime> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("background")
            .enable_all()
            .build()?;
        let (sender, commands) = mpsc::unbounded_channel();
        let task = LinkTask {
            connector: self.0.connector.clone(),
            problem: self.0.problem.clone(),
            hello: launch::client_hello(),
            commands,
            server: None,
            streams: BTreeMap::new(),
            asks: BTreeMap::new(),
            open_files: BTreeMap::new(),
            texts: ReportedTexts::new(self.0.unsaved.clone()),
            is_agent_working: false,
        };
        runtime.spawn(task.run());
        Ok(LinkRuntime {
            runtime,
            commands: sender,
        })
    }
}

impl Drop for LinkHandle {
    fn drop(&mut self) {
        if let Some(Ok(link)) = self.runtime.take() {
            // May be dropped by a task, which must not wait.
            link.runtime.shutdown_background();
        }
    }
}

impl StreamGuard {
    /// Sends a command into the stream without blocking.
    pub(super) fn send(&self, command: StreamCommand) {
        // A link that ended has closed the stream.
        self.link.send(LinkCommand::Send(self.id, command)).ok();
    }

    /// Runs a future beside the views.
    pub(super) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        if let Some(Ok(link)) = self.link.0.runtime.get() {
            link.runtime.spawn(future);
        }
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.link.send(LinkCommand::Close(self.id)).ok();
    }
}

/// The owner of the connection.
struct LinkTask {
    connector: Arc<Connector>,
    problem: watch::Sender<Option<String>>,
    hello: Hello,
    commands: mpsc::UnboundedReceiver<LinkCommand>,
    /// The run of the process that was connected last.
    server: Option<String>,
    streams: BTreeMap<u64, LinkedStream>,
    asks: BTreeMap<u64, PendingAsk>,
    /// The latest reports of open files, for a new connection.
    open_files: BTreeMap<AbsPath, agent::context::OpenFiles>,
    texts: ReportedTexts,
    /// Whether agents of the process work, so that they may read unsaved texts.
    is_agent_working: bool,
}

struct PendingAsk {
    /// The request, until it is sent.
    request: Option<ServiceRequest>,
    answer: oneshot::Sender<Answer>,
}

/// The end of a connection.
enum Disconnect {
    /// The program of the views ends.
    Finished,
    /// Nothing needs the process of another machine any more.
    Unused,
    /// The connection broke.
    Broken(Error),
}

impl LinkTask {
    async fn run(mut self) {
        while let Some(connection) = self.connected().await {
            match self.serve(connection).await {
                Disconnect::Finished => return,
                Disconnect::Unused => {}
                Disconnect::Broken(error) => self.disconnected(&error),
            }
        }
    }

    /// Connects, or waits until there is a process. Returns `None` when the program ends.
    async fn connected(&mut self) -> Option<ServerConnection> {
        let mut tries = 0;
        loop {
            let is_needed = self.needs_process();
            let mut failed = None;
            if is_needed || !self.connector.is_remote() {
                match self.connect(is_needed).await {
                    Ok(connection) => {
                        self.note_problem(None);
                        return Some(connection);
                    }
                    Err(error) if is_needed => {
                        tries += 1;
                        let is_lasting = tries >= MAX_TRIES || error.is_other_version();
                        self.note_problem(Some(&error));
                        failed = is_lasting.then_some(error);
                    }
                    Err(_) => {}
                }
            }
            self.pause(tries, failed).await?;
        }
    }

    async fn connect(&self, is_needed: bool) -> Result<ServerConnection, Error> {
        let is_known = self.server.is_some();
        let connecting = self.connector.connect(&self.hello, is_needed, is_known);
        connecting.await
    }

    /// Waits before the next try, and takes commands meanwhile. With an error that lasts, everything
    /// that needs the process fails. Returns `None` when the program ends.
    async fn pause(&mut self, tries: u32, failed: Option<Error>) -> Option<()> {
        let until = Instant::now() + self.retry_pause(tries);
        loop {
            if let Some(error) = &failed {
                self.fail_all(error);
            }
            tokio::select! {
                command = self.commands.recv() => {
                    drop(self.take(command?));
                    // The socket costs nothing, and a machine that was not needed is needed now.
                    if !self.connector.is_remote() || tries == 0 {
                        return Some(());
                    }
                }
                () = tokio::time::sleep_until(until) => return Some(()),
            }
        }
    }

    /// Returns the pause before the next try to connect.
    fn retry_pause(&self, tries: u32) -> Duration {
        if !self.needs_process() {
            return LOOK_PAUSE;
        }
        if !self.connector.is_remote() {
            return RETRY_PAUSE;
        }
        let doubled = RETRY_PAUSE.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
        doubled.min(MAX_RETRY_PAUSE)
    }

    /// Whether something waits for the process. The lists of another machine wait for it too: they were
    /// opened because the user chose it.
    fn needs_process(&self) -> bool {
        let is_remote = self.connector.is_remote();
        let mut streams = self.streams.values();
        !self.asks.is_empty() || streams.any(|stream| is_remote || stream.needs_process())
    }

    /// Publishes the state of the connection to another machine.
    fn note_problem(&self, error: Option<&Error>) {
        let sentence = error
            .filter(|_| self.connector.is_remote())
            .map(|error| format!("{} Burin tries again.", self.connector.failure(error)));
        self.problem.send_if_modified(|now| {
            let is_new = *now != sentence;
            *now = sentence;
            is_new
        });
    }

    /// Fails everything that needs the process. Streams of another machine that began go on when it is
    /// reached again.
    fn fail_all(&mut self, error: &Error) {
        let sentence = self.connector.failure(error);
        for (_, ask) in std::mem::take(&mut self.asks) {
            let failure = ServiceError::Unavailable(sentence.clone());
            // The view that asked may be gone.
            ask.answer.send(Err(failure)).ok();
        }
        let failed = ServiceFailure::Unavailable(sentence);
        let is_remote = self.connector.is_remote();
        self.streams.retain(|_, stream| {
            !stream.needs_process()
                || (is_remote && stream.has_begun())
                || stream.receive(StreamItem::Failed(failed.clone())) != StreamFate::Ended
        });
    }

    /// Carries messages until the connection breaks or the program ends.
    async fn serve(&mut self, connection: ServerConnection) -> Disconnect {
        let ServerConnection {
            reader,
            mut writer,
            server,
            command: _command,
        } = connection;
        if self
            .server
            .as_ref()
            .is_some_and(|known| *known != server.id)
        {
            self.streams.values_mut().for_each(LinkedStream::give_back);
        }
        self.server = Some(server.id);
        self.texts.clear();
        // Few messages wait: the task only passes them on.
        let (sender, mut messages) = mpsc::channel(64);
        tokio::spawn(read_all(reader, sender));
        match self.carry(&mut writer, &mut messages).await {
            Ok(end) => end,
            Err(error) => Disconnect::Broken(error),
        }
    }

    async fn carry(
        &mut self,
        writer: &mut (impl AsyncWrite + Unpin),
        messages: &mut mpsc::Receiver<Result<ServerMessage, Error>>,
    ) -> Result<Disconnect, Error> {
        for message in self.first_messages() {
            write_message(writer, &message).await?;
        }
        let mut ticks = tokio::time::interval(REPORT_PAUSE);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut alive = tokio::time::interval(ALIVE_PAUSE);
        alive.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                command = self.commands.recv() => {
                    let Some(command) = command else {
                        return Ok(Disconnect::Finished);
                    };
                    if matches!(command, LinkCommand::Send(..)) {
                        self.write_texts(writer).await?;
                    }
                    if let Some(message) = self.take(command) {
                        write_message(writer, &message).await?;
                    }
                }
                message = messages.recv() => match message {
                    Some(message) => {
                        for message in self.receive(message?) {
                            write_message(writer, &message).await?;
                        }
                    }
                    None => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                },
                _ = ticks.tick(), if self.is_agent_working => self.write_texts(writer).await?,
                _ = alive.tick(), if self.connector.is_remote() => {
                    if !self.needs_process() {
                        return Ok(Disconnect::Unused);
                    }
                    write_message(writer, &ClientMessage::Alive).await?;
                }
            }
            // Requests that were taken before the connection was there.
            for message in self.unsent_asks() {
                write_message(writer, &message).await?;
            }
        }
    }

    async fn write_texts(&mut self, writer: &mut (impl AsyncWrite + Unpin)) -> Result<(), Error> {
        for report in self.texts.changes() {
            write_message(writer, &ClientMessage::Report(report)).await?;
        }
        Ok(())
    }

    /// Returns what a new connection begins with.
    fn first_messages(&mut self) -> Vec<ClientMessage> {
        let files = self.open_files.iter();
        let mut messages: Vec<ClientMessage> = files
            .map(|(root, files)| ClientReport::OpenFiles(root.clone(), files.clone()))
            .chain(self.texts.changes())
            .map(ClientMessage::Report)
            .collect();
        for (id, stream) in &mut self.streams {
            messages.extend(stream.reopen(*id));
        }
        messages.extend(self.unsent_asks());
        messages
    }

    fn unsent_asks(&mut self) -> Vec<ClientMessage> {
        let unsent = self.asks.iter_mut().filter_map(|(id, ask)| {
            let request = ask.request.take()?;
            Some(ClientMessage::Ask { id: *id, request })
        });
        unsent.collect()
    }

    /// Takes a command of a view. Returns the message for it, except for requests, which
    /// `unsent_asks` returns.
    fn take(&mut self, command: LinkCommand) -> Option<ClientMessage> {
        match command {
            LinkCommand::Ask(id, request, answer) => {
                let request = Some(request);
                self.asks.insert(id, PendingAsk { request, answer });
                None
            }
            LinkCommand::Open(id, stream, items) => {
                let is_local = !self.connector.is_remote();
                // Without a process nothing runs.
                let nothing = match stream {
                    StreamRequest::Running => Some(StreamItem::Running(Vec::new())),
                    StreamRequest::Commands => Some(StreamItem::Commands(Vec::new())),
                    StreamRequest::Shells(_) => Some(StreamItem::Shells(Vec::new())),
                    _ => None,
                };
                if let Some(nothing) = nothing
                    && self.server.is_none()
                    && is_local
                {
                    // The view may be gone.
                    items.unbounded_send(nothing).ok();
                }
                let linked = LinkedStream::new(stream.clone(), items);
                self.streams.insert(id, linked);
                Some(ClientMessage::Open { id, stream })
            }
            LinkCommand::Send(id, command) => {
                let stream = self.streams.get_mut(&id)?;
                Some(stream.command(id, command))
            }
            LinkCommand::Close(id) => {
                self.streams.remove(&id)?;
                Some(ClientMessage::Close { id })
            }
            LinkCommand::Report(report) => {
                if let ClientReport::OpenFiles(root, files) = &report {
                    self.open_files.insert(root.clone(), files.clone());
                }
                Some(ClientMessage::Report(report))
            }
        }
    }

    /// Takes a message of the server. Returns the messages that it leads to.
    fn receive(&mut self, message: ServerMessage) -> Vec<ClientMessage> {
        match message {
            ServerMessage::Result { id, result } => {
                if let Some(ask) = self.asks.remove(&id) {
                    // The view that asked may be gone.
                    ask.answer.send(result.map_err(ServiceError::from)).ok();
                }
            }
            ServerMessage::Item { id, item } => {
                if let StreamItem::Running(sessions) = &item {
                    let mut sessions = sessions.iter();
                    self.is_agent_working = sessions.any(|it| it.activity != SessionActivity::Idle);
                }
                let Some(stream) = self.streams.get_mut(&id) else {
                    return Vec::new();
                };
                match stream.receive(item) {
                    StreamFate::Open => {}
                    StreamFate::Resumed => return stream.unacknowledged(id).collect(),
                    StreamFate::Ended => {
                        self.streams.remove(&id);
                        return vec![ClientMessage::Close { id }];
                    }
                }
            }
            ServerMessage::End { id } => {
                self.streams.remove(&id);
            }
            ServerMessage::Handled { id, number } => {
                if let Some(stream) = self.streams.get_mut(&id) {
                    stream.acknowledge(number);
                }
            }
        }
        Vec::new()
    }

    /// Fails the requests that were sent: whether they were carried out is unknown.
    fn disconnected(&mut self, error: &Error) {
        log::warn!("the background process: {error}");
        self.note_problem(Some(error));
        let sent = self.asks.iter().filter(|(_, ask)| ask.request.is_none());
        let sent: Vec<u64> = sent.map(|(id, _)| *id).collect();
        for id in sent {
            if let Some(ask) = self.asks.remove(&id) {
                let failure = ServiceError::Unavailable(error.to_string());
                ask.answer.send(Err(failure)).ok();
            }
        }
    }
}

/// Passes the messages of the server on until the connection ends.
async fn read_all(
    mut reader: impl AsyncRead + Unpin,
    messages: mpsc::Sender<Result<ServerMessage, Error>>,
) {
    loop {
        let message = read_message(&mut reader).await.transpose();
        let Some(message) = message else {
            return;
        };
        let is_broken = message.is_err();
        if messages.send(message).await.is_err() || is_broken {
            return;
        }
    }
}
